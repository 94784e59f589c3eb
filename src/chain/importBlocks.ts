import * as Effect from "effect/Effect"
import { basename, join } from "node:path"
import { type BlockHeader, decodeBlock, readBlockHeader } from "../protocol/block.ts"
import { binaryString, displayHash } from "../protocol/bytes.ts"
import { DecodeError, Reader } from "../protocol/Reader.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { NONE, Status } from "./BlockIndex.ts"
import type { ChainState } from "./ChainState.ts"
import { ImportFailed } from "./errors.ts"
import { expandSource, openSource, removeFile, type SourceFile, unpack } from "./importSource.ts"
import { type FoundRecord, scanRecords } from "./scanRecords.ts"
import { turnOfEventLoop } from "./VerifyPool.ts"

/**
 * Importing block files, headers first as over the network: one pass over the files finds all headers and where their
 * blocks lie, so that order does not matter and the way ahead is known; a second one reads the blocks parents first,
 * stores them and connects them in batches.
 */

export interface ImportProgress {
  readonly phase: "headers" | "blocks"
  /** Blocks read so far, and in all as far as that is known. */
  readonly done: number
  readonly total: number
  readonly bytesDone: number
  readonly bytesTotal: number
  readonly height: number
  /** Milliseconds since the import began. */
  readonly elapsedMs: number
}

export interface ImportReport {
  readonly files: number
  /** Blocks that were new and are stored now. */
  readonly stored: number
  /** Blocks that were here already. */
  readonly known: number
  /** Blocks that were refused, or could not be read. */
  readonly refused: number
  /** Blocks whose ancestors are neither here nor in the files. */
  readonly orphans: number
  readonly height: number
  readonly elapsedMs: number
}

export interface ImportContext {
  readonly paths: ReadonlyArray<string>
  /** Whether these are the node's own block files: blocks are then noted where they lie, not copied. */
  readonly own: boolean
  readonly state: ChainState
  readonly temporaryDirectory: string
  /** Runs `work` as the writer and then moves to the best chain. */
  readonly batch: (work: () => void) => Effect.Effect<unknown, StorageFailure>
  readonly flush: Effect.Effect<void, StorageFailure>
  readonly report: (progress: ImportProgress) => Effect.Effect<void>
}

/** Blocks and bytes that are stored before they are connected. */
const BATCH_BLOCKS = 64
const BATCH_BYTES = 2 * 1024 * 1024

/** Milliseconds of scanning before others have a turn. */
const SLICE_MS = 50

/** Records that may wait for their parent: 100 bytes each. */
const MAX_ORPHANS = 2_000_000

/** Messages about single records of a file; beyond that only their number is said. */
const MAX_COMPLAINTS = 10

interface Located {
  readonly file: number
  readonly offset: number
  readonly size: number
}

