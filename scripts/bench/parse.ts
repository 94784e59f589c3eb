import { hash } from "node:crypto"
import { decodeBlock } from "../../src/protocol/block.ts"
import { hash256 } from "../../src/protocol/hash.ts"

/** The fastest of some runs, in seconds. */
const best = (runs: number, work: () => void): number => {
  let least = Infinity
  for (let run = 0; run < runs; run++) {
    const started = performance.now()
    work()
    least = Math.min(least, (performance.now() - started) / 1000)
  }
  return least
}

/** Node's one-shot double SHA-256: the primitive of design's budget. Our function gets its digest another way. */
const nativeHash256 = (data: Uint8Array): Uint8Array => hash("sha256", hash("sha256", data, "buffer"), "buffer")

/**
 * Parsing with txids and merkle roots against hashing alone: double SHA-256 over the same transactions and merkle
 * nodes, which every parser needs, by the native primitive and by our own function over it.
 */
export const benchParse = (blocks: ReadonlyArray<Uint8Array>): object => {
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0)
  const parsed = blocks.map(decodeBlock)
  const transactions = parsed.flatMap((block) => block.transactions)
  const stripped = transactions.map((transaction) => transaction.strippedBytes())
  const nodes = parsed.reduce((sum, block) => sum + Math.max(0, block.transactions.length - 1), 0)
  const node = new Uint8Array(64)
  const parse = best(5, () => {
    for (const block of blocks) decodeBlock(block)
  })
  const whole = best(5, () => {
    for (const block of blocks) void decodeBlock(block).merkle
  })
  const hashAll = (double: (data: Uint8Array) => Uint8Array) => (): void => {
    for (const transaction of stripped) double(transaction)
    for (let i = 0; i < nodes; i++) double(node)
  }
  const native = best(5, hashAll(nativeHash256))
  const own = best(5, hashAll(hash256))
  return {
    what: "parse + txid + merkle root of a chain, against the native hash over the same transactions and nodes",
    blocks: blocks.length,
    transactions: transactions.length,
    bytes,
    parseSeconds: parse,
    parseTxidMerkleSeconds: whole,
    nativeHashSeconds: native,
    ownHashSeconds: own,
    ratioToNative: native / whole,
    ratioToOwn: own / whole
  }
}
