import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { replaceFileNow, syncDirectoryNow } from "../../base/atomicFile.ts"
import { guarded } from "../../storage/Database.ts"

/**
 * Making the chain state anew from the stored blocks, where it cannot be mended: the node notes the reason in a file,
 * ends, and finds the file at its next start. Until everything that goes is gone the file stays, so that a start that is
 * cut short is no harm.
 */

const markerOf = (chainstateDirectory: string): string => join(chainstateDirectory, "REBUILD")

/** Notes that the chain state is to be made anew at the next start. Throws `StorageUnavailable`. */
export const requestRebuild = (chainstateDirectory: string, reason: string): void => {
  const marker = markerOf(chainstateDirectory)
  guarded(marker, "writing", "", () => replaceFileNow(marker, `${reason}\n`))
}

/** Whether the next start makes the chain state anew. */
export const rebuildRequested = (chainstateDirectory: string): boolean => existsSync(markerOf(chainstateDirectory))

/**
 * Removes the chain state and all undo data where that was asked for. Returns the reason; `undefined` where there is
 * nothing to do. To be called before anything of it is open. Throws `StorageUnavailable`.
 */
export const removeForRebuild = (chainstateDirectory: string, blocksDirectory: string): string | undefined => {
  const marker = markerOf(chainstateDirectory)
  if (!rebuildRequested(chainstateDirectory)) return undefined
  return guarded(marker, "rebuilding", "", () => {
    const reason = readFileSync(marker, "utf8").trim()
    for (const name of readdirSync(chainstateDirectory)) {
      if (name.startsWith("chainstate.db")) rmSync(join(chainstateDirectory, name), { force: true })
    }
    for (const name of readdirSync(blocksDirectory)) {
      if (/^undo\d{5}\.dat$/.test(name)) rmSync(join(blocksDirectory, name), { force: true })
    }
    for (const directory of [chainstateDirectory, blocksDirectory]) syncDirectoryNow(directory)
    rmSync(marker, { force: true })
    return reason
  })
}
