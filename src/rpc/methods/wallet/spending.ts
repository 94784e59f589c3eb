import * as Effect from "effect/Effect"
import { binaryString, parseDisplayHash } from "../../../protocol/bytes.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { RpcError } from "../../method/RpcError.ts"
import { rejectionText } from "../../shapes/relay.ts"
import { LOCKED, walletError, type WalletFailure, WATCH_ONLY } from "./walletContext.ts"

/**
 * Shared parts of the spending methods: the outcome of a transaction that the mempool refuses, and the codes of
 * failures.
 */

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

export const ensureKeys = (wallet: Wallet): Effect.Effect<void, RpcError> =>
  Effect.suspend(() => wallet.keys.hasPrivateKeys ? Effect.void : RpcError.wallet(WATCH_ONLY))

/**
 * Maps a failure to fund a transaction without sending it: every error about money has the wallet code. Upstream
 * `wallet/rpc/spend.cpp`, `FundTransaction`.
 */
export const fundingError = (failure: WalletFailure | RpcError): WalletFailure | RpcError =>
  failure._tag === "FundsMissing" || failure._tag === "InvalidWalletRequest"
    ? RpcError.wallet(walletError(failure).message)
    : failure

/**
 * A transaction that the wallet made and stored counts as sent, even if the mempool refuses it: the answer is the same,
 * and the log has a warning (reference/rpc.md 5.7). `instead` makes the answer from its txid in display order.
 */
export const evenIfRefused = <A>(
  wallet: Wallet,
  sending: Effect.Effect<A, WalletFailure | RpcError>,
  instead: (txid: string) => A
): Effect.Effect<A, WalletFailure | RpcError> =>
  Effect.catchAll(sending, (failure): Effect.Effect<A, WalletFailure | RpcError> => {
    if (failure._tag !== "TransactionRejected") return Effect.fail(failure)
    const txid = parseDisplayHash(failure.txid)
    const isKept = txid !== undefined && wallet.ledger.transaction(binaryString(txid)) !== undefined
    if (!isKept) return Effect.fail(failure)
    const details = { txid: failure.txid, reason: rejectionText(failure) }
    return Effect.as(
      Effect.logWarning("the mempool refuses a transaction of the wallet", details),
      instead(failure.txid)
    )
  })
