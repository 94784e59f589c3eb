import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { FileFamily } from "../../storage/BlockFiles.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"

/** Blocks at the end of the best chain that a node with limited service must have (BIP 159). */
export const RECENT_BLOCKS = 288

/** A damaged record of a block or undo file. */
export interface Loss {
  readonly family: FileFamily
  readonly id: HeaderId
  readonly height: Height
  /** File, offset and finding. */
  readonly reason: string
}

/** Whether a connected block's undo data were lost. Genesis needs none, and pruned ones are not lost. */
export const lacksUndo = (index: BlockIndex, id: HeaderId): boolean =>
  id !== 0 && index.has(id, Status.VALID) && !index.has(id, Status.HAVE_UNDO | Status.PRUNED)

/** Whether a block has undo data, or had them before they were lost. */
export const hadUndo = (index: BlockIndex, id: HeaderId): boolean =>
  index.has(id, Status.HAVE_UNDO) || lacksUndo(index, id)

/** The status of a block with nothing lost or pruned. */
const WHOLE = Status.HAVE_DATA | Status.HAVE_UNDO

const isLost = (index: BlockIndex, id: HeaderId): boolean => !index.has(id, Status.HAVE_DATA | Status.PRUNED)

/** Whether a block cannot be disconnected because its data or undo data were pruned. */
export const isPrunedAway = (index: BlockIndex, id: HeaderId): boolean =>
  index.has(id, Status.PRUNED) && !(index.has(id, Status.HAVE_DATA) && index.has(id, Status.HAVE_UNDO))

/** The best chain up to the last validated block. */
interface BestChain {
  readonly isActive: (id: HeaderId) => boolean
  readonly at: (height: Height) => HeaderId
  readonly settledHeight: Height
}

/**
 * The blocks of the best chain that are lost from the block files because a file was truncated or deleted, or a record
 * is damaged. The node requests them from peers. Meanwhile it knows their effects but cannot serve them. Pruned blocks
 * are not missing. Invariant: each block of the best chain is stored, pruned, or in `missing`.
 */
export class BlockLosses {
  private readonly index: BlockIndex
  private readonly chain: BestChain
  private readonly missing = new Set<HeaderId>()
  private readonly withoutUndo = new Set<HeaderId>()
  private untold: Array<Loss> = []
  private readonly listeners = new Set<() => void>()
  private waiting: HeaderId | undefined
  /** How many times a peer showed, by reply or timeout, that it does not have the awaited block. */
  private refused = 0
  /** Missing blocks awaited in vain. The chain takes no branch that must disconnect one of them. */
  private readonly givenUp = new Set<HeaderId>()
  private prunedBelow: Height = 0
  /** The height of the block that the chain state began with; -1 for genesis. */
  private base: Height = -1

  constructor(index: BlockIndex, chain: BestChain) {
    this.index = index
    this.chain = chain
  }

  /** Adds a listener and returns the function to remove it. Listeners are called synchronously at each change. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  private changed(): void {
    for (const listener of this.listeners) listener()
  }

  /** Notes that blocks up to a height were never stored, because the coins after it came from a snapshot. */
  beginsAfter(base: Height): void {
    this.base = base
  }

  get anyLost(): boolean {
    for (const id of this.ids()) if (this.index.height(id) > this.base) return true
    return false
  }

  /** Checks the best chain from the tip down, to request first the recent blocks that `/ready` needs. */
  look(active: ReadonlyArray<HeaderId>): void {
    this.missing.clear()
    this.withoutUndo.clear()
    this.prunedBelow = 0
    for (const id of this.inOrder(active)) {
      if ((this.index.status(id) & WHOLE) === WHOLE) continue
      if (isPrunedAway(this.index, id)) this.prunedBelow = Math.max(this.prunedBelow, this.index.height(id))
      if (isLost(this.index, id)) this.missing.add(id)
      if (lacksUndo(this.index, id)) this.withoutUndo.add(id)
    }
    this.changed()
  }

  pruned(height: Height): void {
    this.prunedBelow = Math.max(this.prunedBelow, height)
    this.changed()
  }

  /** The height of the last pruned block of the best chain, below which the chain never goes back; 0 for none. */
  get prunedTo(): Height {
    return this.prunedBelow
  }

  /** Whether the chain began with an unvalidated snapshot, so that the blocks below are still needed. */
  get needsOldBlocks(): boolean {
    return this.base >= 0
  }

