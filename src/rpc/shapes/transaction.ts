import * as Schema from "effect/Schema"
import type { Coin } from "../../consensus/view.ts"
import { formatAmount } from "../../protocol/amount.ts"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import { prevoutIndex, prevoutTxid, type Transaction, type TransactionInput } from "../../protocol/transaction.ts"
import { Amount, itemsOf, RawJson } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"
import type { Members, ShapeContext } from "./context.ts"
import { SCRIPT, SCRIPT_SIG, scriptJson, scriptSigJson } from "./script.ts"

/** Transactions in answers (reference/rpc.md 3.0). Source: upstream `core_io.cpp`, `TxToUniv`. */

const PREVOUT = Schema.Struct({
  generated: Result.boolean("Whether it is the output of a coinbase"),
  height: Result.integer("Height of its block"),
  value: Result.amount("Its amount"),
  scriptPubKey: SCRIPT
}).annotations({ description: "The spent coin, if it is known" })

const INPUT = {
  coinbase: Schema.optional(Result.hex("Script of a coinbase, which has no txid, vout and scriptSig")),
  txid: Schema.optional(Result.hex("The transaction of the spent output")),
  vout: Schema.optional(Result.integer("Index of the output")),
  scriptSig: Schema.optional(SCRIPT_SIG),
  txinwitness: Schema.optional(
    Schema.Array(Result.hex("An element")).annotations({ description: "The witness, if any" })
  )
}

const SEQUENCE = Result.integer("Sequence number")

const BARE_INPUT = Schema.Struct({ ...INPUT, sequence: SEQUENCE })
const INPUT_WITH_COIN = Schema.Struct({ ...INPUT, prevout: Schema.optional(PREVOUT), sequence: SEQUENCE })

const transactionOf = <I extends Result.AnyResult, F extends Schema.Struct.Fields>(input: I, beside: F) => ({
  txid: Result.hex("Hash without witnesses"),
  hash: Result.hex("Hash with witnesses"),
  version: Result.integer("Version; 28928 for name transactions"),
  size: Result.integer("Bytes"),
  vsize: Result.integer("Virtual bytes: a quarter of the weight, rounded up"),
  weight: Result.integer("Weight units"),
  locktime: Result.integer("Lock time"),
  vin: Schema.Array(input).annotations({ description: "The inputs" }),
  vout: Schema.Array(
    Schema.Struct({
      value: Result.amount("Amount"),
      n: Result.integer("Index of the output"),
      scriptPubKey: SCRIPT,
      ...beside
    })
  ).annotations({ description: "The outputs" })
})

const TRANSACTION_MEMBERS = transactionOf(BARE_INPUT, {})
const TRANSACTION_MEMBERS_WITH_COINS = transactionOf(INPUT_WITH_COIN, {})

/** Members of a transaction whose outputs have additional members. */
export const transactionMembers = <F extends Schema.Struct.Fields>(beside: F) => transactionOf(BARE_INPUT, beside)

/** A transaction without its block, without and with the coins that it spends. */
export const TRANSACTION = Schema.Struct(TRANSACTION_MEMBERS)
export const TRANSACTION_WITH_COINS = Schema.Struct(TRANSACTION_MEMBERS_WITH_COINS)

const FEE = Schema.optional(Result.amount("The fee, if the spent coins are known; not for a coinbase"))
const TRANSACTION_HEX = Result.hex("The transaction")

/** A transaction of a block, at verbosity 2. */
export const TRANSACTION_OF_BLOCK = Schema.Struct({ ...TRANSACTION_MEMBERS, fee: FEE, hex: TRANSACTION_HEX })

/** The same at verbosity 3. */
export const TRANSACTION_OF_BLOCK_WITH_COINS = Schema.Struct({
  ...TRANSACTION_MEMBERS_WITH_COINS,
  fee: FEE,
  hex: TRANSACTION_HEX
})

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

export const BLOCK_OF_TRANSACTION = {
  blockhash: Result.hex("Hash of its block"),
  confirmations: Result.integer("1 in the tip; 0 off the best chain"),
  time: Schema.optional(Result.time("Time of the block; not off the best chain")),
  blocktime: Schema.optional(Result.time("Same as time"))
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
