import type { Height } from "../../protocol/keys.ts"
import type { BlockFiles } from "../../storage/BlockFiles.ts"
import type { BlockIndex } from "../index/BlockIndex.ts"
import type { BlockLosses } from "../repair/BlockLosses.ts"
import type { ActiveChain } from "../state/ActiveChain.ts"
import type { Forks } from "../state/Forks.ts"
import type { StoredBlocks } from "../state/StoredBlocks.ts"
import { markPrunedDirectory } from "./prunedDirectory.ts"
import { BLOCKS_KEPT, filesToPrune, FREE_BYTES, markPruned, oldFiles, removePruned } from "./pruneFiles.ts"

export interface PruneOptions {
  /** The limit of block and undo files together, in bytes; `undefined` to prune only on request. */
  readonly target: number | undefined
  /** The height from which pruning is allowed (upstream `kernel/chainparams.cpp`, `nPruneAfterHeight`). */
  readonly after: Height
}

export interface PruningParts {
  readonly index: BlockIndex
  readonly active: ActiveChain
  readonly files: BlockFiles
  readonly losses: BlockLosses
  readonly stored: StoredBlocks
  readonly forks: Forks
  readonly blocksDirectory: string
}

/** Bytes and blocks until the next look at the files if none could be pruned. */
const AGAIN = { bytes: 1024 * 1024, blocks: 32 }

/**
 * Prunes old blocks with their undo data, whole files at a time. A file is removed once its blocks are marked in the
 * index on disk, so a crash at worst leaves unreferenced files for the next start to remove. `ChainWriter` calls it.
 * Methods throw `StorageFailure`.
 */
export class Pruning {
  /** `undefined` if the node does not prune. */
  readonly options: PruneOptions | undefined
  private readonly parts: PruningParts
  private begun = false
  /** When the files exceeded the target and none could be pruned. */
  private stuck: { readonly bytes: number; readonly height: Height } | undefined

  constructor(parts: PruningParts, options: PruneOptions | undefined) {
    this.parts = parts
    this.options = options
  }

  /** To be called once all followers that need old blocks are registered. */
  begin(): void {
    this.begun = true
  }

  get due(): boolean {
    const { active: { settledHeight }, files: { sizeOnDisk } } = this.parts
    const { stuck } = this
    if (!this.begun || this.options?.target === undefined || settledHeight <= this.options.after) return false
    if (this.parts.losses.needsOldBlocks) return false
    if (sizeOnDisk + FREE_BYTES < this.options.target) return false
    return stuck === undefined || sizeOnDisk >= stuck.bytes + AGAIN.bytes ||
      settledHeight >= stuck.height + AGAIN.blocks
  }

  lastPrunable(wanted: Height): Height {
    return Math.min(wanted, this.parts.active.settledHeight - BLOCKS_KEPT)
  }

  /**
   * Marks blocks as pruned, up to a height or as the target demands, but none above `limit`. Returns whether there are
   * any. The caller then stores the index and calls `remove`.
   */
  mark({ limit, upTo }: { readonly limit: Height; readonly upTo: Height | undefined }): boolean {
    const { active, blocksDirectory, files, forks, index, losses, stored } = this.parts
    if (losses.needsOldBlocks) return false
    const last = this.lastPrunable(Math.min(limit, upTo ?? limit))
    const numbers = filesToPrune(oldFiles(index, files), {
      last,
      usage: upTo === undefined ? files.sizeOnDisk : Infinity,
      target: upTo === undefined ? this.options?.target ?? Infinity : 0
    })
    this.stuck = numbers.size === 0 ? { bytes: files.sizeOnDisk, height: active.settledHeight } : undefined
    if (numbers.size === 0) return false
    markPrunedDirectory(blocksDirectory)
    let highest = 0
    for (const id of markPruned(index, numbers)) {
      stored.forget(id)
      if (active.isActive(id)) highest = Math.max(highest, index.height(id))
    }
    losses.pruned(highest)
    forks.findCandidates()
    return true
  }

  /** Removes the files of blocks whose marks are stored. Returns the number of bytes. */
  remove(): number {
    return removePruned(this.parts.index, this.parts.files)
  }
}
