import { displayHash } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"
import type { StoredBlocks } from "../state/StoredBlocks.ts"

interface BlocksAndUndo {
  readonly index: BlockIndex
  readonly stored: StoredBlocks
  readonly beyondRepair: (found: string) => StorageCorrupted
}

/** Blocks read before the first is disconnected. Deeper ones are read during the reorg. */
const LOOK_AHEAD = 300

/**
 * Checks whether the chain can return to a fork point by reading each block and its undo data before the first step, so
 * that no damaged record stops a reorg between two branches.
 */
export class WayBack {
  private readonly state: BlocksAndUndo
  /** The fork point of the last checked way, if intact. */
  private clearTo: HeaderId | undefined

  constructor(state: BlocksAndUndo) {
    this.state = state
  }

  /**
   * The first missing block on the way to `fork`. Throws `StorageCorrupted` if undo data are lost, as only a rebuild
   * from genesis restores those coins.
   */
  obstacle(tip: HeaderId, fork: HeaderId): HeaderId | undefined {
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

  private isSound(id: HeaderId): boolean {
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

  private withoutUndo(id: HeaderId): StorageCorrupted {
    const block = `block ${displayHash(this.state.index.hash(id))} at height ${this.state.index.height(id)}`
    return this.state.beyondRepair(`${block} has to be disconnected, and its undo data are lost`)
  }
}
