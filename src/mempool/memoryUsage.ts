import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"

/**
 * What the parts of a transaction cost in memory beside their bytes, about: an object, a view of bytes and the entry of
 * a map cost more than what they hold.
 */
const ENTRY = 1_600
const INPUT = 400
const OUTPUT = 200
const WITNESS_ITEM = 110

/** Bytes of memory that a transaction takes in the pool, about. */
export const entryUsage = ({ bytes, inputs, outputs }: Transaction): number => {
  let usage = ENTRY + bytes.length + inputs.length * INPUT + outputs.length * OUTPUT
  for (const { witness } of inputs) usage += witness.length * WITNESS_ITEM
  return usage
}

/** Bytes around a transaction's own that it may keep alive. */
const SLACK = 1_024

/**
 * The transaction on bytes of its own, where it is a view of much more: a block, or a peer's messages. They would stay
 * in memory as long as it does.
 */
export const ownBytes = (transaction: Transaction): Transaction => {
  const { bytes } = transaction
  return bytes.buffer.byteLength > bytes.length + SLACK ? decodeTransaction(Uint8Array.from(bytes)) : transaction
}
