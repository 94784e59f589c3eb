import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { EventsFailure, NoEvents } from "../client/daemonEvents.ts"
import type { DaemonFailure } from "../client/errors.ts"
import { paramsOf } from "../consensus/params.ts"
import type { CursorUnusable } from "../names/errors.ts"
import { type NetworkName, networks } from "../protocol/networks.ts"
import type { FeedLine } from "../rpc/eventFeed.ts"
import { type DaemonState, ExportStore, type ExportStoreParts, type StoredPlace } from "./ExportStore.ts"
import { type BlocksMissing, DaemonBehind, ExportRefused, type PostgresFailed } from "./failures.ts"
import { checkDatabase, ensureTextIndex, type ExportPosition, openSchema, takeExportLock } from "./openSchema.ts"
import { connectTo, type PgTarget } from "./PgConnection.ts"
import { RowWriter } from "./rows.ts"
import { TableFollower } from "./TableFollower.ts"

/** Keeps the tables of an export in sync with a daemon's names (docs/postgres.md). */

export interface ExportSource {
  readonly network: NetworkName
  readonly state: Effect.Effect<DaemonState, DaemonFailure>
  /** Ends only with a failure. */
  readonly lines: (from: string) => Stream.Stream<FeedLine, EventsFailure>
  /** Hexadecimal; `undefined` above the end of the best chain. */
  readonly hashAt: (height: number) => Effect.Effect<string | undefined, DaemonFailure>
}

export interface ExportOptions {
  readonly source: ExportSource
  readonly target: PgTarget
  readonly schema: string
  /** Seconds to wait for the lock of the schema. */
  readonly lockSeconds?: number | undefined
  /** Maximum number of blocks undone because the daemon does not know them. */
  readonly mostUndone?: number | undefined
  readonly pauses?: ExportPauses | undefined
}

/** Milliseconds before a retry: doubling, with up to half left out at random. */
export interface ExportPauses {
  readonly first: number
  readonly longest: number
}

export type ExportFailure = PostgresFailed | ExportRefused | BlocksMissing | DaemonBehind | DaemonFailure | NoEvents

/** Two weeks of blocks. A daemon that knows none of them is usually another one. */
const MOST_UNDONE = 2_016

const UNDONE_AT_ONCE = 25

/** Milliseconds without a line after which the export has caught up. */
const QUIET_MS = 100

/** Milliseconds without a line after which the first copy completes, even if the daemon is not synced. */
const SETTLED_MS = 10_000

/** Milliseconds between checks of the daemon. Readers trust the completeness of names for a minute after one. */
export const CHECK_MS = 5_000

const PAUSES: ExportPauses = { first: 250, longest: 15_000 }