class Import {
  readonly context: ImportContext
  readonly sources: Array<SourceFile> = []
  readonly started = performance.now()
  /** Where blocks lie, by the number of their header. */
  readonly places = new Map<number, Located>()
  private readonly orphans = new Map<string, Array<Located>>()
  private orphanCount = 0
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
    else if (count === MAX_COMPLAINTS + 1) this.messages.push(`${path}: more of this kind; the rest is only counted`)
  }

  /** Notes a record: its header goes into the tree, or it waits for its parent. */
  found(file: number, { head, offset, size }: FoundRecord): void {
    this.scanned++
    const place = { file, offset, size }
    const header = this.header(place, head)
    if (header !== undefined) this.enter(header, place)
  }

  private header(place: Located, head?: Buffer): BlockHeader | undefined {
    try {
      return readBlockHeader(new Reader(head ?? this.bytes(place)))
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      // A long proof does not fit the first look.
      if (head !== undefined && head.length < place.size) return this.header(place)
      this.refused++
      this.complain(place.file, `the record at offset ${place.offset} is no block (${cause.message})`)
      return undefined
    }
  }

  bytes({ file, offset, size }: Located): Buffer {
    return this.sources[file]?.read(offset, size) ?? Buffer.alloc(0)
  }

  private enter(header: BlockHeader, place: Located): void {
    const { state } = this.context
    const accepted = state.acceptHeader(header)
    if (accepted.type === "rejected") {
      if (accepted.reject.kind === "missing-prev") return this.wait(header, place)
      // A header that is known as invalid says so again each time; once is enough.
      this.refused++
      const { detail, reason } = accepted.reject
      const why = detail === undefined ? reason : `${reason}, ${detail}`
      this.complain(place.file, `block ${displayHash(header.header.hash)} at offset ${place.offset} is refused: ${why}`)
      return
    }
    if (state.index.has(accepted.id, Status.HAVE_DATA) || this.places.has(accepted.id)) this.known++
    else {
      this.places.set(accepted.id, place)
      this.blocksBytes += place.size
    }
    if (accepted.type === "new") this.release(header.header.hash)
  }

  private wait(header: BlockHeader, place: Located): void {
    if (this.orphanCount >= MAX_ORPHANS) return this.complain(place.file, "too many blocks whose parent is missing")
    this.orphanCount++
    const parent = binaryString(header.header.prevHash)
    const siblings = this.orphans.get(parent)
    if (siblings === undefined) this.orphans.set(parent, [place])
    else siblings.push(place)
  }

  private release(hash: Uint8Array): void {
    const next = [binaryString(hash)]
    for (let parent = next.pop(); parent !== undefined; parent = next.pop()) {
      const children = this.orphans.get(parent) ?? []
      this.orphans.delete(parent)
      this.orphanCount -= children.length
      for (const place of children) {
        const header = this.header(place)
        if (header === undefined) continue
        this.enter(header, place)
        next.push(binaryString(header.header.hash))
      }
    }
  }

  get orphansLeft(): number {
    return this.orphanCount
  }

  /** Offers the block of a header; what is refused is said. */
  offer(id: number): void {
    const place = this.places.get(id)
    const { own, state } = this.context
    if (place === undefined) return
    const started = performance.now()
    const bytes = this.bytes(place)
    const read = performance.now()
    state.timings.read += read - started
    try {
      const block = decodeBlock(bytes)
      state.timings.parse += performance.now() - read
      const stay = own
        ? { file: fileNumber(this.sources[place.file]), offset: place.offset, size: place.size }
        : undefined
      const accepted = state.acceptBlock(block, stay)
      if (accepted.type === "new") this.stored++
      else if (accepted.type === "known") this.known++
      else {
        this.refused++
        this.complain(
          place.file,
          `block ${displayHash(block.hash)} at offset ${place.offset} is refused: ${accepted.reject.reason}`
        )
      }
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      this.refused++
      this.complain(place.file, `the block at offset ${place.offset} does not decode (${cause.message})`)
    }
  }

  progress(phase: ImportProgress["phase"], done: number): ImportProgress {
    return {
      phase,
      done,
      total: phase === "headers" ? this.scanned : this.places.size,
      bytesDone: this.bytesDone,
      bytesTotal: phase === "headers" ? this.bytesTotal : this.blocksBytes,
      height: this.context.state.settledHeight,
      elapsedMs: performance.now() - this.started
    }
  }
}

const fileNumber = (source: SourceFile | undefined): number => Number(/(\d+)\.dat$/.exec(source?.path ?? "")?.[1] ?? 0)

const reasonOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

/** Runs work on a file to import from; what the file system throws names the file. */
const onFile = <A>(file: string, work: () => A): Effect.Effect<A, ImportFailed> =>
  Effect.try({ try: work, catch: (cause) => new ImportFailed({ file, reason: reasonOf(cause) }) })

