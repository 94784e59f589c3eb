import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { BlockFiles } from "../../storage/BlockFiles.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"

/** Blocks below the tip that are never pruned, because a reorg may disconnect them (upstream `MIN_BLOCKS_TO_KEEP`). */
export const BLOCKS_KEPT = 288

/** Free bytes below the target, so that files do not exceed it before the next look (upstream `FindFilesToPrune`). */
export const FREE_BYTES = 17 * 1024 * 1024

/** A block file that is no longer appended to. */
export interface OldFile {
  readonly number: number
  /** Bytes of its blocks and their undo data. */
  readonly bytes: number
  readonly highest: Height
}

export interface PruneLimits {
  readonly last: Height
  /** Bytes of all block and undo files, and their limit; `Infinity` and 0 to prune all that is allowed. */
  readonly usage: number
  readonly target: number
}

/**
 * The files to prune, oldest first, until the rest is below the target: those without blocks above the last prunable
 * one. Source: upstream `node/blockstorage.cpp`, `FindFilesToPrune`, `FindFilesToPruneManual`.
 */
export const filesToPrune = (
  files: ReadonlyArray<OldFile>,
  { last, target, usage }: PruneLimits
): ReadonlySet<number> => {
  const chosen = new Set<number>()
  let left = usage
  for (const { bytes, highest, number } of files) {
    if (left + FREE_BYTES < target) break
    if (highest > last) continue
    chosen.add(number)
    left -= bytes
  }
  return chosen
}

/** The block files that may be pruned, in order. Reads the whole index in some milliseconds. */
export const oldFiles = (index: BlockIndex, files: Pick<BlockFiles, "lastOf">): ReadonlyArray<OldFile> => {
  const found = new Map<number, { bytes: number; highest: Height }>()
  const last = files.lastOf("blk")
  for (const id of index.ids()) {
    if (!index.has(id, Status.HAVE_DATA)) continue
    const { file, size } = index.dataPlace(id)
    if (file >= last) continue
    const known = found.get(file) ?? { bytes: 0, highest: 0 }
    found.set(file, known)
    known.bytes += size + (index.has(id, Status.HAVE_UNDO) ? index.undoPlace(id).size : 0)
    known.highest = Math.max(known.highest, index.height(id))
  }
  return [...found].map(([number, facts]) => ({ number, ...facts })).sort((a, b) => a.number - b.number)
}

/** Marks the blocks of files as pruned and returns them. */
export const markPruned = (index: BlockIndex, numbers: ReadonlySet<number>): ReadonlyArray<HeaderId> => {
  const pruned: Array<HeaderId> = []
  for (const id of index.ids()) {
    if (!index.has(id, Status.HAVE_DATA) || !numbers.has(index.dataPlace(id).file)) continue
    index.clearStatus(id, Status.HAVE_DATA | Status.HAVE_UNDO)
    index.addStatus(id, Status.PRUNED)
    pruned.push(id)
  }
  return pruned
}

/**
 * Removes files whose blocks are all pruned, and undo files without records. Runs after the commit of the marks, and at
 * the start in case the node was killed in between. Returns the number of bytes. Throws `StorageUnavailable`.
 */
export const removePruned = (index: BlockIndex, files: BlockFiles): number => {
  const emptied = new Set<number>()
  index.each((id, status) => {
    if ((status & (Status.PRUNED | Status.HAVE_DATA)) === Status.PRUNED) emptied.add(index.dataPlace(id).file)
  })
  if (emptied.size === 0) return 0
  const needed = { blk: new Set([files.lastOf("blk")]), undo: new Set([files.lastOf("undo")]) }
  index.each((id, status) => {
    if ((status & Status.HAVE_DATA) !== 0) needed.blk.add(index.dataPlace(id).file)
    if ((status & Status.HAVE_UNDO) !== 0) needed.undo.add(index.undoPlace(id).file)
  })
  const free = [
    ...files.numbers("blk").filter((number) => emptied.has(number) && !needed.blk.has(number)).map((number) =>
      ["blk", number] as const
    ),
    ...files.numbers("undo").filter((number) => !needed.undo.has(number)).map((number) => ["undo", number] as const)
  ]
  let bytes = 0
  for (const [family, number] of free) bytes += files.remove(family, number)
  if (free.length > 0) files.syncRemovals()
  return bytes
}
