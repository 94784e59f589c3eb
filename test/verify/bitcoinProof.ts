import { displayHash, equal, fromHex, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { Header } from "../../src/protocol/header.ts"
import { merkleBranchRoot } from "../../src/protocol/merkle.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import { decodeTransaction } from "../../src/protocol/transaction.ts"
import { signatures } from "../../src/verify/signatures.ts"

/**
 * What the example of `blockchain.name.get_value_proof` for d/bitcoin proves, in Node.js and in a browser. It has no merged-mining
 * proofs: its oldest operation is below a checkpoint, whose root stands for the chain.
 */

/** An entry of the answer. */
export interface ValueProofEntry {
  readonly height: number
  readonly tx: string
  readonly tx_merkle: { readonly merkle: ReadonlyArray<string>; readonly pos: number }
  readonly header?: { readonly header: string; readonly branch: ReadonlyArray<string>; readonly root: string }
}

const bytesOf = (hex: string): Uint8Array => fromHex(hex) ?? new Uint8Array(0)

const hashOf = (shown: string): Uint8Array => parseDisplayHash(shown) ?? new Uint8Array(32)

const operationIn = ({ tx }: ValueProofEntry) => {
  const transaction = decodeTransaction(bytesOf(tx))
  const vout = transaction.outputs.findIndex(({ script }) => parseNameScript(script) !== undefined)
  const operation = parseNameScript(transaction.outputs[vout]?.script ?? new Uint8Array(0))?.operation
  return { transaction, vout, operation }
}

/** Whether the operation is in the block of its header, and the header below the root. */
const isBelowRoot = (entry: ValueProofEntry): boolean => {
  const { header, height, tx_merkle: { merkle, pos } } = entry
  if (header === undefined) return false
  const block = new Header(bytesOf(header.header))
  const inBlock = merkleBranchRoot(operationIn(entry).transaction.txid, merkle.map(hashOf), pos)
  const inChain = merkleBranchRoot(block.hash, header.branch.map(hashOf), height)
  return equal(inBlock, block.merkleRoot) && displayHash(inChain) === header.root
}

/** The value of each operation, the newest first; whether the owner signed it; whether the oldest is in the chain. */
export const checkBitcoinProof = (entries: ReadonlyArray<ValueProofEntry>) => ({
  values: entries.map((entry) => {
    const { operation } = operationIn(entry)
    return operation === undefined || operation.op === "name_new" ? "" : new TextDecoder().decode(operation.value)
  }),
  signed: entries.slice(0, -1).map((entry, i) => {
    const before = operationIn(entries[i + 1] ?? entry)
    return signatures({
      network: "main",
      height: entry.height,
      budget: { left: 400 },
      tx: bytesOf(entry.tx),
      before: { tx: before.transaction.bytes, vout: before.vout }
    })
  }),
  anchored: entries.slice(-1).every(isBelowRoot)
})
