import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Address } from "../base/addresses.ts"
import type { BindFailed } from "../base/listening.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Recipients } from "./Recipients.ts"
import { makeRelay } from "./relay/makeRelay.ts"
import type { RelayConfig } from "./relay/RelayConfig.ts"
import type { RelayStats } from "./relay/RelayStats.ts"

/** Takes mail for labels and forwards it to what their names say (docs/mail.md). Runs while its scope is open. */
export class SmtpRelay extends Context.Tag("svcd/SmtpRelay")<SmtpRelay, {
  /** Where it listens; with the port that was found where 0 was asked for. */
  readonly address: Address
  readonly stats: Effect.Effect<RelayStats>
  /** Fails when the spool can no longer be used, for another reason than a full disk. Never succeeds. */
  readonly failure: Effect.Effect<never, StorageFailure>
}>() {}

/**
 * The relay. Reads its spool, then listens. When it is released it takes no more mail, gives what is under way
 * `drainTime` to end and leaves the rest in the spool.
 */
export const layer = (config: RelayConfig): Layer.Layer<SmtpRelay, BindFailed | StorageFailure, Recipients> =>
  Layer.scoped(SmtpRelay, makeRelay(config))
