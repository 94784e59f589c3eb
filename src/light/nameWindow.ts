import { nameEffects } from "../consensus/names.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { firstOperationAt } from "../names/NameEntry.ts"
import type { Block } from "../protocol/block.ts"
import type { Height } from "../protocol/keys.ts"
import type { WindowOperation } from "./WindowFile.ts"

export interface WindowBlock {
  readonly block: Block
  readonly height: Height
  readonly params: ConsensusParams
}

/** The name operations of a block, newest first: all that the window keeps of it. */
export const operationsOf = ({ block, height, params }: WindowBlock): ReadonlyArray<WindowOperation> =>
  nameEffects(block, height, params).map(({ name, operation, transaction, vout }, index) => ({
    id: firstOperationAt(height) + index,
    name,
    first: operation.op === "name_firstupdate",
    tx: transaction.bytes,
    vout
  })).reverse()
