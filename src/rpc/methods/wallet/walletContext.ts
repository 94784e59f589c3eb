import * as Effect from "effect/Effect"
import type { TransactionRejected } from "../../../mempool/errors.ts"
import { formatMoney } from "../../../protocol/amount.ts"
import { type Bytes, displayHash, fromBinaryString } from "../../../protocol/bytes.ts"
import { prevoutIndex, prevoutTxid } from "../../../protocol/transaction.ts"
import type { StorageFailure } from "../../../storage/errors.ts"
import type {
  FundsMissing,
  InvalidWalletRequest,
  KeysLocked,
  NameOperationRefused,
  WalletDamaged,
  WalletWatchOnly,
  WrongPassphrase
} from "../../../wallet/errors.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import {
  EMPTY_PASSPHRASE,
  LOCKED,
  NO_KEYS,
  NOT_LOADED,
  SCANNING,
  UNKNOWN_TRANSACTION,
  USED_UP,
  WATCH_ONLY,
  WRONG_PASSPHRASE
} from "../../contract/wallet/walletParams.ts"
import type { Contract, Result as MethodResult } from "../../method/contract.ts"
import { type AnswerOf, method } from "../../method/method.ts"
import type { CallContext, Method } from "../../method/methodTable.ts"
import type { Decoded, Params } from "../../method/params.ts"
import { RPC_CODE, RpcError, type RpcReason } from "../../method/RpcError.ts"
import { rejectionError, storageError } from "../errors.ts"

/** reference/rpc.md 1.2, 2, 3.9. */

/** The reference node reports it for every wallet that is not in an old format. */
export const SHOWN_WALLET_VERSION = 169_900

type WalletsService = typeof Wallets.Service

const NONE_LOADED = "No wallet is loaded. Load a wallet using loadwallet or create a new one with createwallet. " +
  "(Note: A default wallet is no longer automatically created)"

const SEVERAL_LOADED = "Multiple wallets are loaded. Please select which wallet to use by requesting the RPC through " +
  "the /wallet/<walletname> URI path."

const notFound = (message: string): RpcError => new RpcError({ code: RPC_CODE.walletNotFound, message })

export const notLoaded = (): RpcError => notFound(NOT_LOADED)

/** The wallet in the path, else the only loaded one; otherwise `undefined`. */
const selected = (wallets: WalletsService, { wallet }: Pick<CallContext, "wallet">): Wallet | undefined => {
  if (!wallets.enabled) return undefined
  if (wallet !== undefined) return wallets.get(wallet)
  const [only, ...others] = wallets.loaded()
  return others.length === 0 ? only : undefined
}

export const selectWallet = (
  wallets: WalletsService,
  context: Pick<CallContext, "wallet">
): Effect.Effect<Wallet, RpcError> =>
  Effect.suspend(() => {
    const wallet = selected(wallets, context)
    if (wallet !== undefined) return Effect.succeed(wallet)
    if (context.wallet !== undefined) return notLoaded()
    return wallets.loaded().length === 0
      ? notFound(NONE_LOADED)
      : new RpcError({ code: RPC_CODE.walletNotSpecified, message: SEVERAL_LOADED })
  })

/**
 * For methods that only mention a wallet; `undefined` if the selection is ambiguous. A caller without the right to see
 * wallets gets the answer of a node without one.
 */
export const summarized = (
  wallets: WalletsService,
  context: Pick<CallContext, "wallet" | "rights">
): Wallet | undefined => context.rights?.has("names") === false ? undefined : selected(wallets, context)

/** `ismine` of a script, with or without a name prefix; `undefined` without a wallet (reference/rpc.md 5.1). */
export const ownership = (
  wallets: WalletsService,
  context: Pick<CallContext, "wallet" | "rights">
): ((script: Bytes) => boolean) | undefined => {
  const wallet = summarized(wallets, context)
  return wallet === undefined ? undefined : (script) => wallet.keys.own(script) !== undefined
}

