import { type FileHandle, open, rm } from "node:fs/promises"
import { crc32 } from "node:zlib"
import type { Envelope } from "./envelope.ts"
import { encodeEnvelope, encodePrologue, PROLOGUE_LENGTH } from "./spoolFile.ts"

/** Only this user may read the spool. */
export const FILE_MODE = 0o600

const BUFFERED = 262_144

export class SpoolWriter {
  readonly path: string
  #file: FileHandle | undefined
  #chunks: Array<Uint8Array> = []
  #buffered = 0
  #position = PROLOGUE_LENGTH
  #crc = 0
  #bodyLength = 0
  #whole: Buffer | undefined

  constructor(path: string) {
    this.path = path
  }

  get bodyLength(): number {
    return this.#bodyLength
  }

  /** The finished message, if short enough for one write. */
  get whole(): Buffer | undefined {
    return this.#whole
  }

  /** Resolves when the caller may write the next chunk. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#add(chunk)
    this.#bodyLength += chunk.length
    if (this.#buffered >= BUFFERED) await this.#flush(await this.#opened())
  }

  /** Returns the file, open and not synced. */
  async finish(envelope: Envelope): Promise<FileHandle> {
    const json = encodeEnvelope(envelope)
    const { bodyLength } = this
    this.#add(json)
    const file = await this.#opened()
    const prologue = encodePrologue({ bodyLength, envelopeLength: json.length, crc: this.#crc })
    if (this.#position === PROLOGUE_LENGTH) {
      this.#chunks.unshift(prologue)
      this.#position = 0
      const bytes = await this.#flush(file)
      this.#whole = bytes.subarray(PROLOGUE_LENGTH, PROLOGUE_LENGTH + bodyLength)
    } else {
      await this.#flush(file)
      await writeAll(file, prologue, 0)
    }
    this.#file = undefined
    return file
  }

  /** Never fails: the next start deletes leftovers. */
  async abort(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#chunks = []
    await file?.close().catch(() => undefined)
    await rm(this.path, { force: true }).catch(() => undefined)
  }

  #add(bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc)
    this.#chunks.push(bytes)
    this.#buffered += bytes.length
  }

  async #opened(): Promise<FileHandle> {
    this.#file ??= await open(this.path, "wx", FILE_MODE)
    return this.#file
  }

  async #flush(file: FileHandle): Promise<Buffer> {
    const bytes = Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#buffered = 0
    await writeAll(file, bytes, this.#position)
    this.#position += bytes.length
    return bytes
  }
}

const writeAll = async (file: FileHandle, bytes: Uint8Array, position: number): Promise<void> => {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
