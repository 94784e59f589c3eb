import * as Effect from "effect/Effect"
import { join } from "node:path"
import { constants, gunzipSync } from "node:zlib"
import { codeOf, type ErrorWords, reasonOf } from "../base/errorCode.ts"
import { ImportFailed } from "../chain/errors.ts"
import { expandSource, openSource, type SourceFile } from "../chain/import/importSource.ts"
import { scanRecords } from "../chain/import/scanRecords.ts"
import { SnapshotReader } from "../chain/snapshot/SnapshotReader.ts"
import { beganWithSnapshot } from "../chain/snapshot/snapshotState.ts"
import type { Settings } from "../config/settings.ts"
import { paramsOf } from "../consensus/params.ts"
import { displayHash, equal } from "../protocol/bytes.ts"
import { networks } from "../protocol/networks.ts"

const MISSING: ErrorWords = new Map([["ENOENT", "there is no such file"]])

/** Runs work on a file of the command line. Its errors name the file. */
const onFile = <A>(file: string, work: () => A): Effect.Effect<A, ImportFailed> =>
  Effect.try({ try: work, catch: (cause) => new ImportFailed({ file, reason: reasonOf(codeOf(cause), MISSING) }) })

/** Bytes of a packed file that are unpacked to look for a block. */
const PACKED_BYTES = 65_536

const beginsForeign = (bytes: Buffer): boolean =>
  Object.values(networks).some(({ magic }) => bytes.subarray(0, magic.length).equals(magic))

/**
 * Whether a packed file may have a record. Only its beginning is unpacked. A longer file is refused only if it begins with a
 * record of another network. What does not unpack is refused by the import.
 */
const mayHaveBlock = (source: SourceFile, magic: Uint8Array): boolean => {
  try {
    const bytes = gunzipSync(source.read(0, PACKED_BYTES), { finishFlush: constants.Z_SYNC_FLUSH })
    return bytes.includes(Buffer.from(magic)) || (source.size > PACKED_BYTES && !beginsForeign(bytes))
  } catch {
    return true
  }
}

const hasBlock = (source: SourceFile, magic: Uint8Array): boolean =>
  scanRecords(source, { magic, trouble: () => {} })[Symbol.iterator]().next().done !== true

/** Opens the block files of a path. One of them must have a block of the network: otherwise the path is a mistake. */
const checkBlocks = ({ network }: Settings) => (path: string): Effect.Effect<void, ImportFailed> =>
  Effect.flatMap(
    onFile(path, () => {
      const { magic } = networks[network]
      const { files, key, packed } = expandSource(path)
      let found = false
      for (const file of files) {
        const source = openSource(file, key)
        try {
          found ||= packed ? mayHaveBlock(source, magic) : hasBlock(source, magic)
        } finally {
          source.close()
        }
      }
      return found
    }),
    (found) =>
      found
        ? Effect.void
        : new ImportFailed({
          file: path,
          reason:
            `it has no block of ${network}: give a block file of this network, or choose its network with -network`
        })
  )

/** Reads the metadata of a snapshot. */
const checkSnapshot = (path: string, { network, snapshotHash }: Settings): Effect.Effect<void, ImportFailed> =>
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
 * Checks the files of the command line before the node makes or changes anything. A snapshot that the chain began with is
 * not needed any more.
 */
export const checkGivenFiles = (settings: Settings): Effect.Effect<void, ImportFailed> =>
  Effect.gen(function*() {
    yield* Effect.forEach(settings.loadBlocks, checkBlocks(settings), { discard: true })
    const { dataDir, loadSnapshot } = settings
    if (loadSnapshot === undefined || beganWithSnapshot(join(dataDir, "chainstate"))) return
    yield* checkSnapshot(loadSnapshot, settings)
  })
