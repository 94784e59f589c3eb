import type { Bytes } from "../protocol/bytes.ts"
import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"

/**
 * Approximate memory of the parts of a transaction besides their bytes, as objects, views and map entries cost more
 * than their content.
 */
const ENTRY = 1_600
const INPUT = 400
const OUTPUT = 200
const WITNESS_ITEM = 110

/** Approximate memory of a transaction in the pool. */
export const entryMemory = ({ bytes, inputs, outputs }: Transaction): number => {
  let usage = ENTRY + bytes.length + inputs.length * INPUT + outputs.length * OUTPUT
  for (const { witness } of inputs) usage += witness.length * WITNESS_ITEM
  return usage
}

/** Sizes of the reference node's structures in bytes, on a 64-bit machine. */
const REFERENCE = {
  /** A transaction, its entry, and its places in the indexes and the graph. */
  entry: 752,
  /** An input and its place in the index of spent outpoints. */
  input: 104,
  spent: 64,
  output: 48,
  witnessItem: 24,
  /** Bytes of a script that need no memory of their own. */
  shortScript: 36
} as const

/** The size of an allocation. Source: upstream `memusage.h`, `MallocUsage`. */
const allocated = (size: number): number => size === 0 ? 0 : Math.floor((size + 31) / 16) * 16

const scriptUsage = ({ length }: Bytes): number => length > REFERENCE.shortScript ? allocated(length) : 0

/**
 * The bytes that the reference node counts for a transaction in its pool, except for small differences of its indexes.
 * Source: upstream `core_memusage.h`, `RecursiveDynamicUsage`; `txmempool.cpp`, `CTxMemPool::DynamicMemoryUsage`.
 */
export const referenceUsage = ({ inputs, outputs }: Transaction): number => {
  let usage = REFERENCE.entry + allocated(inputs.length * REFERENCE.input) + inputs.length * REFERENCE.spent +
    allocated(outputs.length * REFERENCE.output)
  for (const { scriptSig, witness } of inputs) {
    usage += scriptUsage(scriptSig) + allocated(witness.length * REFERENCE.witnessItem)
    for (const item of witness) usage += allocated(item.length)
  }
  for (const { script } of outputs) usage += scriptUsage(script)
  return usage
}

/** The memory of the process may be this many times `-maxmempool`. */
const MEMORY_FACTOR = 1.5

/** Approximate memory of an input or output among the waiting transactions of scripts (`ScriptPool`). */
const SCRIPT_MOVE = 190

/**
 * The bytes that count for a transaction against `-maxmempool`: as in the reference node, so that a full pool has the
 * same large transactions, but enough to bound the memory of the process. `hasScripts`: the node keeps them by script as well.
 */
export const entryUsage = (transaction: Transaction, hasScripts = false): number => {
  const moves = hasScripts ? transaction.inputs.length + transaction.outputs.length : 0
  const memory = entryMemory(transaction) + moves * SCRIPT_MOVE
  return Math.max(referenceUsage(transaction), Math.ceil(memory / MEMORY_FACTOR))
}

/** Bytes beyond its own that a transaction may keep in memory. */
const SLACK = 1_024

/**
 * Copies the bytes of a transaction that is a view of a much larger buffer (a block, a peer's messages), which would
 * stay in memory with it.
 */
export const ownBytes = (transaction: Transaction): Transaction => {
  const { bytes } = transaction
  return bytes.buffer.byteLength > bytes.length + SLACK ? decodeTransaction(Uint8Array.from(bytes)) : transaction
}
