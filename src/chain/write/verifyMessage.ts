import { type Reject, reject } from "../../consensus/Reject.ts"
import type { Coin, ScriptCheck } from "../../consensus/view.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import { readTransaction } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"

/**
 * Messages of the verify pool and its workers. The buffer of packed checks is transferred, not copied. A shared table
 * of claims has one word per chunk: the thread that changes a word from 0 to 1 checks the chunk.
 */

export interface VerifyChunk {
  readonly type: "chunk"
  /** Its word in the table of claims. */
  readonly index: number
  readonly flags: number
  /** The block, counted within the batch. */
  readonly block: number
  readonly checks: Uint8Array
}

/** A message to a worker. The messages between `begin` and `end` are one batch. */
export type ToWorker =
  | { readonly type: "begin"; readonly claims: Int32Array }
  | VerifyChunk
  | { readonly type: "end" }

export interface ScriptFailure {
  /** The block, counted within the batch. */
  readonly block: number
  /** Wire order. */
  readonly txid: Bytes
  readonly input: number
  /** The reference node's text. */
  readonly error: string
  /** The rules of its block. */
  readonly flags: number
}

/** The refusal of a block with a script that fails: it breaks a rule of blocks, or one of the mempool alone. */
export const scriptReject = ({ error, input, txid }: ScriptFailure, whose: "block" | "mempool"): Reject =>
  reject(`${whose}-script-verify-flag-failed (${error})`, `input ${input} of ${displayHash(txid)}`)

/** The answer to `end`: the failure in the earliest block, if any. */
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
      // The script does not depend on the origin of its coin.
      height: 0,
      coinbase: false
    }))
    return { transaction, coins }
  })
}
