import type { Coin } from "../../consensus/view.ts"
import { formatAmount } from "../../protocol/amount.ts"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import { prevoutIndex, prevoutTxid, type Transaction, type TransactionInput } from "../../protocol/transaction.ts"
import { Amount, itemsOf, RawJson } from "../json/encodeJson.ts"
import type { Members, ShapeContext } from "./context.ts"
import { scriptJson, scriptSigJson } from "./script.ts"

/** Transactions in answers (reference/rpc.md 3.0). Source: upstream `core_io.cpp`, `TxToUniv`. */

export interface TransactionDetail {
  readonly hex?: boolean
  /** The coins that it spends, in the order of its inputs, if they are known: they give the fee. Not for coinbases. */
  readonly spent?: ReadonlyArray<Coin> | undefined
  /** Whether each input shows the coin that it spends. */
  readonly prevouts?: boolean
  /** Returns whether an output is marked as change. */
  readonly isChange?: (script: Bytes) => boolean
}

const prevoutJson = (context: ShapeContext, coin: Coin): Members => ({
  generated: coin.coinbase,
  height: coin.height,
  value: new Amount(coin.value),
  scriptPubKey: scriptJson(context, coin.script)
})

const spendJson = (input: TransactionInput): Members => ({
  txid: displayHash(prevoutTxid(input.prevout)),
  vout: prevoutIndex(input.prevout),
  scriptSig: scriptSigJson(input.scriptSig)
})

const inputJson = (context: ShapeContext, input: TransactionInput, coinbase: boolean, prevout?: Coin): Members => ({
  ...(coinbase ? { coinbase: toHex(input.scriptSig) } : spendJson(input)),
  txinwitness: input.witness.length === 0 ? undefined : input.witness.map(toHex),
  prevout: prevout === undefined ? undefined : prevoutJson(context, prevout),
  sequence: input.sequence
})

/** The values of the outputs, read again from the bytes: exact, also beyond the precision of a double. */
const exactValues = (transaction: Transaction): ReadonlyArray<bigint> => {
  const reader = new Reader(transaction.strippedBytes())
  reader.skip(4, "version")
  for (let left = reader.compactSize("inputs"); left > 0; left--) {
    reader.skip(36, "prevout")
    reader.varBytes("scriptSig")
    reader.skip(4, "sequence")
  }
  return Array.from({ length: reader.compactSize("outputs") }, () => {
    const value = BigInt.asIntN(64, reader.u64("value"))
    reader.varBytes("scriptPubKey")
    return value
  })
}

/** An amount beyond the range of coins, as the reference node prints it. */
const hugeAmount = (value: bigint): RawJson => new RawJson(formatAmount(value))

/** The amounts of the outputs. In transactions that are not validated they may be any 64 bits. */
const amountsOf = (transaction: Transaction): ReadonlyArray<Amount | RawJson> =>
  transaction.outputs.every(({ value }) => Number.isSafeInteger(value))
    ? transaction.outputs.map(({ value }) => new Amount(value))
    : exactValues(transaction).map(hugeAmount)

const feeOf = (transaction: Transaction, spent: ReadonlyArray<Coin>): Amount => {
  let fee = 0
  for (const { value } of spent) fee += value
  for (const { value } of transaction.outputs) fee -= value
  return new Amount(fee)
}

export const transactionJson = (
  context: ShapeContext,
  transaction: Transaction,
  { hex = false, isChange, prevouts = false, spent }: TransactionDetail = {}
): Members => {
  const coinbase = transaction.isCoinbase
  const amounts = amountsOf(transaction)
  return {
    txid: displayHash(transaction.txid),
    hash: displayHash(transaction.wtxid),
    version: transaction.version,
    size: transaction.size,
    vsize: transaction.virtualSize,
    weight: transaction.weight,
    locktime: transaction.lockTime,
    vin: itemsOf(
      transaction.inputs,
      (input, n) => inputJson(context, input, coinbase, prevouts ? spent?.[n] : undefined)
    ),
    vout: itemsOf(transaction.outputs, ({ script }, n) => ({
      value: amounts[n],
      n,
      scriptPubKey: scriptJson(context, script),
      ischange: isChange?.(script) === true ? true : undefined
    })),
    fee: spent === undefined ? undefined : feeOf(transaction, spent),
    hex: hex ? toHex(transaction.bytes) : undefined
  }
}

/** The block of a transaction: members that follow those of `transactionJson`. */
export const transactionBlockJson = (block: {
  /** Wire order. */
  readonly hash: Bytes
  readonly confirmations: number
  /** Seconds since 1970; `undefined` for a block off the best chain, which then has 0 confirmations. */
  readonly time: number | undefined
}): Members => ({
  blockhash: displayHash(block.hash),
  confirmations: block.confirmations,
  time: block.time,
  blocktime: block.time
})
