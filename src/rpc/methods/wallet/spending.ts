import * as Effect from "effect/Effect"
import { binaryString, parseDisplayHash } from "../../../protocol/bytes.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { RpcError } from "../../method/RpcError.ts"
import { rejectionText } from "../../shapes/relay.ts"
import { LOCKED, walletError, type WalletFailure, WATCH_ONLY } from "./walletContext.ts"

/** What the methods that spend have in common: the outcome of what the mempool refuses, and the codes of failures. */

/** Version of the reference node's own payments. */
export const PAYMENT_VERSION = 1

/** Errors of methods that make a payment at once. */
export const PAYMENT_ERRORS = [
  "-4 Error: Private keys are disabled for this wallet",
  "-6 Insufficient funds",
  "-6 Transaction amount too small",
  "-6 The total exceeds your balance when the <fee> transaction fee is included.",
  `-13 ${LOCKED}`
]

/** Fails for a wallet that only watches. */
export const ensureKeys = (wallet: Wallet): Effect.Effect<void, RpcError> =>
  Effect.suspend(() => wallet.hasPrivateKeys ? Effect.void : RpcError.wallet(WATCH_ONLY))

/**
 * What a failure is where a transaction is put together without being sent: whatever is wrong with money has the code of
 * wallets. Upstream `wallet/rpc/spend.cpp`, `FundTransaction`.
 */
export const fundingError = (failure: WalletFailure | RpcError): WalletFailure | RpcError =>
  failure._tag === "FundsMissing" || failure._tag === "InvalidWalletRequest"
    ? RpcError.wallet(walletError(failure).message)
    : failure

/**
 * A transaction that the wallet made and keeps counts as sent, even if the mempool does not take it: the answer is the
 * same then, and the log has a warning (reference/rpc.md 5.7). `instead` makes the answer from its txid, as people see
 * it.
 */
export const evenIfRefused = <A>(
  wallet: Wallet,
  sending: Effect.Effect<A, WalletFailure | RpcError>,
  instead: (txid: string) => A
): Effect.Effect<A, WalletFailure | RpcError> =>
  Effect.catchAll(sending, (failure): Effect.Effect<A, WalletFailure | RpcError> => {
    if (failure._tag !== "TransactionRejected") return Effect.fail(failure)
    const txid = parseDisplayHash(failure.txid)
    const isKept = txid !== undefined && wallet.transaction(binaryString(txid)) !== undefined
    if (!isKept) return Effect.fail(failure)
    const details = { txid: failure.txid, reason: rejectionText(failure) }
    return Effect.as(
      Effect.logWarning("the mempool refuses a transaction of the wallet", details),
      instead(failure.txid)
    )
  })
