import * as Effect from "effect/Effect"
import type { Chain } from "../../../chain/Chain.ts"
import { isExpired } from "../../../consensus/expiry.ts"
import type { CompleteNames } from "../../../names/completeNames.ts"
import type { NameDb, NameRecord } from "../../../names/NameDb.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { RpcError } from "../../RpcError.ts"
import { absentError } from "../errors.ts"
import type { WalletFailure } from "./walletContext.ts"

/** What the wallet's methods know of a name before they act on it. */
export interface KnownNames {
  /** The record of a name that lives at the tip. That there is none is known; where it is not, fails with -10. */
  readonly active: (name: Bytes) => Effect.Effect<KnownName, RpcError>
  /** Turns the failure of a method that found no living name into -10, where names are not those of the tip. */
  readonly orUnknown: <A, E extends WalletFailure | RpcError>(
    work: Effect.Effect<A, E>
  ) => Effect.Effect<A, E | RpcError>
}

export type KnownName =
  | { readonly type: "active"; readonly record: NameRecord }
  | { readonly type: "expired" }
  | { readonly type: "unknown" }

export const knownNames = (
  chain: typeof Chain.Service,
  names: typeof NameDb.Service,
  { ask, complete }: CompleteNames
): KnownNames => {
  const active: KnownNames["active"] = (name) => {
    const question = Effect.gen(function*() {
      const record = yield* Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))
      if (record === undefined) return { type: "unknown" } as const
      const { height } = yield* chain.tip
      return isExpired(record.height, height, chain.params)
        ? { type: "expired" } as const
        : { type: "active", record } as const
    })
    return Effect.mapError(ask(question, ({ type }) => type !== "active"), absentError)
  }
  return {
    active,
    orUnknown: (work) =>
      Effect.catchAll(work, (failure) =>
        failure._tag === "NameUnavailable" && failure.code === "unknown"
          ? complete.pipe(
            Effect.mapError(absentError),
            Effect.flatMap((known) => Effect.fail(known ? failure : RpcError.initialDownload()))
          )
          : Effect.fail(failure))
  }
}
