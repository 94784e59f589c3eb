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

/**
 * Parsing with txids and merkle roots against hashing alone: the native double SHA-256 over the same transactions and
 * merkle nodes, which is what no parser can do without.
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
  const hashing = best(5, () => {
    for (const transaction of stripped) hash256(transaction)
    for (let i = 0; i < nodes; i++) hash256(node)
  })
  return {
    what: "parse + txid + merkle root of a chain, against the native hash over the same transactions and nodes",
    blocks: blocks.length,
    transactions: transactions.length,
    bytes,
    parseSeconds: parse,
    parseTxidMerkleSeconds: whole,
    nativeHashSeconds: hashing,
    ratio: hashing / whole,
    goal: "ratio >= 0.5"
  }
}
