import { createReadStream } from "node:fs"
import { open, readFile, rename, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { codeOf } from "../../base/errorCode.ts"
import { makeDirectory } from "../../base/makeDirectory.ts"
import type { Queued } from "./deliveryState.ts"
import { afterRecord, decodeRecords, type DeliveryRecord, encodeRecord, initialState } from "./deliveryState.ts"
import type { Envelope } from "./envelope.ts"
import { GroupCommit } from "./GroupCommit.ts"
import { readSpoolFile } from "./readSpoolFile.ts"
import { PROLOGUE_LENGTH } from "./spoolFile.ts"
import { FILE_MODE, SpoolWriter } from "./SpoolWriter.ts"

/**
 * The messages that this relay has answered for. One directory:
 *
 * ```
 * <id>.part   a message that is coming in; of no worth after a crash, for its client was never told 250
 * <id>.msg    a message (spoolFile.ts), never changed
 * <id>.log    what happened to it since, a line a record (deliveryState.ts); there only if something did
 * corrupt/    files that do not hold what they should, kept for a person to look at
 * srs.key     the secret of rewritten senders
 * CLEAN       there while no relay runs, if the last one ended properly
 * LOCK        keeps the directory to one process
 * ```
 *
 * A message is in the spool from when its `.part`, whole and synced, is renamed and the directory is synced, until its
 * `.msg` is deleted; the directory is synced soon after that too. What throws here throws Node's own errors.
 */
export class Spool {
  readonly directory: string
  readonly #commits: GroupCommit
  #messages = 0
  #bytes = 0
  /** Messages that have a log. */
  readonly #logged = new Set<string>()
  /** Messages that were just written, for they are about to be delivered. */
  readonly #recent = new Map<string, Buffer>()
  #recentBytes = 0

  constructor(directory: string) {
    this.directory = directory
    this.#commits = new GroupCommit(directory)
  }

  get messages(): number {
    return this.#messages
  }

  /** Of the messages' own bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a message that was found at the start. */
  adopt(id: string, bytes: number, hasLog: boolean): void {
    if (hasLog) this.#logged.add(id)
    this.#count(bytes)
  }

  /** Reads a message, all of it, and what happened to it; `undefined` where it does not hold what it should. */
  async load(id: string): Promise<Queued | undefined> {
    const message = await readSpoolFile(this.path(id, "msg"))
    if (message === undefined || message.envelope.id !== id) return undefined
    const { bodyLength, envelope } = message
    const records = this.#logged.has(id) ? decodeRecords(await readFile(this.path(id, "log"), "utf8")) : []
    const state = records.reduce((state, record) => afterRecord(envelope, state, record), initialState(envelope))
    return { envelope, bodyLength, state }
  }

  /** Moves a message to where a person can look at it. */
  async putAside(id: string, bytes: number): Promise<void> {
    const target = join(this.directory, CORRUPT_DIRECTORY)
    makeDirectory(target)
    await rename(this.path(id, "msg"), join(target, `${id}.msg`))
    if (this.#logged.delete(id)) await rename(this.path(id, "log"), join(target, `${id}.log`)).catch(ignoreMissing)
    this.#count(bytes, -1)
  }

  /** Begins a message. Touches the disk only when there is much of it, or when it is committed. */
  create(id: string): SpoolWriter {
    return new SpoolWriter(this.path(id, "part"))
  }

  /** Resolves when the message survives a power cut. Where it fails nothing is left of the message. */
  async commit(writer: SpoolWriter, envelope: Envelope): Promise<number> {
    const target = this.path(envelope.id, "msg")
    try {
      const file = await writer.finish(envelope)
      await this.#commits.commit(file, () => rename(writer.path, target))
    } catch (error) {
      await writer.abort()
      await removeFile(target).catch(() => undefined)
      throw error
    }
    this.#count(writer.bodyLength)
    this.#remember(envelope.id, writer.whole)
    return writer.bodyLength
  }

  /** Notes what happened to a message. Resolves when that is on the disk. */
  async record(id: string, record: DeliveryRecord): Promise<void> {
    const file = await open(this.path(id, "log"), "a", FILE_MODE)
    this.#logged.add(id)
    try {
      await file.appendFile(encodeRecord(record))
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#commits.commit(file, () => Promise.resolve())
  }

  /**
   * Forgets a message. Its log goes last, and not before the message is gone for good: without it the message would be
   * delivered, or reported, again after a crash.
   */
  async remove(id: string, bytes: number): Promise<void> {
    this.#forget(id)
    await removeFile(this.path(id, "msg"))
    try {
      if (!this.#logged.has(id)) return this.#commits.syncSoon()
      await this.#commits.syncNames()
      await removeFile(this.path(id, "log"))
      this.#logged.delete(id)
    } finally {
      this.#count(bytes, -1)
    }
  }

  /** Returns a message's own bytes: whole where they are few, as a stream where they are many. */
  async read(id: string, bodyLength: number): Promise<Buffer | Readable> {
    const recent = this.#recent.get(id)
    if (recent !== undefined) {
      this.#forget(id)
      return recent
    }
    const path = this.path(id, "msg")
    if (bodyLength <= WHOLE) return (await readFile(path)).subarray(PROLOGUE_LENGTH, PROLOGUE_LENGTH + bodyLength)
    return createReadStream(path, { start: PROLOGUE_LENGTH, end: PROLOGUE_LENGTH + bodyLength - 1 })
  }

  /** Returns the first bytes of a message, `length` at most. */
  async readStart(id: string, length: number): Promise<Buffer> {
    const file = await open(this.path(id, "msg"), "r")
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, PROLOGUE_LENGTH)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }

  /** Says that nothing was under way when the relay ended. */
  async markClean(): Promise<void> {
    await writeFile(join(this.directory, CLEAN_FILE), "", { mode: FILE_MODE })
    await this.#commits.syncNames()
  }

  path(id: string, extension: "part" | "msg" | "log"): string {
    return join(this.directory, `${id}.${extension}`)
  }

  #count(bytes: number, sign: 1 | -1 = 1): void {
    this.#messages += sign
    this.#bytes += sign * bytes
  }

  /** Keeps a message for its first reader, while there is room; later readers have the file. */
  #remember(id: string, body: Buffer | undefined): void {
    if (body === undefined || this.#recentBytes + body.length > RECENT) return
    this.#recent.set(id, body)
    this.#recentBytes += body.length
  }

  #forget(id: string): void {
    this.#recentBytes -= this.#recent.get(id)?.length ?? 0
    this.#recent.delete(id)
  }
}

const ignoreMissing = (error: unknown): void => {
  if (codeOf(error) !== "ENOENT") throw error
}

/** Deletes a file, if it is there. */
const removeFile = (path: string): Promise<void> => unlink(path).catch(ignoreMissing)

/** Bytes of messages that are kept in memory until they are read for the first time. */
const RECENT = 16 * 1_048_576

export const CLEAN_FILE = "CLEAN"

export const CORRUPT_DIRECTORY = "corrupt"

/** Messages of up to so many bytes are read in one go. */
const WHOLE = 262_144
