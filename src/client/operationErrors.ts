import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { type CallFailure, refused } from "./DaemonRpc.ts"
import {
  DaemonNotReady,
  InsufficientFunds,
  InvalidRequest,
  NameUnavailable,
  type OperationFailure,
  OperationRejected,
  WalletDisabled,
  WalletLocked
} from "./errors.ts"

/** Maps the errors of a daemon to the failures of a name operation (reference/rpc.md 2, 5.7, 5.8). */

export const operationFailure = (
  { daemon, name }: { readonly name: string; readonly daemon: string }
) =>
(failure: CallFailure): OperationFailure => {
  if (failure._tag !== "RpcFailure") return failure
  const { code, message, reason } = failure
  switch (code) {
    case RPC_CODE.methodNotFound:
    case RPC_CODE.walletNotFound:
      return new WalletDisabled({ reason: `the daemon at ${daemon} has no wallet for name operations` })
    case RPC_CODE.walletNotSpecified:
      return new WalletDisabled({
        reason: `the daemon at ${daemon} has several wallets: set the field "wallet" to one of them`
      })
    case RPC_CODE.keypoolRanOut:
      return new WalletDisabled({ reason: message })
    case RPC_CODE.walletUnlockNeeded:
      return new WalletLocked()
    case RPC_CODE.insufficientFunds:
      return reason === "coin-spent"
        ? new NameUnavailable({ requested: name, reason: "the wallet does not own the name" })
        : new InsufficientFunds({ reason: message })
    case RPC_CODE.verifyError:
      return new NameUnavailable({ requested: name, reason: message })
    case RPC_CODE.verifyRejected:
      return new OperationRejected({ reason: message })
    case RPC_CODE.invalidAddressOrKey:
      return new InvalidRequest({ field: "address", reason: message })
    case RPC_CODE.initialDownload:
      return new DaemonNotReady({ address: daemon, reason: message })
    case RPC_CODE.wallet:
      return reason === "no-private-keys" ? new WalletDisabled({ reason: message }) : refused(failure)
    default:
      return refused(failure)
  }
}
