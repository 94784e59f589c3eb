import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { replaceFileNow, syncDirectoryNow } from "../../base/atomicFile.ts"
import { guarded } from "../../storage/Database.ts"

// Rebuilds a chain state that cannot be repaired from the stored blocks. The node writes the reason to a marker file
// and ends. The next start finds the marker and removes it last, so that a crash does no harm.

const markerOf = (chainstateDirectory: string): string => join(chainstateDirectory, "REBUILD")

export interface RebuildRequest {
  readonly chainstateDirectory: string
  readonly reason: string
}

/** Requests a rebuild at the next start. Throws `StorageUnavailable`. */
export const requestRebuild = ({ chainstateDirectory, reason }: RebuildRequest): void => {
  const marker = markerOf(chainstateDirectory)
  guarded({ file: marker, doing: "writing", remedy: "" }, () => replaceFileNow(marker, `${reason}\n`))
}

export const rebuildRequested = (chainstateDirectory: string): boolean => existsSync(markerOf(chainstateDirectory))

/**
 * If a rebuild was requested, removes the chain state and all undo data, and returns the reason. Must run before these
 * files are opened. Throws `StorageUnavailable`.
 */
export const removeForRebuild = (
  { blocksDirectory, chainstateDirectory }: { readonly blocksDirectory: string; readonly chainstateDirectory: string }
): string | undefined => {
  const marker = markerOf(chainstateDirectory)
  if (!rebuildRequested(chainstateDirectory)) return undefined
  return guarded({ file: marker, doing: "rebuilding", remedy: "" }, () => {
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
