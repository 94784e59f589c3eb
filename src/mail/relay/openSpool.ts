import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { chmod, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { LOCK_FILE, takeLock } from "../../config/DirectoryLock.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { afterRecord, decodeRecords, type DeliveryState, initialState } from "./deliveryState.ts"
import type { Envelope } from "./envelope.ts"
import { syncDirectory } from "./GroupCommit.ts"
import { CLEAN_FILE, Spool } from "./Spool.ts"
import { storageUnavailable } from "./spoolErrors.ts"
import { decodeEnvelope, decodePrologue, type Prologue, PROLOGUE_LENGTH } from "./spoolFile.ts"
import { FILE_MODE } from "./SpoolWriter.ts"

/** A message that was in the spool when the relay started. */
export interface FoundMessage {
  readonly envelope: Envelope
  readonly bodyLength: number
  readonly state: DeliveryState
}

export interface OpenedSpool {
  readonly spool: Spool
  readonly found: ReadonlyArray<FoundMessage>
  /** The key of rewritten senders. */
  readonly secret: Uint8Array
  /** Whether the last relay ended properly, so that none of its deliveries can have been under way. */
  readonly clean: boolean
}

const DIRECTORY_MODE = 0o700
const KEY_FILE = "srs.key"
const KEY_LENGTH = 32
const CORRUPT_DIRECTORY = "corrupt"

/** Files that are read at the same time. */
const READERS = 8

/** Bytes that are read at a time to check a file. */
const PIECE = 1_048_576

/** An envelope of the most recipients with the longest addresses is smaller. */
const LONGEST_ENVELOPE = 16 * 1_048_576

const attempt = <A>(path: string, doing: string, run: () => Promise<A>): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({ try: run, catch: (error) => storageUnavailable(path, doing, error) })

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

/**
 * Opens the spool, and makes it where it is missing. It stays locked while the scope is open. Deletes what a crash left
 * half written, puts aside what does not hold what it should, and returns the messages that wait, oldest first.
 */
export const openSpool = (directory: string): Effect.Effect<OpenedSpool, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    yield* attempt(directory, "opening", () => mkdir(directory, { recursive: true, mode: DIRECTORY_MODE }))
    yield* lock(directory)
    const secret = yield* readKey(directory)
    const spool = new Spool(directory)
    const files = yield* attempt(directory, "reading", () => readdir(directory))
    const clean = files.includes(CLEAN_FILE)
    if (clean) yield* attempt(directory, "writing", () => rm(join(directory, CLEAN_FILE), { force: true }))

    yield* discardParts(spool, files)
    const ids = files.flatMap((file) => file.endsWith(".msg") ? [file.slice(0, -".msg".length)] : [])
    const read = yield* Effect.forEach(ids, (id) => readMessage(spool, id), { concurrency: READERS })
    const found = read.filter((each) => each !== undefined)
    for (const { bodyLength, envelope } of found) spool.adopt(envelope.id, bodyLength)
    found.sort((a, b) => a.envelope.arrivedAt - b.envelope.arrivedAt)
    return { spool, found, secret, clean }
  })

/** Deletes messages whose clients were never told 250, and logs of messages that are gone. */
const discardParts = (spool: Spool, files: ReadonlyArray<string>): Effect.Effect<void, StorageUnavailable> =>
  Effect.gen(function*() {
    const messages = new Set(files)
    const parts = files.filter((file) => file.endsWith(".part"))
    const logs = files.filter((file) => file.endsWith(".log") && !messages.has(file.replace(/log$/, "msg")))
    for (const file of [...parts, ...logs]) {
      yield* attempt(spool.directory, "writing", () => rm(join(spool.directory, file), { force: true }))
    }
    if (parts.length > 0) {
      yield* Effect.logWarning("messages that were not received whole are discarded", { messages: parts.length })
    }
  })

