import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Mempool } from "../../../mempool/Mempool.ts"
import { feeOf, rateOf } from "../../../mempool/policy/feeRate.ts"
import { COIN, formatMoney } from "../../../protocol/amount.ts"
import { displayHash } from "../../../protocol/bytes.ts"
import { type TxidKey, txidKey } from "../../../protocol/keys.ts"
import type { Network } from "../../../protocol/networks.ts"
import { outpointKey, prevoutTxid, type TransactionOutput } from "../../../protocol/transaction.ts"
import type { WalletTx } from "../../../wallet/ledger/WalletLedger.ts"
import type { FeeChoice, Funded, PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { Amount } from "../../json/encodeJson.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, hash, json, namedOptions, optional, orEmpty, uint32, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { type Read, RpcError } from "../../method/RpcError.ts"
import { readOutputs } from "../transactionParams.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_ERRORS, FEE_RATE, readFeeChoice } from "./feeParams.ts"
import { ensureUnlocked, walletError, type WalletFailure, walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

/** Transactions that replace others and pay a higher fee (reference/rpc.md 3.9). Upstream `wallet/feebumper.cpp`. */

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

const UNKNOWN = "Invalid or non-wallet transaction id"
const DESCENDANTS = "Transaction has descendants in the"
const MINED = "Transaction has been mined, or is conflicted with a mined transaction"
const FOREIGN_INPUTS = "Transaction contains inputs that don't belong to this wallet"
const NO_OUTPUTS = "Invalid parameter, output argument cannot be an empty array"
const NO_RECIPIENT = "Unable to create transaction. Transaction must have at least one recipient"
const CHANGE_RANGE = "Change position is out of range"
const EITHER_OR = "The options 'outputs' and 'original_change_index' are incompatible. You can only either specify a " +
  "new set of outputs, or designate a change output to be recycled."
const NOT_WATCHING = "bumpfee is not available with wallets that have private keys disabled. Use psbtbumpfee instead."

/** Default increase of the fee rate by the wallet, in smallest units per kvB. */
const STEP = COIN / 1000

const isParameterFault = (reason: string): boolean =>
  reason.startsWith(DESCENDANTS) || reason.startsWith("Insufficient total fee")

const bumpError = (failure: WalletFailure | RpcError): WalletFailure | RpcError => {
  switch (failure._tag) {
    case "InvalidWalletRequest":
      if (failure.code === "unknown-transaction") return RpcError.invalidAddressOrKey(UNKNOWN)
      return isParameterFault(failure.reason)
        ? RpcError.invalidParameter(failure.reason)
        : RpcError.wallet(failure.reason)
    case "FundsMissing":
      return RpcError.wallet(`Unable to create transaction. ${walletError(failure).message}`)
    default:
      return failure
  }
}

interface Replacing {
  readonly fee: FeeChoice
  readonly replaceable: boolean
  /** Replace the existing outputs. */
  readonly outputs: ReadonlyArray<TransactionOutput> | undefined
  readonly changeIndex: number | undefined
}

const sumOf = (outputs: Iterable<TransactionOutput | undefined>): number => {
  let sum = 0
  for (const output of outputs) sum += output?.value ?? 0
  return sum
}

/** The reason why a transaction cannot be replaced; `undefined` if it can. */
const obstacle = (wallet: Wallet, pool: typeof Mempool.Service, tx: WalletTx): RpcError | undefined => {
  const { replacedBy, state, transaction } = tx
  const { txid, txidKey: key } = transaction
  const isSpent = wallet.ledger.transactions().some(({ state, transaction: { inputs } }) =>
    (state.type === "confirmed" || state.type === "pending" || (state.type === "inactive" && !state.abandoned)) &&
    inputs.some(({ prevout }) => txidKey(prevoutTxid(prevout)) === key)
  )
  if (isSpent) return RpcError.invalidParameter(`${DESCENDANTS} wallet`)
  if (pool.children(key).length > 0) return RpcError.invalidParameter(`${DESCENDANTS} mempool`)
  if (state.type === "confirmed" || state.type === "conflicted") return RpcError.wallet(MINED)
  if (replacedBy !== undefined) {
    return RpcError.wallet(
      `Cannot bump transaction ${displayHash(txid)} which was already bumped by transaction ${replacedBy}`
    )
  }
  return tx.spent.includes(undefined) ? RpcError.wallet(FOREIGN_INPUTS) : undefined
}

/** Outputs and change of a replacement. */
const paymentOf = (
  wallet: Wallet,
  { transaction }: WalletTx,
  { changeIndex, outputs }: Replacing
): Read<Pick<PaymentRequest, "outputs" | "changeScript" | "subtractFeeFrom">> => {
  if (changeIndex !== undefined && changeIndex >= transaction.outputs.length) {
    return Either.left(RpcError.invalidParameter(CHANGE_RANGE))
  }
  const all = outputs ?? transaction.outputs
  const isChange = ({ script }: TransactionOutput, at: number): boolean =>
    changeIndex === undefined ? wallet.keys.own(script)?.change === true : changeIndex === at
  const change = all.findLast(isChange)
  const others = all.filter((output, at) => !isChange(output, at))
  if (others.length > 0) {
    return Either.right({ outputs: others, ...(change === undefined ? {} : { changeScript: change.script }) })
  }
  if (change === undefined) return Either.left(RpcError.invalidParameter(NO_RECIPIENT))
  return Either.right({ outputs: [{ value: sumOf(all), script: change.script }], subtractFeeFrom: [0] })
}

/** Checks a rate that the caller sets: the pool must accept the replacement. */
const checkRate = (
  pool: typeof Mempool.Service,
  { oldFee, rate, vsize }: { readonly rate: number; readonly oldFee: number; readonly vsize: number }
): Read<void> => {
  const { incrementalFeeRate, minFeeRate } = pool.info()
  if (rate < minFeeRate) {
    return Either.left(RpcError.wallet(
      `New fee rate (${formatMoney(rate)}) is lower than the minimum fee rate (${formatMoney(minFeeRate)}) to get ` +
        "into the mempool -- "
    ))
  }
  const step = feeOf(incrementalFeeRate, vsize)
  const fee = feeOf(rate, vsize)
  if (fee >= oldFee + step) return Either.void
  return Either.left(RpcError.invalidParameter(
    `Insufficient total fee ${formatMoney(fee)}, must be at least ${formatMoney(oldFee + step)} ` +
      `(oldFee ${formatMoney(oldFee)} + incrementalFee ${formatMoney(step)})`
  ))
}

/** A payment that spends the inputs of another transaction of the wallet and replaces it. */
interface Replacement extends PaymentRequest {
  readonly replaces: TxidKey
}

const withFee = (request: Replacement, fee: FeeChoice): Replacement => ({ ...request, ...fee })

/** Makes the replacement transaction; sends nothing. */
const replacement = (
  { pool, wallet }: { readonly wallet: Wallet; readonly pool: typeof Mempool.Service },
  tx: WalletTx,
  replacing: Replacing
): Effect.Effect<{ readonly funded: Funded; readonly oldFee: number }, WalletFailure | RpcError> =>
  Effect.gen(function*() {
    const { transaction } = tx
    const payment = yield* paymentOf(wallet, tx, replacing)
    const stands = obstacle(wallet, pool, tx)
    if (stands !== undefined) return yield* stands
    const oldFee = sumOf(tx.spent) - sumOf(transaction.outputs)
    const request: Replacement = {
      ...payment,
      replaces: transaction.txidKey,
      inputs: transaction.inputs.map(({ prevout }) => ({ outpoint: outpointKey(prevout) })),
      version: transaction.version,
      replaceable: replacing.replaceable,
      // Unconfirmed coins could depend on the replaced transaction.
      minConfirmations: 1
    }
    const { fee } = replacing
    const vsize = transaction.virtualSize
    if (fee.feeRate !== undefined) {
      const rate = fee.feeRate
      yield* checkRate(pool, { rate, oldFee, vsize })
      return { funded: yield* wallet.payments.fund(withFee(request, { feeRate: rate })), oldFee }
    }
    const usual = yield* wallet.payments.fund(withFee(request, fee))
    const least = rateOf({ fee: oldFee, vsize }) + 1 + Math.max(pool.info().incrementalFeeRate, STEP)
    if (rateOf({ fee: usual.fee, vsize: usual.transaction.virtualSize }) >= least) return { funded: usual, oldFee }
    return { funded: yield* wallet.payments.fund(withFee(request, { feeRate: least })), oldFee }
  })

const FEES = {
  origfee: Result.amount("The fee of the replaced transaction, in NMC"),
  fee: Result.amount("The fee of the new transaction, in NMC"),
  errors: Schema.Array(Result.string("A problem that did not prevent the replacement"))
}

const PARAMS = {
  txid: hash("The transaction to replace."),
  options: orEmpty(namedOptions({
    conf_target: CONF_TARGET,
    fee_rate: FEE_RATE,
    replaceable: withDefault(boolean("Whether the new transaction may be replaced again (BIP 125)."), true),
    estimate_mode: ESTIMATE_MODE,
    outputs: optional(
      json(
        "The new outputs in place of the old ones: objects with one member each, an address and its amount in NMC, " +
          "or data and hexadecimal digits.",
        { words: "json array or object" }
      ),
      "unchanged"
    ),
    original_change_index: optional(
      uint32("Index of the change output, which may shrink."),
      "the wallet's change"
    )
  }, "Options."))
}

const ERRORS = [
  `-5 ${UNKNOWN}`,
  `-8 ${DESCENDANTS} wallet`,
  `-8 ${DESCENDANTS} mempool`,
  `-8 ${EITHER_OR}`,
  `-8 ${CHANGE_RANGE}`,
  "-8 Insufficient total fee <fee>, must be at least <fee> <...>",
  `-4 ${MINED}`,
  `-4 ${FOREIGN_INPUTS}`,
  "-4 Cannot bump transaction <txid> which was already bumped by transaction <txid>",
  "-4 Unable to create transaction. <reason>",
  ...FEE_ERRORS
]

export const makeBumpMethods = (
  wallets: typeof Wallets.Service,
  network: Network,
  pool: typeof Mempool.Service
): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)

  const readReplacing = (
    options: Parameters<typeof readFeeChoice>[0] & {
      readonly replaceable: boolean
      readonly outputs: Parameters<typeof readOutputs>[1] | undefined
      readonly original_change_index: number | undefined
    }
  ): Read<Replacing> =>
    Either.gen(function*() {
      const fee = yield* readFeeChoice(options)
      const { original_change_index: changeIndex, outputs: given, replaceable } = options
      if (Array.isArray(given) && given.length === 0) return yield* Either.left(RpcError.invalidParameter(NO_OUTPUTS))
      const outputs = given === undefined ? undefined : yield* readOutputs(network, given)
      if (outputs !== undefined && changeIndex !== undefined) {
        return yield* Either.left(RpcError.invalidParameter(EITHER_OR))
      }
      return { fee, replaceable, outputs, changeIndex }
    })

  const find = (wallet: Wallet, txid: Uint8Array): Effect.Effect<WalletTx, RpcError> =>
    Effect.suspend(() => {
      const tx = wallet.ledger.transaction(txidKey(txid))
      return tx === undefined ? RpcError.invalidAddressOrKey(UNKNOWN) : Effect.succeed(tx)
    })

  const bumpfee = define({
    name: "bumpfee",
    right: "spend",
    summary: "Replaces an unconfirmed transaction of the wallet by one with a higher fee, paid from its change and, " +
      "if that is not enough, from more coins.",
    params: PARAMS,
    results: [{ schema: Schema.Struct({ txid: Result.hex("The new transaction"), ...FEES }) }],
    examples: [[TXID], [TXID, { fee_rate: 250 }]],
    errors: [`-4 ${NOT_WATCHING}`, ...ERRORS],
    handler: ({ options, txid }, wallet) =>
      Effect.gen(function*() {
        if (!wallet.keys.hasPrivateKeys) return yield* RpcError.wallet(NOT_WATCHING)
        const replacing = yield* readReplacing(options)
        yield* ensureUnlocked(wallet)
        const tx = yield* find(wallet, txid)
        const isPlain = replacing.replaceable && replacing.outputs === undefined && replacing.changeIndex === undefined
        const { funded, oldFee } = isPlain
          ? yield* wallet.payments.bump(tx.transaction.txidKey, replacing.fee)
          : yield* wallet.payments.exclusively(Effect.tap(
            replacement({ wallet, pool }, tx, replacing),
            ({ funded }) => wallet.payments.commit(funded.transaction, { replaces: tx.transaction.txidKey })
          ))
        return {
          txid: displayHash(funded.transaction.txid),
          origfee: new Amount(oldFee),
          fee: new Amount(funded.fee),
          errors: []
        }
      }).pipe(Effect.mapError(bumpError))
  })

  const psbtbumpfee = define({
    name: "psbtbumpfee",
    right: "spend",
    summary: "Makes a PSBT of the transaction that bumpfee would send, without signing or sending it.",
    params: PARAMS,
    results: [{ schema: Schema.Struct({ psbt: Result.string("The PSBT in base64"), ...FEES }) }],
    examples: [[TXID]],
    errors: ERRORS,
    handler: ({ options, txid }, wallet) =>
      Effect.gen(function*() {
        const replacing = yield* readReplacing(options)
        yield* ensureUnlocked(wallet)
        const { funded, oldFee } = yield* replacement({ wallet, pool }, yield* find(wallet, txid), replacing)
        const { psbt } = yield* walletPsbt(wallet, funded, { sign: false, derivations: true })
        return { psbt: psbtText(psbt), origfee: new Amount(oldFee), fee: new Amount(funded.fee), errors: [] }
      }).pipe(Effect.mapError(bumpError))
  })

  return [bumpfee, psbtbumpfee]
}
