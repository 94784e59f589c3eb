import * as Effect from "effect/Effect"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { NO_AVOID_REUSE } from "../../contract/wallet/walletParams.ts"
import { RpcError } from "../../method/RpcError.ts"
import { walletError, type WalletFailure, watchOnly } from "./walletContext.ts"

export const ensureKeys = (wallet: Wallet): Effect.Effect<void, RpcError> =>
  Effect.suspend(() => wallet.keys.hasPrivateKeys ? Effect.void : watchOnly())

const withWalletCode = ({ message, reason }: RpcError): RpcError => RpcError.wallet(message, reason)

/** All errors about money have the wallet code. Upstream `wallet/rpc/spend.cpp`, `FundTransaction`. */
export const fundingError = (failure: WalletFailure | RpcError): WalletFailure | RpcError =>
  failure._tag === "FundsMissing" || failure._tag === "InvalidWalletRequest"
    ? withWalletCode(walletError(failure))
    : failure

/** Whether to leave out coins of addresses already spent from. Upstream `wallet/rpc/util.cpp`, `GetAvoidReuseFlag`. */
export const avoidReuse = (wallet: Wallet, given: boolean | undefined): Effect.Effect<boolean, RpcError> => {
  const can = wallet.avoidsReuse()
  return given === true && !can ? RpcError.wallet(NO_AVOID_REUSE) : Effect.succeed(given ?? can)
}
