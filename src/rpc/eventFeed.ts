import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { orNothing } from "../protocol/orNothing.ts"
import type { Lines } from "./DocumentLines.ts"
import type { RpcUnreachable } from "./RpcClient.ts"

/** A daemon's events of names (docs/events.md). After a lost connection, none is missing or repeated. */

export interface FeedLine {
  /** The place after the event; `undefined` for a live event, which has none. */
  readonly cursor: string | undefined
  /** Unchecked, as the daemon may be any program. */
  readonly event: Readonly<Record<string, unknown>>
  readonly text: string
}

export interface EventFeed<E> {
  /** Reads after a cursor, or from now on. */
  readonly open: (from: string | undefined) => Effect.Effect<Stream.Stream<Lines, RpcUnreachable>, E, Scope.Scope>
  /** `undefined` means from now on. */
  readonly from: string | undefined
  /** Whether connecting may succeed later, as after a restart. Before the first connection, no failure is retried. */
  readonly mayPass: (failure: E) => boolean
  /** Milliseconds. Pauses grow to `LONGEST_PAUSE`. */
  readonly firstPause?: number | undefined
}

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 5_000

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** `undefined` for a line that is invalid or ends the stream. */
const readLine = (text: string): FeedLine | undefined =>
  orNothing(() => {
    const event: unknown = JSON.parse(text)
    if (!isObject(event)) return undefined
    const { cursor, type } = event
    if (typeof cursor === "string") return { cursor, event, text }
    return typeof type === "string" && type !== "error" ? { cursor: undefined, event, text } : undefined
  })

interface Place {
  readonly cursor: string | undefined
  /** Since the last line. */
  readonly attempts: number
  readonly isKnown: boolean
}

/** Events, and `position` lines with the places between. Ends only with a failure. */
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
      // Random pauses keep the readers of a daemon from returning all at once.
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

    /** From this connection or the next. */
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
        // Not 0, which would reconnect without a pause to a daemon that closes after one line.
        place = { cursor: last?.cursor ?? place.cursor, attempts: 1, isKnown: true }
        return Chunk.unsafeFromArray(found)
      }
    })
    return Stream.repeatEffectChunkOption(next)
  }))
