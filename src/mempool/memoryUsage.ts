import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"

/**
 * Approximate memory cost of the parts of a transaction besides their bytes: an object, a view of bytes and the entry
 * of a map cost more than what they hold.
 */
const ENTRY = 1_600
const INPUT = 400
const OUTPUT = 200
const WITNESS_ITEM = 110

/** Approximate bytes of memory that a transaction takes in the pool. */
export const entryUsage = ({ bytes, inputs, outputs }: Transaction): number => {
  let usage = ENTRY + bytes.length + inputs.length * INPUT + outputs.length * OUTPUT
  for (const { witness } of inputs) usage += witness.length * WITNESS_ITEM
  return usage
}

/** Bytes beyond its own that a transaction may keep in memory. */
const SLACK = 1_024

/**
 * Copies the bytes of a transaction that is a view of a much larger buffer: of a block, or of a peer's messages. The
 * buffer would stay in memory as long as the transaction.
 */
export const ownBytes = (transaction: Transaction): Transaction => {
  const { bytes } = transaction
  return bytes.buffer.byteLength > bytes.length + SLACK ? decodeTransaction(Uint8Array.from(bytes)) : transaction
}