  /** The latest blocks first, then from the tip down, or from genesis up to the base of a snapshot. */
  private inOrder(active: ReadonlyArray<HeaderId>): ReadonlyArray<HeaderId> {
    if (this.base < 0) return active.toReversed()
    const latest = Math.max(0, active.length - RECENT_BLOCKS)
    return [...active.slice(latest).reverse(), ...active.slice(0, latest)]
  }

  /** Notes a damaged record, which counts as missing from now on. */
  lose(loss: Loss): void {
    const { family, id } = loss
    this.index.clearStatus(id, family === "blk" ? Status.HAVE_DATA : Status.HAVE_UNDO)
    if (this.index.has(id, Status.VALID) && !this.index.has(id, Status.PRUNED)) {
      ;(family === "blk" ? this.missing : this.withoutUndo).add(id)
    }
    this.untold.push(loss)
    this.changed()
  }

  /** Notes that a block is stored. Returns whether given-up branches are reachable again. */
  regained(id: HeaderId): boolean {
    const opened = this.givenUp.delete(id)
    if (this.missing.delete(id)) this.changed()
    return opened
  }

  takeUntold(): ReadonlyArray<Loss> {
    const untold = this.untold
    this.untold = []
    return untold
  }

  *ids(): Iterable<HeaderId> {
    for (const id of this.missing) {
      if (this.index.has(id, Status.HAVE_DATA)) this.missing.delete(id)
      else if (this.chain.isActive(id)) yield id
    }
  }

  has(id: HeaderId): boolean {
    return this.missing.has(id) && !this.index.has(id, Status.HAVE_DATA) && this.chain.isActive(id)
  }

  get count(): number {
    let count = 0
    for (const _ of this.ids()) count++
    return count
  }

  get any(): boolean {
    for (const _ of this.ids()) return true
    return false
  }

  get recent(): boolean {
    return this.isRecentMissing(() => true)
  }

  /** Like `recent`, without blocks awaited in vain and those below the base of a snapshot. */
  get recentAwaited(): boolean {
    return this.isRecentMissing((id) => !this.givenUp.has(id) && this.index.height(id) > this.base)
  }

  private isRecentMissing(counts: (id: HeaderId) => boolean): boolean {
    if (this.missing.size === 0) return false
    const { settledHeight } = this.chain
    for (let height = Math.max(0, settledHeight - RECENT_BLOCKS + 1); height <= settledHeight; height++) {
      const id = this.chain.at(height)
      if (isLost(this.index, id) && counts(id)) return true
    }
    return false
  }

  /** Whether a recent block lacks undo data. It gets them when it is connected again. */
  get recentUndo(): boolean {
    for (const id of this.withoutUndo) {
      if (!lacksUndo(this.index, id)) this.withoutUndo.delete(id)
      else if (this.chain.isActive(id) && this.index.height(id) > this.chain.settledHeight - RECENT_BLOCKS) return true
    }
    return false
  }

  /** The missing block that a reorg must disconnect. */
  get waitsFor(): HeaderId | undefined {
    return this.waiting
  }

  waitFor(id: HeaderId | undefined): void {
    if (this.waiting === id) return
    this.waiting = id
    this.refused = 0
    this.changed()
  }

  refusedBy(id: HeaderId): void {
    if (this.waiting !== id) return
    this.refused++
    this.changed()
  }

  get refusals(): number {
    return this.refused
  }

  giveUp(): void {
    if (this.waiting === undefined) return
    this.givenUp.add(this.waiting)
    this.waitFor(undefined)
  }

  /** The missing block that prevents the reorg to a given-up branch. */
  get inTheWay(): HeaderId | undefined {
    for (const id of this.givenUp) if (this.has(id)) return id
    return undefined
  }

  /** Whether a reorg needs a missing block, which is then requested from any peer. */
  needs(id: HeaderId): boolean {
    return this.waiting === id || this.givenUp.has(id)
  }

  /** Whether the reorg to a block would disconnect a given-up or pruned one. */
  bars(id: HeaderId): boolean {
    const { index, prunedBelow } = this
    if (prunedBelow > 0 && !this.leavesPruned(id)) return true
    for (const missing of this.givenUp) {
      const height = index.height(missing)
      if (this.has(missing) && (index.height(id) < height || index.ancestor(id, height) !== missing)) return true
    }
    return false
  }

  private leavesPruned(id: HeaderId): boolean {
    const { chain, index, prunedBelow } = this
    return index.height(id) >= prunedBelow && index.ancestor(id, prunedBelow) === chain.at(prunedBelow)
  }
}
