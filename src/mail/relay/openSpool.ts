import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { chmod, readdir, readFile, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { makeDirectoryDurably, replaceFile } from "../../base/atomicFile.ts"
import { randomBytes } from "../../base/entropy.ts"
import { codeOf } from "../../base/errorCode.ts"
import { LOCK_FILE, takeLock } from "../../config/DirectoryLock.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { CLEAN_FILE, Spool } from "./Spool.ts"
import { spoolIo } from "./spoolFile.ts"
import { FILE_MODE } from "./SpoolWriter.ts"

export interface FoundMessage {
  readonly id: string
  readonly bytes: number
  /** Approximate, in milliseconds since 1970. */
  readonly arrivedAt: number
}

export interface OpenedSpool {
  readonly spool: Spool
  readonly found: ReadonlyArray<FoundMessage>
  readonly secret: Uint8Array
  /** The last relay shut down cleanly, with no delivery under way. */
  readonly clean: boolean
}

const KEY_FILE = "srs.key"
const KEY_LENGTH = 32

const READERS = 64

const lock = (directory: string): Effect.Effect<void, StorageUnavailable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const outcome = takeLock(join(directory, LOCK_FILE))
      if (outcome._tag === "Held") return Effect.succeed(outcome)
      const reason = outcome._tag === "Unusable" ?
        outcome.reason :
        `in use by another relay${outcome.pid === undefined ? "" : ` (process ${outcome.pid})`}`
      return new StorageUnavailable({ file: directory, doing: "opening", reason })
    }),
    (held) => Effect.sync(held.release)
  )

/** Creates the spool if missing, locks it, deletes incomplete files, and finds waiting messages, oldest first. */
export const openSpool = (directory: string): Effect.Effect<OpenedSpool, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    yield* spoolIo({ file: directory, doing: "opening" }, () => makeDirectoryDurably(directory))
    yield* lock(directory)
    const secret = yield* readKey(directory)
    const spool = new Spool(directory)
    const files = yield* spoolIo({ file: directory, doing: "reading" }, () => readdir(directory))
    const clean = files.includes(CLEAN_FILE)
    if (clean) {
      yield* spoolIo({ file: directory, doing: "writing" }, () => rm(join(directory, CLEAN_FILE), { force: true }))
    }

    const names = new Set(files)
    yield* discardParts(spool, names)
    const ids = files.flatMap((file) => file.endsWith(".msg") ? [file.slice(0, -".msg".length)] : [])
    const found = yield* spoolIo({ file: directory, doing: "reading" }, () => lookAt(spool, ids))
    for (const { bytes, id } of found) spool.adopt(id, bytes, names.has(`${id}.log`))
    found.sort((a, b) => a.arrivedAt - b.arrivedAt)
    return { spool, found, secret, clean }
  })

const lookAt = async (spool: Spool, ids: ReadonlyArray<string>): Promise<Array<FoundMessage>> => {
  const found: Array<FoundMessage> = []
  for (let from = 0; from < ids.length; from += READERS) {
    found.push(
      ...await Promise.all(
        ids.slice(from, from + READERS).map(async (id) => {
          const { mtimeMs, size } = await stat(spool.path(id, "msg"))
          return { id, bytes: size, arrivedAt: mtimeMs }
        })
      )
    )
  }
  return found
}

/** Messages whose clients never got 250, and logs of deleted messages. */
const discardParts = (spool: Spool, names: ReadonlySet<string>): Effect.Effect<void, StorageUnavailable> =>
  Effect.gen(function*() {
    const files = [...names]
    const parts = files.filter((file) => file.endsWith(".part"))
    const logs = files.filter((file) => file.endsWith(".log") && !names.has(file.replace(/log$/, "msg")))
    for (const file of [...parts, ...logs]) {
      yield* spoolIo(
        { file: spool.directory, doing: "writing" },
        () => rm(join(spool.directory, file), { force: true })
      )
    }
    if (parts.length > 0) {
      yield* Effect.logWarning("incomplete messages are discarded", { messages: parts.length })
    }
  })

/** The secret of rewritten senders; a new one is readable by this user only. */
const readKey = (directory: string): Effect.Effect<Uint8Array, StorageFailure> =>
  Effect.gen(function*() {
    const path = join(directory, KEY_FILE)
    const existing = yield* spoolIo({ file: path, doing: "reading" }, () => readFile(path).catch(missing))
    if (existing !== undefined && existing.length === KEY_LENGTH) {
      yield* spoolIo({ file: path, doing: "closing to others" }, () => chmod(path, FILE_MODE))
      return existing
    }
    if (existing !== undefined) {
      const remedy = "Restore it from a backup, or delete it: bounces of mail forwarded before are then refused"
      return yield* new StorageCorrupted({ file: path, found: `${existing.length} bytes, not ${KEY_LENGTH}`, remedy })
    }
    const key = randomBytes(KEY_LENGTH)
    yield* spoolIo({ file: path, doing: "writing" }, () => replaceFile(path, [key]))
    return key
  })

const missing = (error: unknown): undefined => {
  if (codeOf(error) === "ENOENT") return undefined
  throw error
}
