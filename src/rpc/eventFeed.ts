import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Lines } from "./DocumentLines.ts"
import type { RpcUnreachable } from "./RpcClient.ts"

/**
 * The events of names of a daemon (docs/events.md), over one connection after the other: each goes on behind the last
 * event that was received, so that none is missing and none comes twice.
 */

/** A line of the daemon. */
export interface FeedLine {
  /** The place behind the event; `undefined` for an event of the moment, which has none. */
  readonly cursor: string | undefined
  /** Not checked: the daemon may be any program. */
  readonly event: Readonly<Record<string, unknown>>
  readonly text: string
}

export interface EventFeed<E> {
  /** Connects to read behind a cursor; without one, from now on. */
  readonly open: (from: string | undefined) => Effect.Effect<Stream.Stream<Lines, RpcUnreachable>, E, Scope.Scope>
  /** Where to begin; `undefined`: from now on. */
  readonly from: string | undefined
  /** Whether a failure to connect may pass: the daemon restarts. Before the first connection no failure is retried. */
  readonly mayPass: (failure: E) => boolean
  /** Milliseconds before the first retry; the pauses grow to `LONGEST_PAUSE`. */
  readonly firstPause?: number | undefined
}

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 5_000

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** `undefined` for a report that the stream cannot go on, and for no line of a daemon. */
const readLine = (text: string): FeedLine | undefined => {
  try {
    const event: unknown = JSON.parse(text)
    if (!isObject(event)) return undefined
    const { cursor, type } = event
    if (typeof cursor === "string") return { cursor, event, text }
    return typeof type === "string" && type !== "error" ? { cursor: undefined, event, text } : undefined
  } catch {
    return undefined
  }
}

interface Place {
  readonly cursor: string | undefined
  /** Attempts to connect since the last line. */
  readonly attempts: number
  readonly isKnown: boolean
}

/** The events, and the places between them as lines of type `position`. It ends only with a failure. */
export const eventFeed = <E>(
  { firstPause = FIRST_PAUSE, from, mayPass, open }: EventFeed<E>
): Stream.Stream<FeedLine, E> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const scope = yield* Effect.scope
    let place: Place = { cursor: from, attempts: 0, isKnown: false }
    let connection: Scope.CloseableScope | undefined
    let pull: Effect.Effect<Chunk.Chunk<Lines>, Option.Option<RpcUnreachable>> | undefined

    const hangUp = Effect.suspend(() => {
      const open = connection
      connection = undefined
      pull = undefined
      return open === undefined ? Effect.void : Scope.close(open, Exit.void)
    })
    yield* Effect.addFinalizer(() => hangUp)

    const pause = Effect.suspend(() => {
      const { attempts } = place
      place = { ...place, attempts: attempts + 1 }
      if (attempts === 0) return Effect.void
      const longest = Math.min(LONGEST_PAUSE, firstPause * 2 ** Math.min(attempts - 1, 16))
      // Random pauses keep the readers of a daemon from coming back at the same moment.
      return Effect.flatMap(Random.next, (part) => Effect.sleep(longest * (0.5 + 0.5 * part)))
    })

    const connect: Effect.Effect<Effect.Effect<Chunk.Chunk<Lines>, Option.Option<RpcUnreachable>>, E> = Effect.gen(
      function*() {
        for (;;) {
          yield* hangUp
          yield* pause
          const opened = yield* Scope.fork(scope, ExecutionStrategy.sequential)
          connection = opened
          const lines = yield* Effect.either(Scope.extend(open(place.cursor), opened))
          if (lines._tag === "Right") {
            place = { ...place, isKnown: true }
            pull = yield* Scope.extend(Stream.toPull(lines.right), opened)
            return pull
          }
          if (!place.isKnown || !mayPass(lines.left)) return yield* Effect.fail(lines.left)
        }
      }
    )

    /** The next lines of this connection, or of the next one. */
    const next: Effect.Effect<Chunk.Chunk<FeedLine>, Option.Option<E>> = Effect.gen(function*() {
      for (;;) {
        const read = pull ?? (yield* Effect.mapError(connect, Option.some))
        const got = yield* Effect.either(read)
        if (got._tag === "Left") {
          yield* hangUp
          continue
        }
        const found: Array<FeedLine> = []
        for (const lines of got.right) {
          for (const text of lines) {
            const line = readLine(text)
            if (line !== undefined) found.push(line)
          }
        }
        if (found.length === 0) continue
        const last = found.findLast(({ cursor }) => cursor !== undefined)
        // Not 0: a daemon that ends each connection after its first line must not be called without a pause.
        place = { cursor: last?.cursor ?? place.cursor, attempts: 1, isKnown: true }
        return Chunk.unsafeFromArray(found)
      }
    })
    return Stream.repeatEffectChunkOption(next)
  }))