/** The last block up to a height that daemon and tables share; `undefined` if they share none. */
const lastShared = (store: ExportStore, source: ExportSource, height: number) =>
  Effect.gen(function*() {
    let found: StoredPlace | undefined
    // A block shared at a height is shared below it, and nothing is missing below the first block of the tables.
    for (let [hit, miss, step] = [-1, height + 1, 1]; miss > hit + 1; step *= 2) {
      // Usually only the last blocks are unknown: search near the end first, then bisect.
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

interface Meeting {
  readonly source: ExportSource
  readonly refused: CursorUnusable
  readonly most: number
}

const meet = (
  store: ExportStore,
  { height }: ExportPosition,
  { most, refused, source }: Meeting
): Effect.Effect<void, ExportFailure> =>
  Effect.gen(function*() {
    const daemon = yield* source.state
    if (!daemon.synced && daemon.height < height) {
      return yield* new DaemonBehind({ daemon: daemon.height, tables: height })
    }
    const stop = (reason: string) =>
      new ExportRefused({
        reason: `the daemon cannot continue after block ${height}: ${reason}. ` +
          "Drop the schema to export everything again, or follow another daemon"
      })
    const place = yield* lastShared(store, source, height)
    if (place === undefined || place.height === height) return yield* stop(refused.message)
    if (height - place.height > most) {
      return yield* stop(
        `it does not know the last ${height - place.height} blocks, and no more than ${most} are undone`
      )
    }
    yield* Effect.logWarning("the daemon does not know the last blocks: they are undone", {
      from: height,
      to: place.height
    })
    for (let top = height; top > place.height;) {
      const below = yield* store.placeBelow(Math.max(place.height, top - UNDONE_AT_ONCE))
      if (below === undefined) return
      yield* store.undo({ height: below.height + 1, cursor: below.cursor })
      yield* Effect.logInfo("blocks undone", { from: top, to: below.height })
      top = below.height
    }
  })

/** One database connection, until a failure or a rollback of the tables to another block. */
const session = (
  { lockSeconds, mostUndone: most = MOST_UNDONE, schema, source, target }: ExportOptions,
  parts: Pick<ExportStoreParts, "rows" | "committed">
): Effect.Effect<void, ExportFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const connection = yield* connectTo(target)
    yield* checkDatabase(connection, schema)
    yield* takeExportLock(connection, schema, { seconds: lockSeconds })
    const position = yield* openSchema(connection, { schema, network: source.network })
    const store = new ExportStore({ connection, schema, ...parts })
    const follower = new TableFollower({ store, position, scope: yield* Effect.scope })
    yield* Effect.logInfo("export follows the daemon", { database: target.shown, schema, height: position.height })
    // A lost commit of the first copy is copied again: the cursor is lost with it.
    if (position.complete) yield* ensureTextIndex(connection, schema)
    else yield* connection.run("SET synchronous_commit = off")
    const alone = (yield* Effect.makeSemaphore(1)).withPermits(1)

    let lastLine = yield* Clock.currentTimeMillis
    const read = Effect.zipRight(
      Stream.runForEachChunk(source.lines(position.cursor), (lines) =>
        Effect.zipRight(
          alone(follower.take(lines)),
          Effect.map(Clock.currentTimeMillis, (now) => void (lastLine = now))
        )),
      Effect.never
    )

    const settled = Effect.gen(function*() {
      yield* follower.settle
      const { height, synced } = yield* source.state
      if (follower.last < height) return
      if (!synced && (yield* Clock.currentTimeMillis) < lastLine + SETTLED_MS) return
      yield* follower.finish
      yield* connection.run("SET synchronous_commit = on")
      yield* ensureTextIndex(connection, schema)
    })

    /** When no line comes, writes the waiting blocks and completes the first copy. */
    const settle = Effect.gen(function*() {
      while (!follower.isComplete) {
        yield* Effect.sleep(QUIET_MS)
        if ((yield* Clock.currentTimeMillis) >= lastLine + QUIET_MS) yield* alone(settled)
      }
      return yield* Effect.never
    })

    const check = Effect.gen(function*() {
      for (;;) {
        // While the daemon restarts, readers see the time of the last check.
        const state = yield* Effect.option(source.state)
        if (Option.isSome(state)) yield* store.checked(state.value)
        yield* Effect.sleep(CHECK_MS)
      }
    })

    yield* Effect.raceFirst(Effect.raceFirst(read, settle), check).pipe(
      Effect.catchTag("CursorUnusable", (refused) =>
        Effect.gen(function*() {
          yield* follower.settle
          const now = yield* openSchema(connection, { schema, network: source.network })
          yield* meet(store, now, { source, refused, most })
        }))
    )
  })

/** Whether a retry may succeed without the operator. */
const mayPass = (failure: ExportFailure): boolean => {
  switch (failure._tag) {
    case "PostgresFailed":
      return failure.mayPass
    case "BlocksMissing":
    case "DaemonBehind":
    case "DaemonNotReady":
    case "DaemonUnreachable":
      return true
    default:
      return false
  }
}

/** Runs until interrupted, or until a failure needs the operator. */
export const runExport = (options: ExportOptions): Effect.Effect<never, ExportFailure> =>
  Effect.gen(function*() {
    const { first, longest } = options.pauses ?? PAUSES
    const rows = new RowWriter(paramsOf(networks[options.source.network]))
    let attempts = 0
    // A failure after progress counts as a new one.
    const committed = () => void (attempts = 0)
    for (;;) {
      const began = yield* Clock.currentTimeMillis
      const outcome = yield* Effect.either(Effect.scoped(session(options, { rows, committed })))
      if (outcome._tag === "Right") {
        attempts = 0
        continue
      }
      if (!mayPass(outcome.left)) return yield* Effect.fail(outcome.left)
      if ((yield* Clock.currentTimeMillis) > began + 2 * longest) attempts = 0
      yield* Effect.logWarning("export waits, and tries again", { reason: outcome.left.message })
      const most = Math.min(longest, first * 2 ** Math.min(attempts, 16))
      attempts++
      yield* Effect.sleep(most * (0.5 + 0.5 * (yield* Random.next)))
    }
  })
