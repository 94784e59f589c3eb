import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { EventsFailure, NoEvents } from "../client/daemonEvents.ts"
import { wrongLine } from "../client/daemonEvents.ts"
import type { DaemonFailure } from "../client/errors.ts"
import { paramsOf } from "../consensus/params.ts"
import type { CursorUnusable } from "../names/errors.ts"
import { type NetworkName, networks } from "../protocol/networks.ts"
import type { FeedLine } from "../rpc/eventFeed.ts"
import { type DaemonState, ExportStore, type StoredPlace } from "./ExportStore.ts"
import { BlocksMissing, ExportRefused, type PostgresFailed } from "./failures.ts"
import { BlockCollector, type ExportStep } from "./lines.ts"
import { checkDatabase, ensureTextIndex, type ExportPosition, openSchema, takeExportLock } from "./openSchema.ts"
import { connectTo, type PgTarget } from "./PgConnection.ts"
import { type ExportedBlock, RowWriter } from "./rows.ts"

/** Follows the events of a daemon, and keeps the tables of an export like its names (docs/postgres.md). */

/** The daemon that is followed. */
export interface ExportSource {
  readonly network: NetworkName
  readonly state: Effect.Effect<DaemonState, DaemonFailure>
  /** The events behind a cursor. It ends only with a failure. */
  readonly lines: (from: string) => Stream.Stream<FeedLine, EventsFailure>
  /** The hash of a block of the best chain, in hexadecimal digits; `undefined` above its end. */
  readonly hashAt: (height: number) => Effect.Effect<string | undefined, DaemonFailure>
}

export interface ExportOptions {
  readonly source: ExportSource
  readonly target: PgTarget
  readonly schema: string
  /** Seconds to wait for the lock of the schema. */
  readonly lockSeconds?: number | undefined
}

/** Why an export ends. */
export type ExportFailure = PostgresFailed | ExportRefused | BlocksMissing | DaemonFailure | NoEvents

/** Operations and blocks of a transaction of the first copy, about. */
const OPERATIONS_AT_ONCE = 20_000
const BLOCKS_AT_ONCE = 5_000

/** Chunks of lines that wait for the database; then the connection to the daemon waits. */
const WAITING_CHUNKS = 64

/** Milliseconds without a line after which the export has caught up. */
const QUIET_MS = 100

/** Milliseconds without a line after which the first copy is completed, though the daemon is not synced. */
const SETTLED_MS = 10_000

/** Milliseconds between two looks at the daemon. Readers take names for complete for a minute after one. */
export const CHECK_MS = 5_000

/** Milliseconds between two lines of progress. */
const TOLD_MS = 10_000

/** Milliseconds before the first and the last retry. */
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 15_000

/** Operations and blocks since the last line of progress. */
class Progress {
  private operations = 0
  private told = 0

  add(count: number): void {
    this.operations += count
  }

  /** What to log now, if it is time. */
  note(now: number): { readonly perSecond: number } | undefined {
    if (this.told === 0) this.told = now
    const passed = now - this.told
    if (passed < TOLD_MS) return undefined
    const perSecond = Math.round(this.operations / (passed / 1_000))
    this.operations = 0
    this.told = now
    return { perSecond }
  }
}

/** Moves the tables along the steps that the lines tell. */
class Follower {
  private readonly collector = new BlockCollector()
  private readonly progress = new Progress()
  private waiting: Array<ExportedBlock> = []
  private operations = 0
  private beginning: number | undefined
  private readonly store: ExportStore
  /** The last block of the tables, those that wait included. */
  private height: number
  private complete: boolean

  constructor(store: ExportStore, { complete, height }: ExportPosition) {
    this.store = store
    this.height = height
    this.complete = complete
  }

  get isComplete(): boolean {
    return this.complete
  }

  get hasWaiting(): boolean {
    return this.waiting.length > 0
  }

  get last(): number {
    return this.height
  }

