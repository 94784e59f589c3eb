import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { systemCode } from "../../base/errorCode.ts"
import { slice, turnOfEventLoop } from "../../base/turns.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt, isStorageFailure } from "../attempt.ts"
import { ImportFailed } from "../errors.ts"
import { GENESIS, NONE } from "../index/BlockIndex.ts"
import { type ImportContext, ImportRun, readFrom } from "./ImportRun.ts"
import { expandSource, openSource, removeFile, unpack, unpackedPath } from "./importSource.ts"
import { scanRecords, type ScanTrouble } from "./scanRecords.ts"

// Imports block files, headers first as from the network. The first pass finds all headers and the places of their
// blocks, whatever their order. The second reads the blocks, parents first, and stores and connects them in batches.

export interface ImportReport {
  readonly files: number
  readonly stored: number
  readonly known: number
  readonly refused: number
  readonly orphans: number
  readonly height: Height
  readonly elapsedMs: number
}

/** Blocks and bytes to store before connecting them. */
const BATCH_BLOCKS = 64
const BATCH_BYTES = 2 * 1024 * 1024

const reasonOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const importFailed = (file: string, cause: unknown): ImportFailed =>
  new ImportFailed({ file, reason: reasonOf(cause), code: systemCode(cause) })

/** Runs work on an import file, which its errors name. */
const onFile = <A>(file: string, work: () => A): Effect.Effect<A, ImportFailed> =>
  Effect.try({ try: work, catch: (cause) => importFailed(file, cause) })

/** Opens all files of a path, after unpacking a packed one. The scope closes them and removes the unpacked file. */
const open = (run: ImportRun, path: string) =>
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

const unpacked = (run: ImportRun, path: string) =>
  Effect.gen(function*() {
    const target = unpackedPath(run.context.temporaryDirectory, run.sources.length, path)
    let over: Promise<unknown> = Promise.resolve()
    // Added before the file exists, to remove it even after a failure or interruption.
    yield* Effect.addFinalizer(() => Effect.map(Effect.promise(() => over), () => removeFile(target)))
    yield* Effect.tryPromise({
      try: (signal) => {
        const unpacking = unpack({ path, to: target }, signal)
        over = unpacking.catch(() => {})
        return unpacking
      },
      catch: (cause) =>
        isStorageFailure(cause)
          ? cause
          : new ImportFailed({ file: path, reason: `it does not unpack (${reasonOf(cause)})`, code: systemCode(cause) })
    })
    return target
  })

const say = (run: ImportRun): Effect.Effect<void> =>
  Effect.forEach(run.messages.splice(0), (message) => Effect.logWarning(message), { discard: true })

const scan = (run: ImportRun, number: number) =>
  Effect.gen(function*() {
    const source = run.sources[number]
    if (source === undefined) return
    const { magic } = run.context.state.params.network
    const before = run.scanned
    const readable = { ...source, read: (offset: number, length: number) => readFrom(source, offset, length) }
    const complain = ({ offset, what }: ScanTrouble) => run.complain(number, `at offset ${offset} there is ${what}`)
    const from = run.context.from?.get(source.path)
    const records = scanRecords(readable, { magic, from, trouble: complain })[Symbol.iterator]()
    const start = run.bytesDone
    const one = (): boolean => {
      const next = records.next()
      if (next.done === true) return false
      run.found(number, next.value)
      run.bytesDone = start + next.value.offset + next.value.size
      return true
    }
    while (yield* attempt(() => slice(one))) {
      yield* run.context.report(run.progress("headers", run.scanned))
      yield* say(run)
      yield* turnOfEventLoop
    }
    run.bytesDone = start + source.size
    if (run.scanned === before && from === undefined) {
      run.complain(number, "it has no blocks of this network")
    }
    yield* say(run)
  })

/** Reads the found blocks, parents first, and connects them in batches. */
const fetchAll = (run: ImportRun) =>
  Effect.gen(function*() {
    // Headers are numbered in the order of entering the tree, parents before children.
    const ids = run.places.ids()
    // For own files, genesis comes last: see `ChainStores.strayFiles`.
    if (run.context.own && ids[0] === GENESIS) ids.push(...ids.splice(0, 1))
    run.beginBlocks()
    let at = 0
    // At least once, as an interrupted import may leave stored blocks unconnected.
    do {
      const begin = at
      yield* run.context.batch(function*() {
        for (let bytes = 0; at < ids.length && at - begin < BATCH_BLOCKS && bytes < BATCH_BYTES; at++) {
          const id = ids[at] ?? NONE
          const size = run.places.get(id)?.size ?? 0
          run.offer(id)
          run.bytesDone += size
          bytes += size
          yield
        }
      }, run.judged)
      yield* run.context.report(run.progress("blocks", at))
      yield* say(run)
    } while (at < ids.length)
  })

/** Imports blocks from files. Fails if a file cannot be read. Reports and skips damage within a file. */
export const importSources = (
  context: ImportContext
): Effect.Effect<ImportReport, ImportFailed | StorageFailure> =>
  Effect.scoped(Effect.gen(function*() {
    const run = new ImportRun(context)
    yield* context.report(run.progress("headers", 0))
    for (const path of context.paths) yield* open(run, path)
    for (let number = 0; number < run.sources.length; number++) yield* scan(run, number)
    run.sayOrphans()
    yield* say(run)
    yield* context.flush
    yield* fetchAll(run)
    yield* context.flush
    return {
      files: run.sources.length,
      stored: run.stored,
      known: run.known,
      refused: run.refused,
      orphans: run.orphansLeft,
      height: context.state.active.settledHeight,
      elapsedMs: monotonic() - run.started
    }
  })).pipe(Effect.withLogSpan("import"))