/** Opens all files behind a path; unpacks a packed one first. They are closed, and the unpacked one removed, with the scope. */
const open = (run: Import, path: string) =>
  Effect.gen(function*() {
    const { files, key, packed } = yield* onFile(path, () => expandSource(path))
    for (const file of files) {
      const readable = packed ? yield* unpacked(run, file) : file
      const source = yield* Effect.acquireRelease(
        onFile(path, () => openSource(readable, key, file)),
        (source) => Effect.sync(() => source.close())
      )
      run.sources.push(source)
      run.bytesTotal += source.size
    }
  })

const unpacked = (run: Import, path: string) => {
  const target = join(run.context.temporaryDirectory, `unpacked-${run.sources.length}-${basename(path)}.dat`)
  return Effect.acquireRelease(
    Effect.tryPromise({
      try: () => unpack(path, target),
      catch: (cause) => new ImportFailed({ file: path, reason: `it does not unpack (${reasonOf(cause)})` })
    }).pipe(Effect.as(target)),
    () => Effect.sync(() => removeFile(target))
  )
}

const say = (run: Import): Effect.Effect<void> =>
  Effect.forEach(run.messages.splice(0), (message) => Effect.logWarning(message), { discard: true })

/** Scans one file for headers, a slice at a time. */
const scan = (run: Import, number: number) =>
  Effect.gen(function*() {
    const source = run.sources[number]
    if (source === undefined) return
    const { magic } = run.context.state.params.network
    const before = run.scanned
    const records = scanRecords(source, magic, ({ offset, what }) =>
      run.complain(number, `at offset ${offset} there is ${what}`))[Symbol.iterator]()
    const start = run.bytesDone
    const slice = (): boolean => {
      for (const end = performance.now() + SLICE_MS; performance.now() < end;) {
        const next = records.next()
        if (next.done === true) {
          return false
        }
        run.found(number, next.value)
        run.bytesDone = start + next.value.offset + next.value.size
      }
      return true
    }
    while (yield* onFile(source.path, slice)) {
      yield* run.context.report(run.progress("headers", run.scanned))
      yield* say(run)
      yield* turnOfEventLoop
    }
    run.bytesDone = start + source.size
    if (run.scanned === before) {
      run.complain(number, "it holds no block of this network")
    }
    yield* say(run)
  })

/** Reads the blocks that were found, parents first, and connects them in batches. */
const fetchAll = (run: Import) =>
  Effect.gen(function*() {
    // Numbers count in the order in which headers entered the tree: parents before children.
    const ids = [...run.places.keys()].sort((a, b) => a - b)
    run.bytesDone = 0
    for (let at = 0; at < ids.length;) {
      const begin = at
      yield* run.context.batch(() => {
        for (let bytes = 0; at < ids.length && at - begin < BATCH_BLOCKS && bytes < BATCH_BYTES; at++) {
          const id = ids[at] ?? NONE
          const size = run.places.get(id)?.size ?? 0
          run.offer(id)
          run.bytesDone += size
          bytes += size
        }
      })
      yield* run.context.report(run.progress("blocks", at))
      yield* say(run)
    }
  })

/** Imports blocks from files. Fails for a file that cannot be read; damage within one is said and stepped over. */
export const importSources = (
  context: ImportContext
): Effect.Effect<ImportReport, ImportFailed | StorageFailure> =>
  Effect.scoped(Effect.gen(function*() {
    const run = new Import(context)
    yield* context.report(run.progress("headers", 0))
    for (const path of context.paths) yield* open(run, path)
    for (let number = 0; number < run.sources.length; number++) yield* scan(run, number)
    if (run.orphansLeft > 0) {
      yield* Effect.logWarning(
        `${run.orphansLeft} blocks are passed over: their ancestors are neither here nor in the files`
      )
    }
    yield* context.flush
    yield* fetchAll(run)
    yield* context.flush
    return {
      files: run.sources.length,
      stored: run.stored,
      known: run.known,
      refused: run.refused,
      orphans: run.orphansLeft,
      height: context.state.settledHeight,
      elapsedMs: performance.now() - run.started
    }
  })).pipe(Effect.withLogSpan("import"))