// Failures

export type WalletFailure =
  | KeysLocked
  | WalletWatchOnly
  | WrongPassphrase
  | FundsMissing
  | InvalidWalletRequest
  | NameOperationRefused
  | WalletDamaged
  | TransactionRejected
  | StorageFailure

export const INSUFFICIENT = "Insufficient funds"

/** Digits of a txid in a message. */
const TXID_DIGITS = 10

const fundsText = ({ fee, missing }: FundsMissing): string => {
  if (missing !== undefined) {
    const prevout = fromBinaryString(missing)
    const txid = displayHash(prevoutTxid(prevout)).slice(0, TXID_DIGITS)
    return `Not found pre-selected input COutPoint(${txid}, ${prevoutIndex(prevout)})`
  }
  return fee === undefined
    ? INSUFFICIENT
    : `The total exceeds your balance when the ${formatMoney(fee)} transaction fee is included.`
}

export const watchOnly = (): RpcError => RpcError.wallet(WATCH_ONLY, "no-private-keys")

/**
 * Codes of invalid requests, with the reference node's text where a code has only one, and the reason where callers
 * have their own text.
 */
const REQUEST_ERRORS: Readonly<
  Record<
    InvalidWalletRequest["code"],
    { readonly code: number; readonly message?: string; readonly reason?: RpcReason }
  >
> = {
  "no-keys": { code: RPC_CODE.wallet, message: NO_KEYS },
  "no-words": { code: RPC_CODE.wallet },
  "no-change": { code: RPC_CODE.wallet },
  "used-up": { code: RPC_CODE.keypoolRanOut, message: USED_UP },
  "beyond-words": { code: RPC_CODE.keypoolRanOut, reason: "beyond-words" },
  "address-type": { code: RPC_CODE.keypoolRanOut },
  descriptor: { code: RPC_CODE.invalidAddressOrKey },
  "not-encrypted": { code: RPC_CODE.walletWrongEncryptionState },
  "already-encrypted": {
    code: RPC_CODE.walletWrongEncryptionState,
    message: "Error: running with an encrypted wallet, but encryptwallet was called."
  },
  "empty-passphrase": { code: RPC_CODE.invalidParameter, message: EMPTY_PASSPHRASE },
  "unknown-transaction": { code: RPC_CODE.invalidAddressOrKey, message: UNKNOWN_TRANSACTION },
  "not-eligible": { code: RPC_CODE.wallet },
  spent: { code: RPC_CODE.misc },
  "too-small": { code: RPC_CODE.insufficientFunds, reason: "too-small" },
  "low-fee-rate": { code: RPC_CODE.insufficientFunds },
  "nothing-paid": { code: RPC_CODE.insufficientFunds },
  "below-fee": { code: RPC_CODE.insufficientFunds, reason: "too-small" },
  "too-large": { code: RPC_CODE.insufficientFunds },
  overweight: { code: RPC_CODE.insufficientFunds },
  "long-chain": { code: RPC_CODE.insufficientFunds, reason: "long-chain" },
  "fee-too-high": { code: RPC_CODE.insufficientFunds, reason: "fee-too-high" },
  "no-fee-estimate": { code: RPC_CODE.insufficientFunds, reason: "no-fee-estimate" },
  unsolvable: { code: RPC_CODE.wallet },
  scanning: { code: RPC_CODE.wallet, message: SCANNING },
  aborted: { code: RPC_CODE.misc },
  range: { code: RPC_CODE.invalidParameter },
  exists: { code: RPC_CODE.wallet },
  missing: { code: RPC_CODE.walletNotFound },
  "not-final": { code: RPC_CODE.wallet },
  pruned: { code: RPC_CODE.misc },
  "behind-pruned": { code: RPC_CODE.wallet }
}

/** For a caller with its own message. */
export const requestCode = (failure: InvalidWalletRequest): number => REQUEST_ERRORS[failure.code].code

