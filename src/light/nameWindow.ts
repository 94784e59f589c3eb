import { nameEffects } from "../consensus/names.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { firstOperationAt, hashKey } from "../names/NameEntry.ts"
import type { Block } from "../protocol/block.ts"
import { EMPTY } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { nameIndexHash } from "../protocol/nameOperation.ts"
import type { NewOperation } from "./WindowFile.ts"
import { keptEvidence, type KeptHead } from "./windowProofs.ts"

export interface WindowBlock {
  readonly block: Block
  readonly height: Height
  readonly params: ConsensusParams
  /** Whether to keep what proofs need. */
  readonly proofs?: boolean
}

/** All that the window keeps of a block. */
export interface KeptBlock {
  /** Newest first. */
  readonly operations: ReadonlyArray<NewOperation>
  /** That of the block; none unless proofs are kept. */
  readonly heads: ReadonlyArray<KeptHead>
}

export const keptOf = ({ block, height, params, proofs = false }: WindowBlock): KeptBlock => {
  const effects = nameEffects(block, height, params)
  const evidence = proofs ? keptEvidence(block, height) : undefined
  const operations = effects.map(({ name, operation, transaction, vout }, index) => ({
    id: firstOperationAt(height) + index,
    name,
    first: operation.op === "name_firstupdate",
    tx: transaction.bytes,
    vout,
    branch: evidence?.branchOf(transaction) ?? EMPTY,
    keys: proofs ? { script: hashKey(nameIndexHash(name)), txid: hashKey(transaction.txid).slice() } : undefined
  })).reverse()
  return { operations, heads: evidence === undefined ? [] : [evidence.head] }
}
