import SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from "node:fs"
import { syncDirectoryNow } from "../../base/atomicFile.ts"
import { doAside, renameFile, syncFile, writeAll } from "../../base/disk.ts"
import { PRIVATE_FILE } from "../../base/privateFile.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { guarded, storageFailure } from "../../storage/Database.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { findDamage, type Inspected } from "../../storage/inspect.ts"
import { attempt } from "../attempt.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "../index/BlockIndex.ts"
import { backgroundDirectory, removeBackground } from "../snapshot/snapshotState.ts"
import { chainStateFile, hasChainState, inspected } from "../state/ChainDatabase.ts"

const REMEDY = "Start the node again: it validates the blocks below the snapshot from the beginning"

const backgroundDatabase = (chainstateDirectory: string): Inspected => ({
  ...inspected(backgroundDirectory(chainstateDirectory)),
  what: "chainstate_background",
  remedy: REMEDY
})

export const backgroundFile = (chainstateDirectory: string): string =>
  chainStateFile(backgroundDirectory(chainstateDirectory))

/** The damage of the background database, which must not be open. */
export const damageOfBackground = (
  chainstateDirectory: string
): Effect.Effect<string | undefined, StorageFailure, DataHealth> => findDamage(backgroundDatabase(chainstateDirectory))

const writeNew = (path: string, bytes: Uint8Array): void => {
  const descriptor = openSync(path, "wx", PRIVATE_FILE)
  try {
    writeAll(descriptor, bytes)
  } finally {
    closeSync(descriptor)
  }
}

/** Copies a database page by page, yielding to the event loop. Durable when it ends. */
const copy = ({ from, to }: { readonly from: string; readonly to: string }): Effect.Effect<void, StorageFailure> => {
  const draft = `${to}.new`
  return Effect.tryPromise({
    try: async () => {
      rmSync(draft, { force: true })
      const source = new SQLite(from, { readonly: true })
      try {
        await doAside({
          name: "backup",
          on: draft,
          // Holds the whole database in memory: only the small ones of simulated nodes are copied in this way.
          now: () => writeNew(draft, source.serialize()),
          later: async () => void await source.backup(draft)
        })
      } finally {
        source.close()
      }
      const descriptor = openSync(draft, "r+")
      try {
        syncFile(descriptor)
      } finally {
        closeSync(descriptor)
      }
      renameFile({ from: draft, to })
    },
    catch: storageFailure({ file: to, doing: "writing", remedy: REMEDY })
  })
}

/** Where a new database begins: at the node's own coins, whose blocks it has validated, or at genesis. */
export type Beginning = "own" | "genesis"

/** Prepares the background directory, and its database unless it begins at genesis. Removes a damaged one. */
export const prepareBackground = (
  chainstateDirectory: string,
  from: Beginning
): Effect.Effect<void, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const directory = backgroundDirectory(chainstateDirectory)
    const file = chainStateFile(directory)
    const damage = yield* damageOfBackground(chainstateDirectory)
    if (damage !== undefined) {
      yield* Effect.logWarning("validation of the blocks below the snapshot restarts: its database is damaged", {
        reason: damage
      })
      yield* attempt(() => removeBackground(chainstateDirectory))
    }
    if (existsSync(file)) return
    yield* attempt(() =>
      guarded({ file: directory, doing: "creating", remedy: REMEDY }, () => {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
      })
    )
    const isSound = from === "own" && hasChainState(chainstateDirectory) &&
      (yield* findDamage(inspected(chainstateDirectory))) === undefined
    if (!isSound) return
    yield* copy({ from: chainStateFile(chainstateDirectory), to: file })
    yield* attempt(() =>
      guarded({ file: directory, doing: "creating", remedy: REMEDY }, () => syncDirectoryNow(directory))
    )
  })

/**
 * The block at which the background continues, by its hash; `undefined` to begin at genesis. It must be below the base,
 * and the index must have the undo data of all blocks up to it, since a power cut may lose the last ones.
 */
export const continuesAt = (
  index: BlockIndex,
  { base, tip }: { readonly base: HeaderId; readonly tip: Uint8Array }
): HeaderId | undefined => {
  const id = index.find(tip)
  if (id === NONE || index.height(id) > index.height(base) || index.ancestor(base, index.height(id)) !== id) {
    return undefined
  }
  for (let walk = id; walk !== GENESIS; walk = index.parent(walk)) {
    const isWhole = index.has(walk, Status.VALID) && index.has(walk, Status.HAVE_UNDO | Status.PRUNED)
    if (!isWhole) return undefined
  }
  return id
}
