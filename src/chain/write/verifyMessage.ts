import { type Reject, reject } from "../../consensus/Reject.ts"
import type { Coin, ScriptCheck } from "../../consensus/view.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import { readTransaction } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"

// Messages between the verify pool and its workers. A shared table of claims has one word per chunk: the thread that
// changes it from 0 to 1 checks the chunk.

export interface ChunkPart {
  /** The block, counted within the batch. */
  readonly block: number
  readonly flags: number
  readonly checks: ReadonlyArray<ScriptCheck>
}

export interface VerifyChunk {
  readonly type: "chunk"
  readonly index: number
  readonly parts: Uint8Array
}

/** A message to a worker. Everything from `begin` to `end` is one batch. */
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

/** The refusal of a block with a failing script: it breaks a rule of blocks, or one of the mempool alone. */
export const scriptReject = ({ error, input, txid }: ScriptFailure, whose: "block" | "mempool"): Reject =>
  reject(`${whose}-script-verify-flag-failed (${error})`, `input ${input} of ${displayHash(txid)}`)

/** The answer to `end`: the failure in the earliest block, if any. */
export interface FromWorker {
  readonly failure: ScriptFailure | undefined
}

/** Maximum bytes of a length or count. */
const COUNT_SIZE = 9

const packedSize = ({ coins, transaction }: ScriptCheck): number =>
  coins.reduce((size, { script }) => size + 8 + COUNT_SIZE + script.length, transaction.size)

export const packParts = (parts: ReadonlyArray<ChunkPart>): Uint8Array => {
  const size = parts.reduce((sum, { checks }) => checks.reduce((all, check) => all + packedSize(check), sum), 0)
  const writer = new Writer(size + COUNT_SIZE + parts.length * (8 + COUNT_SIZE))
  writer.compactSize(parts.length)
  for (const { block, checks, flags } of parts) {
    writer.u32(block).u32(flags).compactSize(checks.length)
    for (const { coins, transaction } of checks) {
      writer.bytes(transaction.bytes)
      for (const coin of coins) writer.i64(coin.value).varBytes(coin.script)
    }
  }
  return writer.written()
}

const unpackCheck = (reader: Reader): ScriptCheck => {
  const transaction = readTransaction(reader)
  const coins: ReadonlyArray<Coin> = transaction.inputs.map(() => ({
    value: reader.i64("value"),
    script: reader.varBytes("script"),
    // Scripts do not depend on the origin of their coin.
    height: 0,
    coinbase: false
  }))
  return { transaction, coins }
}

export const unpackParts = (bytes: Bytes): ReadonlyArray<ChunkPart> => {
  const reader = new Reader(bytes)
  return Array.from({ length: reader.compactSize("parts") }, () => ({
    block: reader.u32("block"),
    flags: reader.u32("flags"),
    checks: Array.from({ length: reader.compactSize("checks") }, () => unpackCheck(reader))
  }))
}
