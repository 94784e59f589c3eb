import * as Schema from "effect/Schema"
import type { Coin } from "../../consensus/view.ts"
import { formatAmount } from "../../protocol/amount.ts"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import {
  prevoutIndex,
  prevoutTxid,
  totalValue,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import { Amount, itemsOf, RawJson } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"
import type { ShapeContext } from "./context.ts"
import { SCRIPT, SCRIPT_SIG, scriptJson, scriptSigJson } from "./script.ts"

/** Transactions (reference/rpc.md 3.0). Source: upstream `core_io.cpp`, `TxToUniv`. */

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

const CHANGE_MARK = { ischange: Schema.optional(Result.boolean("true for an output that is change of the wallet")) }

/** Marks the outputs that are change. */
export const MARKED_TRANSACTION = Schema.Struct(transactionOf(BARE_INPUT, CHANGE_MARK))

export const TRANSACTION = Schema.Struct(TRANSACTION_MEMBERS)
export const TRANSACTION_WITH_COINS = Schema.Struct(TRANSACTION_MEMBERS_WITH_COINS)

const FEE = Schema.optional(Result.amount("The fee, if the spent coins are known; not for a coinbase"))
const TRANSACTION_HEX = Result.hex("The transaction")

/** At verbosity 2. */
export const TRANSACTION_OF_BLOCK = Schema.Struct({ ...TRANSACTION_MEMBERS, fee: FEE, hex: TRANSACTION_HEX })

/** At verbosity 3. */
export const TRANSACTION_OF_BLOCK_WITH_COINS = Schema.Struct({
  ...TRANSACTION_MEMBERS_WITH_COINS,
  fee: FEE,
  hex: TRANSACTION_HEX
})

const EVERY_MEMBER = transactionOf(INPUT_WITH_COIN, CHANGE_MARK)

export interface TransactionDetail {
  /** Coins that the inputs show, in order. Not for coinbases. */
  readonly prevouts?: ReadonlyArray<Coin> | undefined
  readonly isChange?: (script: Bytes) => boolean
}

const prevoutJson = (context: ShapeContext, coin: Coin): Result.ValueOf<typeof PREVOUT> => ({
  generated: coin.coinbase,
  height: coin.height,
  value: new Amount(coin.value),
  scriptPubKey: scriptJson(context, coin.script)
})

const spendJson = (input: TransactionInput) => ({
  txid: displayHash(prevoutTxid(input.prevout)),
  vout: prevoutIndex(input.prevout),
  scriptSig: scriptSigJson(input.scriptSig)
})

const inputJson = (
  context: ShapeContext,
  input: TransactionInput,
  { coinbase, prevout }: { readonly coinbase: boolean; readonly prevout?: Coin | undefined }
): Result.ValueOf<typeof INPUT_WITH_COIN> => ({
  ...(coinbase ? { coinbase: toHex(input.scriptSig) } : spendJson(input)),
  txinwitness: input.witness.length === 0 ? undefined : input.witness.map(toHex),
  prevout: prevout === undefined ? undefined : prevoutJson(context, prevout),
  sequence: input.sequence
})

/** Exact values from the bytes, even beyond the precision of a double. */
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

/** An amount beyond the range of coins, printed as by the reference node. */
const hugeAmount = (value: bigint): RawJson<Amount> => new RawJson(formatAmount(value))

/** Amounts in unvalidated transactions may be any 64 bits. */
const amountsOf = (transaction: Transaction): (output: TransactionOutput, n: number) => Amount | RawJson<Amount> => {
  if (transaction.outputs.every(({ value }) => Number.isSafeInteger(value))) return ({ value }) => new Amount(value)
  const exact = exactValues(transaction)
  return ({ value }, n) => hugeAmount(exact[n] ?? BigInt(value))
}

export const transactionJson = (
  context: ShapeContext,
  transaction: Transaction,
  { isChange, prevouts }: TransactionDetail = {}
): Result.MembersOf<typeof EVERY_MEMBER> => {
  const coinbase = transaction.isCoinbase
  const amountOf = amountsOf(transaction)
  return {
    txid: displayHash(transaction.txid),
    hash: displayHash(transaction.wtxid),
    version: transaction.version,
    size: transaction.size,
    vsize: transaction.virtualSize,
    weight: transaction.weight,
    locktime: transaction.lockTime,
    vin: itemsOf(transaction.inputs, (input, n) => inputJson(context, input, { coinbase, prevout: prevouts?.[n] })),
    vout: itemsOf(transaction.outputs, (output, n) => ({
      value: amountOf(output, n),
      n,
      scriptPubKey: scriptJson(context, output.script),
      ischange: isChange?.(output.script) === true ? true : undefined
    }))
  }
}

/** With the bytes, and the fee if the spent coins are known. */
export const wholeTransactionJson = (
  context: ShapeContext,
  transaction: Transaction,
  { prevouts = false, spent }: {
    /** The spent coins in order, if known. Not for coinbases. */
    readonly spent?: ReadonlyArray<Coin> | undefined
    readonly prevouts?: boolean
  } = {}
): Result.ValueOf<typeof TRANSACTION_OF_BLOCK_WITH_COINS> => ({
  ...transactionJson(context, transaction, { prevouts: prevouts ? spent : undefined }),
  fee: spent === undefined ? undefined : new Amount(totalValue(spent) - totalValue(transaction.outputs)),
  hex: toHex(transaction.bytes)
})

export const BLOCK_OF_TRANSACTION = {
  blockhash: Result.hex("Hash of its block"),
  confirmations: Result.integer("1 in the tip; 0 off the best chain"),
  time: Schema.optional(Result.time("Time of the block; not off the best chain")),
  blocktime: Schema.optional(Result.time("Same as time"))
}

/** Members that follow those of `transactionJson`. */
export const transactionBlockJson = (block: {
  /** Wire order. */
  readonly hash: Bytes
  readonly confirmations: number
  /** Seconds since 1970; `undefined` off the best chain, with 0 confirmations. */
  readonly time: number | undefined
}): Result.MembersOf<typeof BLOCK_OF_TRANSACTION> => ({
  blockhash: displayHash(block.hash),
  confirmations: block.confirmations,
  time: block.time,
  blocktime: block.time
})