  /** Writes the blocks that wait. */
  readonly flush: Effect.Effect<void, PostgresFailed> = Effect.suspend(() => {
    const [blocks, beginning] = [this.waiting, this.beginning]
    const { operations } = this
    this.waiting = []
    this.operations = 0
    this.beginning = undefined
    return Effect.gen(this, function*() {
      yield* this.store.append({ blocks, beginning })
      this.progress.add(operations)
      const told = this.progress.note(yield* Clock.currentTimeMillis)
      if (told !== undefined) {
        yield* Effect.logInfo("export copies", { height: this.height, operationsPerSecond: told.perSecond })
      }
    })
  })

  private step(step: ExportStep): Effect.Effect<void, PostgresFailed | BlocksMissing> {
    if (step.type === "undo") {
      this.height = step.height - 1
      return Effect.zipRight(
        this.flush,
        Effect.zipRight(this.store.undo(step), Effect.logInfo("block undone", { height: step.height }))
      )
    }
    const { beginning, block } = step
    if (block.height !== this.height + 1) return new BlocksMissing({ last: this.height, next: block.height })
    this.height = block.height
    if (this.complete) {
      return Effect.zipRight(
        this.store.connect({ blocks: [block], beginning }),
        Effect.logDebug("block exported", { height: block.height, operations: block.operations.length })
      )
    }
    this.waiting.push(block)
    this.operations += block.operations.length
    this.beginning = beginning ?? this.beginning
    return this.operations >= OPERATIONS_AT_ONCE || this.waiting.length >= BLOCKS_AT_ONCE ? this.flush : Effect.void
  }

  /** Takes lines of the daemon. */
  readonly take = (lines: Iterable<FeedLine>): Effect.Effect<void, PostgresFailed | BlocksMissing | DaemonFailure> =>
    Effect.gen(this, function*() {
      const before = this.collector.tooLong
      for (const line of lines) {
        const steps = this.collector.take(line)
        if (steps === undefined) return yield* wrongLine
        // Without a turn of the fiber for each of the lines, most of which are no step.
        for (const step of steps) yield* this.step(step)
      }
      if (this.collector.tooLong > before) {
        yield* Effect.logWarning("names longer than 1,024 bytes are not exported", { height: this.height })
      }
    })

  /** Completes the first copy: from then on each block is a transaction. */
  readonly finish: Effect.Effect<void, PostgresFailed> = Effect.gen(this, function*() {
    const began = yield* Clock.currentTimeMillis
    yield* Effect.logInfo("export makes names and indexes", { height: this.height })
    yield* this.store.complete()
    this.complete = true
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1_000)
    yield* Effect.logInfo("export is complete", { height: this.height, seconds })
  })
}

/** The last block that daemon and tables share, up to a height; `undefined` if they share none. */
const lastShared = (store: ExportStore, source: ExportSource, height: number) =>
  Effect.gen(function*() {
    let found: StoredPlace | undefined
    // What is shared at a height is shared below it, and nothing is missing below the first block of the tables.
    for (let [hit, miss, step] = [-1, height + 1, 1]; miss > hit + 1; step *= 2) {
      // As a rule the last blocks alone are unknown: the first looks are near the end, the others halve what is left.
      const at = Math.max(miss - step, Math.floor((hit + miss) / 2))
      const place = yield* store.placeBelow(at)
      if (place === undefined) hit = at
      else if ((yield* source.hashAt(place.height)) === place.hash) {
        found = place
        hit = at
      } else miss = at
    }
    return found
  })

/** Goes back to the last block that daemon and tables share. */
const meet = (
  store: ExportStore,
  { height }: ExportPosition,
  { refused, source }: { readonly source: ExportSource; readonly refused: CursorUnusable }
): Effect.Effect<void, ExportFailure> =>
  Effect.gen(function*() {
    const stop = new ExportRefused({
      reason: `the daemon cannot go on behind block ${height}: ${refused.message}. ` +
        "Drop the schema to export everything again, or follow another daemon"
    })
    const place = yield* lastShared(store, source, height)
    if (place === undefined || place.height === height) return yield* stop
    yield* Effect.logWarning("the daemon does not know the last blocks: they are undone", {
      from: height,
      to: place.height
    })
    yield* store.undo({ height: place.height + 1, cursor: place.cursor })
  })

