import * as Effect from "effect/Effect"
import type { CompleteNames, KnownName } from "../../../names/completeNames.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { RpcError } from "../../method/RpcError.ts"
import { absentError } from "../errors.ts"
import type { WalletFailure } from "./walletContext.ts"

/** Lookups before a wallet method uses a name. */
export interface KnownNames {
  /** The state at the tip. Fails with -10 if the name seems inactive while names are not synced. */
  readonly active: (name: Bytes) => Effect.Effect<KnownName, RpcError>
  /** Maps the failure of a method that found no active name to -10 while names are not synced. */
  readonly orUnknown: <A, E extends WalletFailure | RpcError>(
    work: Effect.Effect<A, E>
  ) => Effect.Effect<A, E | RpcError>
}

export const knownNames = ({ complete, known }: CompleteNames): KnownNames => ({
  active: (name) => Effect.mapError(known(name), absentError),
  orUnknown: (work) =>
    Effect.catchAll(work, (failure) =>
      failure._tag === "NameOperationRefused" && failure.code === "unknown"
        ? complete.pipe(
          Effect.mapError(absentError),
          Effect.flatMap((told) => Effect.fail(told ? failure : RpcError.initialDownload()))
        )
        : Effect.fail(failure))
})
