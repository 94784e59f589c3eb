import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { withoutSpan } from "../base/spans.ts"
import { nextTurn } from "../base/turns.ts"
import type { LightNode } from "../light/LightPart.ts"
import type { NameAnswers } from "../light/NameAnswers.ts"
import type { CommitSignal } from "../names/CommitSignal.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { AnswerCache, ZoneMoment } from "./AnswerCache.ts"

/** How long to wait for a commit: names can become incomplete without one, when headers arrive. */
const WAIT = { milliseconds: 1_000 }

/** Kept signatures are valid for at least six more days than this. */
const LONGEST_KEPT_MILLIS = 86_400_000

/** How the cache learns what changed, at each question: no change of the names waits for a fiber to wake up. */
export interface ZoneWatch {
  /** Counts the changes so far, and tells the cache about new ones. */
  readonly moment: () => number
  readonly state: () => ZoneMoment
  /** Whether a name that is missing at this height does not exist. Looks once in a turn of the event loop. */
  readonly mayDenyAt: (tipHeight: Height) => boolean
}

export interface ZoneWatchOptions {
  readonly cache: AnswerCache
  readonly answers: Pick<typeof NameAnswers.Service, "complete" | "height">
  /** The window of a light part while it answers. */
  readonly part: { readonly current: () => { readonly span: Pick<LightNode["span"], "filled"> } | undefined }
  readonly commits: Pick<CommitSignal, "behind" | "count" | "touchedBehind">
}

const UNKNOWN = -1

/** Follows the commits of names.db, and the blocks of a window while it answers. */
export const makeZoneWatch = (
  { answers, cache, commits, part }: ZoneWatchOptions
): Effect.Effect<ZoneWatch, never, Scope.Scope> =>
  Effect.gen(function*() {
    let moment = 0
    let seen = commits.count
    let height: Height = UNKNOWN
    let mayDeny = false
    let light: ReturnType<ZoneWatchOptions["part"]["current"]>
    let high: HeaderId | undefined

    const now = (): number => {
      const current = part.current()
      const last = current?.span.filled().high
      if (current !== light || last !== high) {
        light = current
        high = last
        cache.clear(++moment)
      }
      const { count } = commits
      if (count !== seen) {
        cache.change(commits.touchedBehind(seen), ++moment)
        seen = count
        height = UNKNOWN
      }
      return moment
    }

    const clock = yield* Effect.clock
    let begun = clock.unsafeCurrentTimeMillis()
    const read = Effect.suspend(() => {
      now()
      const before = seen
      if (clock.unsafeCurrentTimeMillis() - begun > LONGEST_KEPT_MILLIS) {
        begun = clock.unsafeCurrentTimeMillis()
        cache.clear(++moment)
      }
      return Effect.map(Effect.zip(answers.height, answers.complete), ([tipHeight, complete]) => {
        if (commits.count === before) height = tipHeight
        mayDeny = complete
        return before
      })
    })
    // A file that cannot be read now is read again at the next commit; until then no answer is taken from the cache.
    const follow = Effect.orElseSucceed(read, () => {
      height = UNKNOWN
      mayDeny = false
      return seen
    }).pipe(
      Effect.flatMap((before) => commits.behind(before, WAIT)),
      Effect.forever
    )
    yield* Effect.ignore(read)
    yield* Effect.forkScoped(withoutSpan(follow))
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    let isKnown = false
    let isComplete = false
    /** Names that wait for a block are not complete now. */
    const completeNow = (): boolean => {
      if (isKnown) return isComplete
      const look = fork(Effect.orElseSucceed(answers.complete, () => false))
      const exit = look.unsafePoll()
      if (exit === null) look.unsafeInterruptAsFork(FiberId.none)
      isComplete = exit !== null && Exit.isSuccess(exit) && exit.value
      isKnown = true
      nextTurn(() => {
        isKnown = false
      })
      return isComplete
    }

    return {
      moment: now,
      // In a window each block begins the cache again.
      state: () => ({ height: light === undefined ? height : undefined, mayDeny }),
      mayDenyAt: (tipHeight) => {
        // Forgets the height of before a commit that nobody has asked about yet.
        now()
        return mayDeny && tipHeight === height && completeNow()
      }
    }
  })
