import { isExpired } from "../consensus/expiry.ts"
import { nameEffects } from "../consensus/names.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { NameEffect } from "../consensus/view.ts"
import { firstOperationAt, heightOfOperation } from "../names/NameEntry.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { decodeTransaction, outpoint, outpointKey, type Transaction } from "../protocol/transaction.ts"
import type { Proof, WindowChanges, WindowOperation } from "./WindowFile.ts"

/**
 * What one block changes in a window of names. Blocks are added below the window, the newest first, while it is filled,
 * and above it when the chain grows. The operations on a name form a chain: each NAME_UPDATE spends the output of the
 * operation before it. Where both are in the window, the signature of that input becomes a link to check.
 */

/** Blocks of which the window keeps what they replaced: a reorganization of as many can be undone. */
export const KEPT_BLOCKS = 288

export interface WindowBlock {
  readonly block: Block
  readonly height: Height
  readonly params: ConsensusParams
}

/** An effect of a block on a name, with its number. */
interface Numbered {
  readonly effect: NameEffect
  readonly id: number
}

const numbered = ({ block, height, params }: WindowBlock): ReadonlyArray<Numbered> =>
  nameEffects(block, height, params).map((effect, index) => ({ effect, id: firstOperationAt(height) + index }))

const scriptOf = ({ transaction, vout }: NameEffect): Bytes => transaction.outputs[vout]?.script ?? EMPTY

const operationOf = ({ effect, id }: Numbered): WindowOperation => ({
  name: effect.name,
  id,
  txid: effect.transaction.txid,
  vout: effect.vout,
  amount: effect.value,
  script: scriptOf(effect)
})

/** The input of a transaction that spends an output; -1 for none. */
const inputSpending = ({ inputs }: Transaction, { txid, vout }: Pick<WindowOperation, "txid" | "vout">): number => {
  const key = outpointKey(outpoint(txid, vout))
  return inputs.findIndex(({ prevout }) => outpointKey(prevout) === key)
}

/** Before the number of any operation: no reorganization removes it. */
const NEVER_PROVED = 0

const earliest = (a: number, b: number | undefined): number => b === undefined ? a : Math.min(a, b)

/** The proof of a name with only one known operation. */
const begun = ({ effect: { operation, transaction }, id }: Numbered): Proof => ({
  tail: operation.op === "name_update" ? transaction.bytes : undefined,
  since: id,
  unchecked: 0,
  broken: undefined
})

/** Adds the block below the window. `tip`: the height of the last block of the window. */
export const addBelow = (changes: WindowChanges, block: WindowBlock, tip: Height): void => {
  const kept = firstOperationAt(tip - KEPT_BLOCKS + 1)
  for (const added of numbered(block).toReversed()) {
    const { name } = added.effect
    const oldest = changes.oldest(name)
    // An older operation is needed only if a reorganization can remove the next one.
    if (oldest === undefined || oldest >= kept) changes.put(operationOf(added))
    const proof = changes.proof(name)
    if (oldest === undefined) changes.putProof(name, begun(added))
    else if (proof !== undefined) extendDown(changes, { added, proof, params: block.params })
  }
}

interface OlderOperation {
  readonly added: Numbered
  readonly proof: Proof
  readonly params: ConsensusParams
}

/** Continues the chain of a name with an older operation. */
const extendDown = (changes: WindowChanges, { added, params, proof }: OlderOperation): void => {
  const { effect } = added
  const { since, tail } = proof
  // The chain goes on below a break: if a reorganization removes it, the older ones still count.
  const break_ = (): void =>
    changes.putProof(effect.name, {
      ...begun(added),
      unchecked: proof.unchecked,
      broken: earliest(since, proof.broken)
    })
  if (tail === undefined) {
    // The chain begins with a registration: the name has to be free at that height.
    if (!isExpired(effect, heightOfOperation(since), params)) break_()
    return
  }
  const operation = operationOf(added)
  const input = inputSpending(decodeTransaction(tail), operation)
  // A name that has expired cannot be updated, not even by its owner.
  if (input < 0 || isExpired(effect, heightOfOperation(since), params)) return break_()
  const { amount, name, script } = operation
  changes.putLink({ name, id: since, tx: tail, input, script, amount })
  changes.putProof(name, { ...begun(added), unchecked: proof.unchecked + 1, broken: proof.broken })
}

/** Adds the block above the window, and forgets what no reorganization needs any more. */
export const addAbove = (changes: WindowChanges, block: WindowBlock): void => {
  const { height, params } = block
  for (const added of numbered(block)) {
    const { name } = added.effect
    const before = changes.newest(name)
    const proof = changes.proof(name)
    changes.put(operationOf(added))
    changes.putProof(name, proofAbove(changes, { added, before, proof, params }))
  }
  if (height > KEPT_BLOCKS) changes.forgetReplaced(height - KEPT_BLOCKS)
}

interface NewerOperation {
  readonly added: Numbered
  readonly before: WindowOperation | undefined
  readonly proof: Proof | undefined
  readonly params: ConsensusParams
}

const proofAbove = (changes: WindowChanges, { added, before, params, proof }: NewerOperation): Proof => {
  const { effect, id } = added
  const lives = before !== undefined &&
    !isExpired({ height: heightOfOperation(before.id) }, effect.height, params)
  const restarted = (): Proof => {
    changes.removeLinks(effect.name)
    return begun(added)
  }
  // A reorganization that removes this operation does not bring back a proof that was lost before it.
  const unsigned = (): Proof =>
    proof === undefined ? { ...restarted(), broken: NEVER_PROVED } : { ...proof, broken: earliest(id, proof.broken) }
  if (effect.operation.op === "name_firstupdate") return lives ? unsigned() : restarted()
  // Below an incomplete window there may be an operation that this one spends.
  if (before === undefined) return restarted()
  const input = inputSpending(effect.transaction, before)
  if (!lives || input < 0 || proof === undefined) return unsigned()
  const { amount, name, script } = before
  changes.putLink({ name, id, tx: effect.transaction.bytes, input, script, amount })
  return { ...proof, unchecked: proof.unchecked + 1 }
}
