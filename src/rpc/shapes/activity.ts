import * as Schema from "effect/Schema"
import type { Coin } from "../../consensus/view.ts"
import { binaryString, type Bytes, displayHash } from "../../protocol/bytes.ts"
import { prevoutIndex, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { Amount } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"
import type { ShapeContext } from "./context.ts"
import { SCRIPT, scriptJson } from "./script.ts"

/** Source: upstream `rpc/blockchain.cpp`, `getdescriptoractivity`. */

const PLACE = {
  blockhash: Schema.optional(Result.hex("The block; not for a transaction of the mempool")),
  height: Schema.optional(Result.integer("Its height"))
}

export const EVENT = Schema.Struct({
  type: Result.string("spend or receive"),
  amount: Result.amount("Amount of the output"),
  ...PLACE,
  spend_txid: Schema.optional(Result.hex("The spending transaction")),
  spend_vin: Schema.optional(Result.integer("Index of its input")),
  prevout_txid: Schema.optional(Result.hex("The transaction of the spent output")),
  prevout_vout: Schema.optional(Result.integer("Index of the spent output")),
  prevout_spk: Schema.optional(SCRIPT.annotations({ description: "The script of the spent output" })),
  txid: Schema.optional(Result.hex("The receiving transaction")),
  vout: Schema.optional(Result.integer("Index of its output")),
  output_spk: Schema.optional(SCRIPT.annotations({ description: "The script of that output" }))
})

export interface SearchedPlace {
  readonly hash: Bytes
  readonly height: number
}

/** An input that spends from a script, or an output to one. Plain data for transfer between threads. */
export interface Match {
  readonly type: "spend" | "receive"
  /** Wire order. */
  readonly txid: Bytes
  /** Index of the input or output. */
  readonly index: number
  /** The outpoint spent by an input. */
  readonly prevout: Bytes | undefined
  /** Smallest units. */
  readonly value: number
  readonly script: Bytes
}

export interface SpendingTransaction {
  readonly transaction: Transaction
  /** The spent coin of each input; none for a coinbase. */
  readonly spent: ReadonlyArray<Coin | undefined>
}

/** Inputs come before outputs. All bytes are copies. */
export const matchesOf = (
  { spent, transaction: { inputs, outputs, txid } }: SpendingTransaction,
  scripts: { readonly has: (script: string) => boolean }
): ReadonlyArray<Match> => {
  const spends = spent.flatMap((coin, index): ReadonlyArray<Match> => {
    const input = inputs[index]
    if (coin === undefined || input === undefined || !scripts.has(binaryString(coin.script))) return []
    const { script, value } = coin
    return [{
      type: "spend",
      txid: txid.slice(),
      index,
      prevout: input.prevout.slice(),
      value,
      script: script.slice()
    }]
  })
  const receipts = outputs.flatMap(({ script, value }, index): ReadonlyArray<Match> =>
    scripts.has(binaryString(script))
      ? [{ type: "receive", txid: txid.slice(), index, prevout: undefined, value, script: script.slice() }]
      : []
  )
  return [...spends, ...receipts]
}

/** Without a `place`, the match is in the mempool. */
export const eventJson = (
  context: ShapeContext,
  { index, prevout, script, txid, type, value }: Match,
  place: SearchedPlace | undefined
): Result.ValueOf<typeof EVENT> => {
  const at: Result.MembersOf<typeof PLACE> = place === undefined
    ? { blockhash: undefined, height: undefined }
    : { blockhash: displayHash(place.hash), height: place.height }
  const amount = new Amount(value)
  if (prevout === undefined) {
    return { type, amount, ...at, txid: displayHash(txid), vout: index, output_spk: scriptJson(context, script) }
  }
  return {
    type,
    amount,
    ...at,
    spend_txid: displayHash(txid),
    spend_vin: index,
    prevout_txid: displayHash(prevoutTxid(prevout)),
    prevout_vout: prevoutIndex(prevout),
    prevout_spk: scriptJson(context, script)
  }
}
