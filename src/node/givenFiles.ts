import * as Effect from "effect/Effect"
import { join } from "node:path"
import { codeOf, MISSING_FILE, reasonOf, systemCode } from "../base/errorCode.ts"
import { ImportFailed } from "../chain/errors.ts"
import { expandSource, openSource } from "../chain/import/importSource.ts"
import { SnapshotReader } from "../chain/snapshot/SnapshotReader.ts"
import { beganWithSnapshot } from "../chain/snapshot/snapshotState.ts"
import type { Settings } from "../config/settings.ts"
import { paramsOf } from "../consensus/params.ts"
import { displayHash, equal } from "../protocol/bytes.ts"
import { networks } from "../protocol/networks.ts"

const onFile = <A>(file: string, work: () => A): Effect.Effect<A, ImportFailed> =>
  Effect.try({
    try: work,
    catch: (cause) => new ImportFailed({ file, reason: reasonOf(codeOf(cause), MISSING_FILE), code: systemCode(cause) })
  })

const checkBlocks = (path: string): Effect.Effect<void, ImportFailed> =>
  onFile(path, () => {
    for (const file of expandSource(path).files) openSource(file).close()
  })

const checkSnapshot = (path: string, { network, snapshotHash }: Settings["chain"]): Effect.Effect<void, ImportFailed> =>
  Effect.gen(function*() {
    const metadata = yield* onFile(path, () => {
      const reader = new SnapshotReader(path)
      try {
        return reader.metadata(networks[network])
      } finally {
        reader.close()
      }
    })
    if (typeof metadata === "string") {
      return yield* new ImportFailed({ file: path, reason: `Unable to parse metadata: ${metadata}` })
    }
    const isKnown = paramsOf(networks[network]).snapshots.some(({ block }) => equal(block, metadata.base))
    if (isKnown || snapshotHash !== undefined) return
    return yield* new ImportFailed({
      file: path,
      reason: `svcd knows no hash for a snapshot of the block ${displayHash(metadata.base)}. If you trust the file, ` +
        "start with -snapshothash and its txoutset_hash"
    })
  })

/**
 * Checks files of the command line before the node changes anything. The chain's first snapshot is no longer needed.
 */
export const checkGivenFiles = ({ chain }: Settings): Effect.Effect<void, ImportFailed> =>
  Effect.gen(function*() {
    yield* Effect.forEach(chain.loadBlocks, checkBlocks, { discard: true })
    const { dataDir, loadSnapshot } = chain
    if (loadSnapshot === undefined || beganWithSnapshot(join(dataDir, "chainstate"))) return
    yield* checkSnapshot(loadSnapshot, chain)
  })
