import { createReadStream } from "node:fs"
import { open, readFile, rename, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { crc32 } from "node:zlib"
import { codeOf } from "../../base/errorCode.ts"
import { makeDirectory } from "../../base/makeDirectory.ts"
import {
  afterRecord,
  decodeRecords,
  type DeliveryRecord,
  encodeRecord,
  initialState,
  type Queued
} from "./deliveryState.ts"
import type { Envelope } from "./envelope.ts"
import { GroupCommit } from "./GroupCommit.ts"
import { decodeEnvelope, decodePrologue, type Prologue, PROLOGUE_LENGTH } from "./spoolFile.ts"
import { FILE_MODE, SpoolWriter } from "./SpoolWriter.ts"

const PIECE = 1_048_576

/** More than an envelope with the most recipients and the longest addresses. */
const LONGEST_ENVELOPE = 16 * 1_048_576

/** Reads a spool file's envelope and checks the whole file; `undefined` for an incomplete or damaged file. */
const readSpoolFile = async (
  path: string
): Promise<{ readonly envelope: Envelope; readonly bodyLength: number } | undefined> => {
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

/**
 * The messages that this relay is responsible for. One directory:
 *
 * ```
 * <id>.part   an incoming message; worthless after a crash, because its client never got 250
 * <id>.msg    a message (spoolFile.ts), never changed
 * <id>.log    the message's delivery so far, a line a record (deliveryState.ts); missing before the first record
 * corrupt/    files with damaged content, kept for the operator
 * srs.key     the secret of rewritten senders
 * CLEAN       present while no relay runs, if the last one shut down cleanly
 * LOCK        limits the directory to one process
 * ```
 *
 * A message enters the spool when its `.part`, complete and synced, is renamed and the directory is synced. It leaves
 * the spool when its `.msg` is deleted; the directory is synced soon after that. Methods throw Node's own errors.
 */
export class Spool {
  readonly directory: string
  readonly #commits: GroupCommit
  #messages = 0
  #bytes = 0
  readonly #logged = new Set<string>()
  /** Just written, about to be delivered. */
  readonly #recent = new Map<string, Buffer>()
  #recentBytes = 0

  constructor(directory: string) {
    this.directory = directory
    this.#commits = new GroupCommit(directory)
  }

  get messages(): number {
    return this.#messages
  }

  get bytes(): number {
    return this.#bytes
  }

  adopt(id: string, bytes: number, hasLog: boolean): void {
    if (hasLog) this.#logged.add(id)
    this.#count(bytes)
  }

  /** `undefined` for damaged content. */
  async load(id: string): Promise<Queued | undefined> {
    const message = await readSpoolFile(this.path(id, "msg"))
    if (message === undefined || message.envelope.id !== id) return undefined
    const { bodyLength, envelope } = message
    const records = this.#logged.has(id) ? decodeRecords(await readFile(this.path(id, "log"), "utf8")) : []
    const state = records.reduce((state, record) => afterRecord(envelope, state, record), initialState(envelope))
    return { envelope, bodyLength, state }
  }

  /** For inspection by the operator. */
  async putAside(id: string, bytes: number): Promise<void> {
    const target = join(this.directory, CORRUPT_DIRECTORY)
    makeDirectory(target)
    await rename(this.path(id, "msg"), join(target, `${id}.msg`))
    if (this.#logged.delete(id)) await rename(this.path(id, "log"), join(target, `${id}.log`)).catch(ignoreMissing)
    this.#count(bytes, -1)
  }

  /** Writes to disk only a long message, or at the commit. */
  create(id: string): SpoolWriter {
    return new SpoolWriter(this.path(id, "part"))
  }

  /** Resolves when the message survives a power cut. A failure leaves nothing of it. */
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

  /** Resolves when the record is on disk. */
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

  /** The log is deleted last: without it, a crash would make the message be delivered or reported again. */
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

  /** A buffer for a short message, a stream for a long one. */
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

  async readStart(id: string, length: number): Promise<Buffer> {
    const file = await open(this.path(id, "msg"), "r")
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, PROLOGUE_LENGTH)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }

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

  /** For the first reader, while there is room; later readers use the file. */
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

const removeFile = (path: string): Promise<void> => unlink(path).catch(ignoreMissing)

/** Bytes of messages kept in memory for their first reader. */
const RECENT = 16 * 1_048_576

export const CLEAN_FILE = "CLEAN"

export const CORRUPT_DIRECTORY = "corrupt"

/** Messages up to this many bytes are read in one go. */
const WHOLE = 262_144
