import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Address } from "../base/addresses.ts"
import type { BindFailed } from "../base/listening.ts"
import { withLoneSpan } from "../base/spans.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Recipients } from "./Recipients.ts"
import { makeRelay } from "./relay/makeRelay.ts"
import type { RelayConfig } from "./relay/RelayConfig.ts"
import type { RelayStats } from "./relay/RelayStats.ts"

/** Takes mail for labels and forwards it to the addresses in their names (docs/mail.md) while its scope is open. */
export class SmtpRelay extends Context.Tag("svcd/SmtpRelay")<SmtpRelay, {
  /** Where it listens, with the actual port if port 0 was configured. */
  readonly address: Address
  readonly stats: Effect.Effect<RelayStats>
  /** Fails when the spool becomes unusable for another reason than a full disk. Never succeeds. */
  readonly failure: Effect.Effect<never, StorageFailure>
}>() {}

/**
 * The relay. Reads its spool, then listens. On release it takes no more mail, waits up to `drainTime` for transactions
 * under way and leaves the rest in the spool.
 */
export const layer = (config: RelayConfig): Layer.Layer<SmtpRelay, BindFailed | StorageFailure, Recipients> =>
  Layer.scoped(SmtpRelay, withLoneSpan("svcd.mail.open")(makeRelay(config)))