const readMessage = (spool: Spool, id: string): Effect.Effect<FoundMessage | undefined, StorageUnavailable> =>
  Effect.gen(function*() {
    const path = spool.path(id, "msg")
    const message = yield* attempt(path, "reading", () => readChecked(path))
    if (message === undefined || message.envelope.id !== id) {
      yield* Effect.logError("a damaged message is put aside", { file: `${CORRUPT_DIRECTORY}/${id}.msg` })
      yield* attempt(path, "moving", () => putAside(spool, id))
      return undefined
    }
    const log = yield* attempt(spool.path(id, "log"), "reading", () => readIfThere(spool.path(id, "log")))
    const state = decodeRecords(log).reduce(
      (state, record) => afterRecord(message.envelope, state, record),
      initialState(message.envelope)
    )
    return { ...message, state }
  })

const putAside = async (spool: Spool, id: string): Promise<void> => {
  const target = join(spool.directory, CORRUPT_DIRECTORY)
  await mkdir(target, { recursive: true, mode: DIRECTORY_MODE })
  await rename(spool.path(id, "msg"), join(target, `${id}.msg`))
  await rename(spool.path(id, "log"), join(target, `${id}.log`)).catch(missing)
}

const readIfThere = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return ""
    throw error
  }
}

/** Reads a spool file's envelope and checks all of it; `undefined` where it is not whole. */
const readChecked = async (path: string): Promise<Omit<FoundMessage, "state"> | undefined> => {
  const file = await open(path, "r")
  try {
    const { buffer } = await file.read(Buffer.alloc(PROLOGUE_LENGTH), 0, PROLOGUE_LENGTH, 0)
    const prologue = decodePrologue(buffer)
    if (prologue === undefined || prologue.envelopeLength > LONGEST_ENVELOPE) return undefined
    if ((await file.stat()).size !== sizeOf(prologue)) return undefined
    let crc = 0
    const piece = Buffer.alloc(Math.min(PIECE, prologue.bodyLength))
    for (let at = 0; at < prologue.bodyLength;) {
      const length = Math.min(piece.length, prologue.bodyLength - at)
      const { bytesRead } = await file.read(piece, 0, length, PROLOGUE_LENGTH + at)
      if (bytesRead === 0) return undefined
      crc = crc32(piece.subarray(0, bytesRead), crc)
      at += bytesRead
    }
    const json = Buffer.alloc(prologue.envelopeLength)
    await file.read(json, 0, json.length, PROLOGUE_LENGTH + prologue.bodyLength)
    const envelope = crc32(json, crc) === prologue.crc ? decodeEnvelope(json) : undefined
    return envelope === undefined ? undefined : { envelope, bodyLength: prologue.bodyLength }
  } finally {
    await file.close()
  }
}

const sizeOf = ({ bodyLength, envelopeLength }: Prologue): number => PROLOGUE_LENGTH + bodyLength + envelopeLength

/** Reads the secret of rewritten senders, or makes one that nobody else can read. */
const readKey = (directory: string): Effect.Effect<Uint8Array, StorageFailure> =>
  Effect.gen(function*() {
    const path = join(directory, KEY_FILE)
    const existing = yield* attempt(path, "reading", () => readFile(path).catch(missing))
    if (existing !== undefined && existing.length === KEY_LENGTH) {
      yield* attempt(path, "closing to others", () => chmod(path, FILE_MODE))
      return existing
    }
    if (existing !== undefined) {
      const remedy = "Restore it from a backup, or delete it: bounces of mail forwarded before are then refused"
      return yield* new StorageCorrupted({ file: path, found: `${existing.length} bytes, not ${KEY_LENGTH}`, remedy })
    }
    const key = randomBytes(KEY_LENGTH)
    yield* attempt(path, "writing", async () => {
      const draft = `${path}.new`
      const file = await open(draft, "w", FILE_MODE)
      try {
        await file.writeFile(key)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      await syncDirectory(directory)
    })
    return key
  })

const missing = (error: unknown): undefined => {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
  throw error
}