const requestError = (failure: InvalidWalletRequest): RpcError => {
  const { code, message = failure.reason, reason } = REQUEST_ERRORS[failure.code]
  return new RpcError({ code, message, reason })
}

/** Reasons for callers with their own text. */
const NAME_REASONS: Readonly<Record<NameOperationRefused["code"], RpcReason | undefined>> = {
  exists: "name-taken",
  registering: "name-registering",
  pending: "name-pending",
  unknown: "name-unknown",
  "no-new": undefined,
  "too-long": undefined,
  mismatch: undefined,
  incomplete: undefined
}

/** `renewalsOnly` is set if the wallet is unlocked for renewals only, and says why the transaction is not a renewal. */
const locked = (renewalsOnly: string | undefined): RpcError =>
  new RpcError({
    code: RPC_CODE.walletUnlockNeeded,
    ...renewalsOnly === undefined
      ? { message: LOCKED }
      : { message: renewalsOnlyText(renewalsOnly), reason: "renewals-only" }
  })

const renewalsOnlyText = (problem: string): string =>
  `Error: The wallet is unlocked for renewals only${problem === "" ? "" : `, and ${problem}`}. ` +
  "For this, enter the wallet passphrase with walletpassphrase, without renewalsonly."

export const walletError = (failure: WalletFailure): RpcError => {
  switch (failure._tag) {
    case "KeysLocked":
      return locked(failure.renewalsOnly)
    case "WalletWatchOnly":
      return watchOnly()
    case "WrongPassphrase":
      return new RpcError({ code: RPC_CODE.walletPassphraseIncorrect, message: WRONG_PASSPHRASE })
    case "FundsMissing":
      return new RpcError({
        code: RPC_CODE.insufficientFunds,
        message: fundsText(failure),
        reason: failure.missing === undefined ? "funds-missing" : "coin-spent"
      })
    case "InvalidWalletRequest":
      return requestError(failure)
    case "NameOperationRefused":
      return failure.code === "too-long"
        ? RpcError.invalidParameter(failure.reason)
        : RpcError.verifyError(failure.reason, NAME_REASONS[failure.code])
    case "WalletDamaged":
      return RpcError.wallet(failure.message)
    case "TransactionRejected":
      return rejectionError(failure)
    default:
      return storageError(failure)
  }
}

const isRpcError = (failure: WalletFailure | RpcError): failure is RpcError => failure._tag === "RpcError"

/** RPC errors stay unchanged. */
export const asRpcError = (failure: WalletFailure | RpcError): RpcError =>
  isRpcError(failure) ? failure : walletError(failure)

/** Upstream `EnsureWalletIsUnlocked`. */
export const ensureUnlocked = (wallet: Wallet): Effect.Effect<void, RpcError> =>
  Effect.suspend(() =>
    wallet.vault.encryption() === "locked"
      ? locked(wallet.vault.signsRenewals() ? "" : undefined)
      : Effect.void
  )

// Methods

/** A handler may fail with a wallet failure. */
export type WalletHandler<P extends Params, R extends ReadonlyArray<MethodResult>> = (
  params: Decoded<P>,
  wallet: Wallet,
  context: CallContext
) => Effect.Effect<AnswerOf<R>, WalletFailure | RpcError>

/** Adds the wallet of the call. Error lists omit the errors for no or several wallets. */
export const walletMethod = (wallets: WalletsService) =>
<P extends Params, R extends ReadonlyArray<MethodResult>>(
  contract: Contract<P, R>,
  handler: WalletHandler<P, R>
): Method =>
  method(contract, (params, context) =>
    Effect.flatMap(
      selectWallet(wallets, context),
      (wallet) =>
        Effect.zipRight(
          wallet.settled,
          Effect.mapError(Effect.suspend(() => handler(params, wallet, context)), asRpcError)
        )
    ))

export type DefineWalletMethod = ReturnType<typeof walletMethod>
