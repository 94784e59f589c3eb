import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { replaceFileNow, syncDirectoryNow } from "../../base/atomicFile.ts"
import { guarded } from "../../storage/Database.ts"
import { StorageUnavailable } from "../../storage/errors.ts"

// A pruned block directory has a marker file: its blocks cannot rebuild the chain state, and a node that does not prune
// cannot use them.

const MARKER = "PRUNED"

const markerOf = (blocksDirectory: string): string => join(blocksDirectory, MARKER)

export const isPruned = (blocksDirectory: string): boolean => existsSync(markerOf(blocksDirectory))

/** Refuses to start without pruning (upstream `node/chainstate.cpp`, `CompleteChainstateInitialization`). */
export const refuseUnpruned = (blocksDirectory: string): never => {
  throw new StorageUnavailable({
    file: blocksDirectory,
    doing: "opening",
    reason: "old blocks were pruned. You need to rebuild the database using -reindex to go back to unpruned mode. " +
      "This will redownload the entire blockchain. Or start with -prune again"
  })
}

/** Marks the directory before its first file is removed. Throws `StorageUnavailable`. */
export const markPrunedDirectory = (blocksDirectory: string): void => {
  if (isPruned(blocksDirectory)) return
  const marker = markerOf(blocksDirectory)
  guarded(
    { file: marker, doing: "writing", remedy: "" },
    () => replaceFileNow(marker, "Old blocks were pruned (-prune). Do not remove this file.\n")
  )
}

/** Block files after a gap in the numbers. */
const afterGap = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const blocks = names.filter((name) => /^blk\d{5}\.dat$/.test(name)).sort()
  const gap = blocks.findIndex((name, at) => name !== `blk${String(at).padStart(5, "0")}.dat`)
  return gap < 0 ? [] : blocks.slice(gap)
}

/**
 * Prepares a pruned directory for a chain state from genesis: removes blocks without a predecessor and all undo data,
 * to download blocks again (upstream `node/blockstorage.cpp`, `CleanupBlockRevFiles`). Removes the marker last, so that
 * a crash does no harm. Returns the number of removed files. Throws `StorageUnavailable`.
 */
export const emptyPrunedDirectory = (blocksDirectory: string): number =>
  guarded({ file: blocksDirectory, doing: "removing pruned blocks from", remedy: "" }, () => {
    const names = readdirSync(blocksDirectory)
    const useless = [...afterGap(names), ...names.filter((name) => /^undo\d{5}\.dat$/.test(name))]
    for (const name of useless) rmSync(join(blocksDirectory, name), { force: true })
    syncDirectoryNow(blocksDirectory)
    rmSync(markerOf(blocksDirectory), { force: true })
    return useless.length
  })
