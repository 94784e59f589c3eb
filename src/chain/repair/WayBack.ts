import { displayHash } from "../../protocol/bytes.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"
import type { StoredBlocks } from "../state/StoredBlocks.ts"

interface BlocksAndUndo {
  readonly index: BlockIndex
  readonly stored: StoredBlocks
  readonly beyondRepair: (found: string) => StorageCorrupted
}

/** Blocks that are read before the first of them is taken back. What lies deeper is found out on the way. */
const LOOK_AHEAD = 300

/**
 * Whether the chain can go back to where another branch left it. Each block on the way and its undo data are read before
 * the first step, so that the chain does not end up between two branches because a record is damaged.
 */
export class WayBack {
  private readonly state: BlocksAndUndo
  /** Where the way that was looked at leads; all that it passes was sound. */
  private clearTo: number | undefined

  constructor(state: BlocksAndUndo) {
    this.state = state
  }

  /**
   * The first block on the way from the tip back to `fork` that is missing. Throws `StorageCorrupted` where undo data are
   * lost: only the blocks from the first one on give the coins of an earlier block again.
   */
  obstacle(tip: number, fork: number): number | undefined {
    if (tip === fork) {
      this.clearTo = undefined
      return undefined
    }
    const { index } = this.state
    const depth = this.clearTo === fork ? 1 : LOOK_AHEAD
    for (let id = tip, left = depth; id !== fork && left > 0; id = index.parent(id), left--) {
      if (!index.has(id, Status.HAVE_UNDO)) throw this.withoutUndo(id)
      if (depth > 1 && !this.isSound(id)) return id
      if (!index.has(id, Status.HAVE_DATA)) return id
    }
    this.clearTo = fork
    return undefined
  }

  private isSound(id: number): boolean {
    try {
      this.state.stored.block(id)
    } catch (cause) {
      if (cause instanceof StorageCorrupted) return false
      throw cause
    }
    try {
      this.state.stored.undo(id)
    } catch (cause) {
      throw cause instanceof StorageCorrupted ? this.withoutUndo(id) : cause
    }
    return true
  }

  private withoutUndo(id: number): StorageCorrupted {
    const block = `block ${displayHash(this.state.index.hash(id))} at height ${this.state.index.height(id)}`
    return this.state.beyondRepair(`${block} has to be taken back, and its undo data are lost`)
  }
}
