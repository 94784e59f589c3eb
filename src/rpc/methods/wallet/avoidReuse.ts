import * as Effect from "effect/Effect"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { NO_AVOID_REUSE } from "../../contract/wallet/avoidReuse.ts"
import { RpcError } from "../../method/RpcError.ts"

/** The parameter `avoid_reuse`. Upstream `wallet/rpc/util.cpp`, `GetAvoidReuseFlag`. */

/** Whether a call leaves out coins of addresses that the wallet has spent from. */
export const avoidReuse = (wallet: Wallet, given: boolean | undefined): Effect.Effect<boolean, RpcError> => {
  const can = wallet.avoidsReuse()
  return given === true && !can ? RpcError.wallet(NO_AVOID_REUSE) : Effect.succeed(given ?? can)
}
