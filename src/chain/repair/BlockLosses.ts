import type { FileFamily } from "../../storage/BlockFiles.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"

/** Blocks at the end of the best chain that a node of limited service has to have (BIP 159). */
export const RECENT_BLOCKS = 288

/** A record of a block or undo file that turned out not to be what was stored. */
export interface Loss {
  readonly family: FileFamily
  /** The number of the block's header. */
  readonly id: number
  readonly height: number
  /** File, place and what was found. */
  readonly reason: string
}

/** Whether a block was connected and its undo data are not in the undo files any more. The first block needs none. */
export const lacksUndo = (index: BlockIndex, id: number): boolean =>
  id !== 0 && index.has(id, Status.VALID) && !index.has(id, Status.HAVE_UNDO)

/** The best chain, as far as it is judged. */
interface BestChain {
  readonly isActive: (id: number) => boolean
  readonly at: (height: number) => number
  readonly settledHeight: number
}

/**
 * Which blocks of the best chain are not in the block files any more: their file was shortened or deleted, or their
 * record is damaged. The node asks peers for them; until they are back it knows what the blocks did, and cannot show them.
 *
 * Invariant: each block of the best chain has its bytes, or is in `missing`.
 */
export class BlockLosses {
  private readonly index: BlockIndex
  private readonly chain: BestChain
  private readonly missing = new Set<number>()
  /** Blocks of the best chain whose undo data were lost. */
  private readonly withoutUndo = new Set<number>()
  private untold: Array<Loss> = []
  private readonly listeners = new Set<() => void>()
  private waiting: number | undefined
  /** How often a peer said, or showed by silence, that it does not have the block that is waited for. */
  private refused = 0
  /** Missing blocks that were waited for in vain: no branch is gone to that leaves the chain below one of them. */
  private readonly givenUp = new Set<number>()

  constructor(index: BlockIndex, chain: BestChain) {
    this.index = index
    this.chain = chain
  }

  /** Returns the way to stop listening. The listener hears of each change, in the middle of the work that makes it. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  private changed(): void {
    for (const listener of this.listeners) listener()
  }

  /** Looks through the whole best chain, from the tip down: the last blocks, which `/ready` waits for, are asked for first. */
  look(active: ReadonlyArray<number>): void {
    this.missing.clear()
    this.withoutUndo.clear()
    for (const id of active.toReversed()) {
      if (!this.index.has(id, Status.HAVE_DATA)) this.missing.add(id)
      if (lacksUndo(this.index, id)) this.withoutUndo.add(id)
    }
    this.changed()
  }

  /** Notes a record that cannot be used any more: it counts as missing from now on. */
  lose(loss: Loss): void {
    const { family, id } = loss
    this.index.clearStatus(id, family === "blk" ? Status.HAVE_DATA : Status.HAVE_UNDO)
    if (this.index.has(id, Status.VALID)) (family === "blk" ? this.missing : this.withoutUndo).add(id)
    this.untold.push(loss)
    this.changed()
  }

  /** A block is stored. Returns whether branches can be gone to again that were given up. */
  regained(id: number): boolean {
    const opened = this.givenUp.delete(id)
    if (this.missing.delete(id)) this.changed()
    return opened
  }

  /** What was lost since the last call. */
  takeUntold(): ReadonlyArray<Loss> {
    const untold = this.untold
    this.untold = []
    return untold
  }

  /** The missing blocks of the best chain, by the numbers of their headers. */
  *ids(): Iterable<number> {
    for (const id of this.missing) {
      if (this.index.has(id, Status.HAVE_DATA)) this.missing.delete(id)
      else if (this.chain.isActive(id)) yield id
    }
  }

  /** Whether a block of the best chain is missing. */
  has(id: number): boolean {
    return this.missing.has(id) && !this.index.has(id, Status.HAVE_DATA) && this.chain.isActive(id)
  }

  /** How many blocks of the best chain are missing. */
  get count(): number {
    let count = 0
    for (const _ of this.ids()) count++
    return count
  }

  /** Whether any block of the best chain is missing. */
  get any(): boolean {
    for (const _ of this.ids()) return true
    return false
  }

  /** Whether one of the last `RECENT_BLOCKS` is missing. */
  get recent(): boolean {
    return this.isRecentMissing(() => true)
  }

  /** The same, but for those that were waited for in vain. */
  get recentAwaited(): boolean {
    return this.isRecentMissing((id) => !this.givenUp.has(id))
  }

  private isRecentMissing(counts: (id: number) => boolean): boolean {
    if (this.missing.size === 0) return false
    const { settledHeight } = this.chain
    for (let height = Math.max(0, settledHeight - RECENT_BLOCKS + 1); height <= settledHeight; height++) {
      const id = this.chain.at(height)
      if (!this.index.has(id, Status.HAVE_DATA) && counts(id)) return true
    }
    return false
  }

  /** Whether the undo data of one of the last `RECENT_BLOCKS` are lost. A block that is connected anew has them again. */
  get recentUndo(): boolean {
    for (const id of this.withoutUndo) {
      if (!lacksUndo(this.index, id)) this.withoutUndo.delete(id)
      else if (this.chain.isActive(id) && this.index.height(id) > this.chain.settledHeight - RECENT_BLOCKS) return true
    }
    return false
  }

  /** The block that a reorganisation has to take back and cannot, because it is missing. */
  get waitsFor(): number | undefined {
    return this.waiting
  }

  waitFor(id: number | undefined): void {
    if (this.waiting === id) return
    this.waiting = id
    this.refused = 0
    this.changed()
  }

  /** Notes that a peer does not have a block. */
  refusedBy(id: number): void {
    if (this.waiting !== id) return
    this.refused++
    this.changed()
  }

  /** How often a peer did not have the block that is waited for. */
  get refusals(): number {
    return this.refused
  }

  /** Gives the block up that is waited for, until it comes. */
  giveUp(): void {
    if (this.waiting === undefined) return
    this.givenUp.add(this.waiting)
    this.waitFor(undefined)
  }

  /** The missing block that keeps the chain from a branch which was given up. */
  get inTheWay(): number | undefined {
    for (const id of this.givenUp) if (this.has(id)) return id
    return undefined
  }

  /** Whether a reorganisation needs a block that is missing: it is asked for from any peer. */
  needs(id: number): boolean {
    return this.waiting === id || this.givenUp.has(id)
  }

  /** Whether the way to a block leads back over one that was given up. */
  bars(id: number): boolean {
    const { index } = this
    for (const missing of this.givenUp) {
      const height = index.height(missing)
      if (this.has(missing) && (index.height(id) < height || index.ancestor(id, height) !== missing)) return true
    }
    return false
  }
}
