import type { Coin, ScriptCheck } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import { readTransaction } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"

/**
 * What the verify pool and its workers say to each other. Checks travel packed into one buffer that is handed over,
 * not copied; who checks what is settled through a shared table of claims, one word a chunk: whoever turns a word
 * from 0 to 1 does the chunk.
 */

/** A number of script checks that one thread does in one go. */
export interface VerifyChunk {
  readonly type: "chunk"
  /** Its word in the table of claims. */
  readonly index: number
  readonly flags: number
  /** The block, counted within the batch. */
  readonly block: number
  /** Packed checks. */
  readonly checks: Uint8Array
}

/** What comes to a worker. Everything between `begin` and `end` is one batch. */
export type ToWorker =
  | { readonly type: "begin"; readonly claims: Int32Array }
  | VerifyChunk
  | { readonly type: "end" }

/** A script that is not valid. */
export interface ScriptFailure {
  /** The block, counted within the batch. */
  readonly block: number
  /** Wire order. */
  readonly txid: Bytes
  readonly input: number
  /** The reference node's text. */
  readonly error: string
}

/** What a worker answers to `end`: the failure in the earliest block, if there is one. */
export interface FromWorker {
  readonly failure: ScriptFailure | undefined
}

export const packChecks = (checks: ReadonlyArray<ScriptCheck>): Uint8Array => {
  const writer = new Writer(16_384)
  writer.compactSize(checks.length)
  for (const { coins, transaction } of checks) {
    writer.bytes(transaction.bytes)
    for (const coin of coins) writer.i64(coin.value).varBytes(coin.script)
  }
  return writer.toBytes()
}

export const unpackChecks = (bytes: Bytes): ReadonlyArray<ScriptCheck> => {
  const reader = new Reader(bytes)
  return Array.from({ length: reader.compactSize("checks") }, () => {
    const transaction = readTransaction(reader)
    const coins: ReadonlyArray<Coin> = transaction.inputs.map(() => ({
      value: reader.i64("value"),
      script: reader.varBytes("script"),
      // Where the coin came from is no matter to its script.
      height: 0,
      coinbase: false
    }))
    return { transaction, coins }
  })
}
