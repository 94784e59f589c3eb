import type * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import type { Reject } from "../../consensus/Reject.ts"
import { type BlockHeader, decodeBlock, readBlockHeader } from "../../protocol/block.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import { DecodeError, Reader } from "../../protocol/Reader.ts"
import type { Steps } from "../../protocol/steps.ts"
import { guarded } from "../../storage/Database.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { Status } from "../index/BlockIndex.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { OnVerdict } from "../write/ChainWriter.ts"
import { recordRefused } from "../write/recordChain.ts"
import type { SourceFile } from "./importSource.ts"
import { Places, type RecordPlace } from "./Places.ts"
import type { FoundRecord } from "./scanRecords.ts"
import { WaitingRecords } from "./WaitingRecords.ts"

export interface ImportProgress {
  readonly phase: "headers" | "blocks"
  readonly done: number
  readonly total: number
  readonly bytesDone: number
  readonly bytesTotal: number
  readonly height: Height
  readonly elapsedMs: number
}

export interface ImportContext {
  readonly paths: ReadonlyArray<string>
  /** Whether these are the node's own block files, whose blocks are indexed in place. */
  readonly own: boolean
  /** Start offsets by path, for files that are not read from the beginning. */
  readonly from?: ReadonlyMap<string, number>
  readonly state: ChainState
  readonly temporaryDirectory: string
  /** Runs `work` as the writer, then moves to the best chain. `judged` receives the verdicts. */
  readonly batch: (work: () => Steps<void>, judged: OnVerdict) => Effect.Effect<void, StorageFailure>
  readonly flush: Effect.Effect<void, StorageFailure>
  readonly report: (progress: ImportProgress) => Effect.Effect<void>
}

/** Maximum records that wait for their parent: 64 MB. */
const MAX_ORPHANS = 2_000_000

const MAX_SPARES = 100_000

const READ_REMEDY = "Copy the file again, or start without it"

/** Maximum messages about the records of one file. Further problems are only counted. */
const MAX_COMPLAINTS = 10

const fileNumber = (source: SourceFile | undefined): number => Number(/(\d+)\.dat$/.exec(source?.path ?? "")?.[1] ?? 0)

/** Throws `StorageUnavailable` if the disk cannot be read. */
export const readFrom = (source: SourceFile, offset: number, length: number): Buffer =>
  guarded({ file: source.path, doing: "reading", remedy: READ_REMEDY }, () => source.read(offset, length))

export class ImportRun {
  readonly context: ImportContext
  readonly sources: Array<SourceFile> = []
  readonly started = monotonic()
  private since = this.started
  readonly places = new Places()
  /** Other copies of blocks, in case one is damaged. */
  private readonly spares = new Map<HeaderId, Array<RecordPlace>>()
  private spareCount = 0
  private readonly orphans = new WaitingRecords()
  private readonly complaints = new Map<number, number>()
  readonly messages: Array<string> = []
  bytesTotal = 0
  bytesDone = 0
  blocksBytes = 0
  scanned = 0
  stored = 0
  known = 0
  refused = 0

  constructor(context: ImportContext) {
    this.context = context
  }

  complain(file: number, what: string): void {
    const count = (this.complaints.get(file) ?? 0) + 1
    this.complaints.set(file, count)
    const path = this.sources[file]?.path ?? ""
    if (count <= MAX_COMPLAINTS) this.messages.push(`${path}: ${what}`)
    else if (count === MAX_COMPLAINTS + 1) this.messages.push(`${path}: further problems of this kind are only counted`)
  }

  /** Adds the header of a record to the tree, or keeps the record until its parent is found. */
  found(file: number, { head, offset, size }: FoundRecord): void {
    this.scanned++
    const place = { file, offset, size }
    const header = this.header(place, head)
    if (header !== undefined && this.enter(header, place)) this.release(header.header.hash)
  }

  private header(place: RecordPlace, head?: Buffer): BlockHeader | undefined {
    try {
      return readBlockHeader(new Reader(head ?? this.bytes(place)))
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      // The head is too short for a long proof.
      if (head !== undefined && head.length < place.size) return this.header(place)
      this.refused++
      this.complain(place.file, `the record at offset ${place.offset} is not a block (${cause.message})`)
      return undefined
    }
  }

  bytes({ file, offset, size }: RecordPlace): Buffer {
    const source = this.sources[file]
    return source === undefined ? Buffer.alloc(0) : readFrom(source, offset, size)
  }