/** One connection to the database, until something fails, or the tables had to go back to another block. */
const session = (
  { lockSeconds, schema, source, target }: ExportOptions,
  rows: RowWriter
): Effect.Effect<void, ExportFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const connection = yield* connectTo(target)
    yield* checkDatabase(connection, schema)
    yield* takeExportLock(connection, schema, { seconds: lockSeconds })
    const position = yield* openSchema(connection, { schema, network: source.network })
    const store = new ExportStore(connection, schema, rows)
    const follower = new Follower(store, position)
    yield* Effect.logInfo("export follows the daemon", { database: target.shown, schema, height: position.height })
    // A lost commit of the first copy is copied again: the cursor is lost with it.
    if (position.complete) yield* ensureTextIndex(connection, schema)
    else yield* connection.run("SET synchronous_commit = off")
    const one = yield* Effect.makeSemaphore(1)
    const alone = one.withPermits(1)

    const chunks = yield* Queue.bounded<Iterable<FeedLine>>(WAITING_CHUNKS)
    const read = Effect.zipRight(
      Stream.runForEachChunk(source.lines(position.cursor), (lines) => Queue.offer(chunks, lines)),
      Effect.never
    )

    let quietSince = yield* Clock.currentTimeMillis
    const settle = Effect.gen(function*() {
      if (follower.hasWaiting) return yield* alone(follower.flush)
      const { height, synced } = yield* source.state
      if (follower.last < height) return
      if (!synced && (yield* Clock.currentTimeMillis) < quietSince + SETTLED_MS) return
      yield* alone(follower.finish)
      yield* connection.run("SET synchronous_commit = on")
      yield* ensureTextIndex(connection, schema)
    })

    const write = Effect.gen(function*() {
      for (;;) {
        const next = follower.isComplete
          ? Option.some(yield* Queue.take(chunks))
          : yield* Effect.timeoutOption(Queue.take(chunks), QUIET_MS)
        if (Option.isSome(next)) {
          yield* alone(follower.take(next.value))
          quietSince = yield* Clock.currentTimeMillis
        } else yield* settle
      }
    })

    const check = Effect.gen(function*() {
      for (;;) {
        // While the daemon restarts, readers see when it was checked last.
        const state = yield* Effect.option(source.state)
        if (Option.isSome(state)) yield* alone(store.checked(state.value))
        yield* Effect.sleep(CHECK_MS)
      }
    })

    yield* Effect.raceFirst(Effect.raceFirst(read, write), check).pipe(
      Effect.catchTag("CursorUnusable", (refused) =>
        Effect.flatMap(
          openSchema(connection, { schema, network: source.network }),
          (now) => meet(store, now, { source, refused })
        ))
    )
  })

/** Whether the same may succeed later: the operator has nothing to do in the export. */
const mayPass = (failure: ExportFailure): boolean => {
  switch (failure._tag) {
    case "PostgresFailed":
      return failure.mayPass
    case "BlocksMissing":
    case "DaemonNotReady":
    case "DaemonUnreachable":
      return true
    default:
      return false
  }
}

/** Exports until it is interrupted, or a failure needs the operator. */
export const runExport = (options: ExportOptions): Effect.Effect<never, ExportFailure> =>
  Effect.gen(function*() {
    const rows = new RowWriter(paramsOf(networks[options.source.network]))
    for (let attempts = 0;; attempts++) {
      const began = yield* Clock.currentTimeMillis
      const outcome = yield* Effect.either(Effect.scoped(session(options, rows)))
      if (outcome._tag === "Right") {
        attempts = -1
        continue
      }
      if (!mayPass(outcome.left)) return yield* Effect.fail(outcome.left)
      if ((yield* Clock.currentTimeMillis) > began + 2 * LONGEST_PAUSE) attempts = 0
      yield* Effect.logWarning("export waits, and tries again", { reason: outcome.left.message })
      const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(attempts, 16))
      yield* Effect.sleep(longest * (0.5 + 0.5 * (yield* Random.next)))
    }
  })
