import * as Effect from "effect/Effect"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { boolean, optional } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"

/** The parameter `avoid_reuse`. Upstream `wallet/rpc/util.cpp`, `GetAvoidReuseFlag`. */

export const NO_AVOID_REUSE = "wallet does not have the \"avoid reuse\" feature enabled"

export const AVOID_REUSE = optional(
  boolean("Whether to leave out coins of addresses that the wallet has spent from; only with avoid_reuse."),
  "that of the wallet"
)

/** Whether a call leaves out coins of addresses that the wallet has spent from. */
export const avoidReuse = (wallet: Wallet, given: boolean | undefined): Effect.Effect<boolean, RpcError> => {
  const can = wallet.avoidsReuse()
  return given === true && !can ? RpcError.wallet(NO_AVOID_REUSE) : Effect.succeed(given ?? can)
}
