import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { syncDirectoryNow } from "../base/atomicFile.ts"
import { requestRebuild } from "../chain/repair/rebuild.ts"
import { chainStateInUse, dropSnapshot, snapshotDirectory } from "../chain/snapshot/snapshotState.ts"
import { guarded } from "../storage/Database.ts"

/** What the operator has rebuilt from the stored blocks: the chain state with the names, or all indexes as well. */
export type Reindex = "chainstate" | "all"

export interface ReindexDirectories {
  /** The data directory: `names.db` is there. */
  readonly path: string
  readonly chainstate: string
}

/** The databases that the node derives from blocks, besides `chainstate.db`. Wallets keep theirs: it has the order of arrival. */
const isIndex = (name: string): boolean => /^[a-z]+\.db/.test(name) && !/^(chainstate|wallet)\.db/.test(name)

const removeFrom = (directory: string, isDerived: (name: string) => boolean): void => {
  const names = readdirSync(directory).filter(isDerived)
  for (const name of names) rmSync(join(directory, name), { force: true })
  if (names.length > 0) syncDirectoryNow(directory)
}

/**
 * Removes what `-reindex` and `-reindex-chainstate` rebuild, before these files are opened. The chain state goes last and
 * through its marker: a node killed meanwhile rebuilds it at the next start, without the flag. Throws `StorageUnavailable`.
 */
export const reindex = ({ chainstate, path }: ReindexDirectories, what: Reindex): void => {
  // A validated snapshot is the node's own chain state. Any other cannot be rebuilt from the stored blocks.
  chainStateInUse(chainstate)
  dropSnapshot(snapshotDirectory(chainstate))
  if (!existsSync(join(chainstate, "chainstate.db"))) return
  guarded({ file: chainstate, doing: "reindexing", remedy: "" }, () => {
    removeFrom(path, (name) => name.startsWith("names.db"))
    if (what === "all") removeFrom(chainstate, isIndex)
  })
  requestRebuild({
    chainstateDirectory: chainstate,
    reason: what === "all" ? "asked for by -reindex" : "asked for by -reindex-chainstate"
  })
}
