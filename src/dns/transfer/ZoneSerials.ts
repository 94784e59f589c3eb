import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { dirname } from "node:path"
import { makeDirectoryDurably, replaceFile } from "../../base/atomicFile.ts"
import { fileAside } from "../../base/disk.ts"
import { withoutSpan } from "../../base/spans.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"
import { printSerials, readSerials, type SerialRow, withTip } from "./serials.ts"

/** The serial of the zone, which grows with each tip of the names, and never goes back. */
export class ZoneSerials extends Context.Tag("svcd/dns/ZoneSerials")<ZoneSerials, {
  /** That of the last tip; 0 before the first block. */
  readonly serial: () => number
  /** The last tips with their serials, oldest first. */
  readonly rows: () => ReadonlyArray<SerialRow>
  /** Waits until the serial is another one than that given, and returns it. */
  readonly after: (known: number) => Effect.Effect<number>
}>() {}

/** Where the names stand. */
export interface ZoneTip {
  /** `undefined` before the first block. */
  readonly tip: Cursor | undefined
  /** Ends when there may be another tip. */
  readonly passed: Effect.Effect<void>
}

export interface ZoneSerialsOptions {
  /** `undefined` keeps the serials in memory. */
  readonly filename: string | undefined
  /**
   * What the records depend on besides the names. If the text changes, the serials continue, and secondaries take the
   * whole zone.
   */
  readonly made: string
  readonly tip: Effect.Effect<ZoneTip, StorageFailure>
}

const RETRY = Duration.seconds(1)

interface StoredSerials {
  readonly rows: ReadonlyArray<SerialRow>
  /** The next serial is not lower. */
  readonly least: number
}

/**
 * Without the last serial, the time in seconds goes on: it is later than the heights and than the times before, and
 * never 2^31 ahead of them, so that secondaries see a later serial.
 */
const afterDamage = (filename: string): Effect.Effect<StoredSerials> =>
  Effect.gen(function*() {
    const least = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    yield* Effect.logWarning(
      "the file of the zone's serials is damaged: they continue from the time in seconds, and secondaries transfer the whole zone once",
      { file: filename, least }
    )
    return { rows: [], least }
  })

const readStored = (
  { filename, made }: ZoneSerialsOptions
): Effect.Effect<StoredSerials, StorageFailure> => {
  const none: StoredSerials = { rows: [], least: 0 }
  if (filename === undefined) return Effect.succeed(none)
  return io({ file: filename, doing: "reading" }, () => fileAside(filename)).pipe(
    Effect.flatMap((bytes) => {
      const found = readSerials(bytes.toString("utf8"))
      if (found === undefined) return afterDamage(filename)
      const { rows } = found
      const last = rows.at(-1)?.serial ?? -1
      return Effect.succeed(found.made === made ? { rows, least: 0 } : { rows: [], least: last + 1 })
    }),
    Effect.catchIf(({ code }) => code === "ENOENT", () => Effect.succeed(none))
  )
}

const make = (
  options: ZoneSerialsOptions
): Effect.Effect<typeof ZoneSerials.Service, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const { filename, made, tip: readTip } = options
    const stored = yield* readStored(options)
    let rows = stored.rows
    let changed = Deferred.unsafeMake<void>(FiberId.none)
    let savedBefore = true
    if (filename !== undefined) {
      yield* io({ file: dirname(filename), doing: "making" }, () => makeDirectoryDurably(dirname(filename)))
    }

    /** Serials go on in memory if the disk is full: a zone that stands still would be worse. */
    const save = (next: ReadonlyArray<SerialRow>): Effect.Effect<void> =>
      filename === undefined
        ? Effect.void
        : io({ file: filename, doing: "writing" }, () => replaceFile(filename, [printSerials({ made, rows: next })]))
          .pipe(
            Effect.matchEffect({
              onSuccess: () => Effect.sync(() => void (savedBefore = true)),
              onFailure: ({ message: reason }) => {
                const log = savedBefore
                  ? Effect.logError("the zone's serials cannot be saved", { reason })
                  : Effect.void
                savedBefore = false
                return log
              }
            })
          )

    /** A serial is on the disk before anyone sees it, so that a crash cannot take it back. */
    const noteTip = Effect.gen(function*() {
      const { passed, tip } = yield* readTip
      const next = tip === undefined ? rows : withTip(rows, tip, stored.least)
      if (next === rows) return passed
      yield* save(next)
      rows = next
      const told = changed
      changed = Deferred.unsafeMake<void>(FiberId.none)
      Deferred.unsafeDone(told, Effect.void)
      return passed
    }).pipe(Effect.uninterruptible)

    /** A names.db that cannot be read is being repaired. */
    const following = noteTip.pipe(
      Effect.catchAll(({ message: reason }) =>
        Effect.as(Effect.logWarning("the zone's serial cannot follow the names", { reason }), Effect.sleep(RETRY))
      ),
      Effect.flatten,
      Effect.forever
    )

    const serial = (): number => rows.at(-1)?.serial ?? 0
    const after = (known: number): Effect.Effect<number> =>
      Effect.suspend(() =>
        serial() === known ? Effect.zipRight(Deferred.await(changed), after(known)) : Effect.succeed(serial())
      )

    yield* Effect.asVoid(noteTip)
    yield* Effect.forkScoped(withoutSpan(following))
    return ZoneSerials.of({ serial, rows: () => rows, after })
  }).pipe(Effect.annotateLogs("subsystem", "dns"))

export const layer = (options: ZoneSerialsOptions): Layer.Layer<ZoneSerials, StorageFailure> =>
  Layer.scoped(ZoneSerials, make(options))