  /** Returns whether the header is new. */
  private enter(header: BlockHeader, place: RecordPlace): boolean {
    const { state } = this.context
    const accepted = state.acceptHeader(header)
    if (accepted.type === "rejected") {
      if (accepted.reject.kind === "missing-prev") {
        this.wait(header, place)
        return false
      }
      // Each later copy of an invalid header is reported too.
      this.refused++
      recordRefused("header")
      this.complain(place.file, this.refusal(place, header.header.hash, accepted.reject))
      return false
    }
    const { id } = accepted
    if (state.index.has(id, Status.HAVE_DATA)) this.known++
    else if (this.places.get(id) !== undefined) this.spare(id, place)
    else {
      this.places.set(id, place)
      this.blocksBytes += place.size
    }
    return accepted.type === "new"
  }

  private spare(id: HeaderId, place: RecordPlace): void {
    this.known++
    if (this.spareCount >= MAX_SPARES) return
    this.spareCount++
    const others = this.spares.get(id)
    if (others === undefined) this.spares.set(id, [place])
    else others.push(place)
  }

  private wait(header: BlockHeader, place: RecordPlace): void {
    if (this.orphans.size >= MAX_ORPHANS) return this.complain(place.file, "too many blocks whose parent is missing")
    this.orphans.add(header.header.prevHash, place)
  }

  private release(hash: Uint8Array): void {
    const next = [hash]
    for (let parent = next.pop(); parent !== undefined; parent = next.pop()) {
      for (const place of this.orphans.take(parent)) {
        const header = this.header(place)
        if (header !== undefined && this.enter(header, place)) next.push(header.header.hash)
      }
    }
  }

  get orphansLeft(): number {
    return this.orphans.size
  }

  sayOrphans(): void {
    const first = this.orphans.first()
    if (first === undefined) return
    const others = this.orphans.size === 1 ? "" : `, and ${this.orphans.size - 1} more,`
    this.complain(
      first.file,
      `the block at offset ${first.offset}${others} cannot be used: an ancestor is neither here nor in the files`
    )
  }

  /** Offers the copies of a block until one is valid. Reports refused ones. */
  offer(id: HeaderId): void {
    const place = this.places.get(id)
    const { index } = this.context.state
    if (place === undefined) return
    for (const copy of [place, ...this.spares.get(id) ?? []]) {
      // Descendants of a refused block are not reported.
      if (index.isFailed(id)) {
        this.refused++
        return
      }
      const trouble = this.take(copy)
      if (trouble === undefined) return
      this.refused++
      this.complain(copy.file, trouble)
    }
  }

  /** Offers one copy of a block and returns its error, if any. */
  private take(place: RecordPlace): string | undefined {
    const { own, state } = this.context
    const started = monotonic()
    const bytes = this.bytes(place)
    const read = monotonic()
    state.spent("read", read - started)
    try {
      const block = decodeBlock(bytes)
      state.spent("parse", monotonic() - read)
      const over = bytes.length - block.bytes.length
      if (over > 0) {
        this.complain(place.file, `the record at offset ${place.offset} has ${over} bytes after its block`)
      }
      const stay = own
        ? { place: { ...place, file: fileNumber(this.sources[place.file]) }, record: bytes }
        : undefined
      const accepted = state.acceptBlock(block, stay)
      if (accepted.type === "rejected") {
        recordRefused("block")
        return this.refusal(place, block.hash, accepted.reject)
      }
      if (accepted.type === "new") this.stored++
      else this.known++
      return undefined
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      return `the block at offset ${place.offset} does not decode (${cause.message})`
    }
  }

  private refusal({ offset }: RecordPlace, hash: Uint8Array, { detail, reason }: Reject): string {
    const why = detail === undefined ? reason : `${reason}, ${detail}`
    return `block ${displayHash(hash)} at offset ${offset} is refused: ${why}`
  }

  /** Reports a block that was refused when connected. */
  readonly judged: OnVerdict = (id, reject) => {
    if (reject === undefined) return
    const { index } = this.context.state
    const place = this.places.get(id)
    if (place !== undefined) {
      this.refused++
      this.complain(place.file, this.refusal(place, index.hash(id), reject))
    } else {
      const height = index.height(id)
      this.messages.push(`block ${displayHash(index.hash(id))} at height ${height} is refused: ${reject.reason}`)
    }
  }

  beginBlocks(): void {
    this.since = monotonic()
    this.bytesDone = 0
  }

  progress(phase: ImportProgress["phase"], done: number): ImportProgress {
    return {
      phase,
      done,
      total: phase === "headers" ? this.scanned : this.places.size,
      bytesDone: this.bytesDone,
      bytesTotal: phase === "headers" ? this.bytesTotal : this.blocksBytes,
      height: this.context.state.active.settledHeight,
      elapsedMs: monotonic() - this.since
    }
  }
}
