import * as Effect from "effect/Effect"
import type { CompleteNames, KnownName } from "../../../names/completeNames.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { RpcError } from "../../method/RpcError.ts"
import { absentError } from "../errors.ts"
import type { WalletFailure } from "./walletContext.ts"

/** What the wallet's methods know of a name before they act on it. */
export interface KnownNames {
  /** What a name is at the tip. That it is not active is known; where it is not, fails with -10. */
  readonly active: (name: Bytes) => Effect.Effect<KnownName, RpcError>
  /** Turns the failure of a method that found no active name into -10, where names are not those of the tip. */
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
