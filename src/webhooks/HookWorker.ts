import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { createHash } from "node:crypto"
import { turnOfEventLoop } from "../base/turns.ts"
import { webhookDeliveries } from "../metrics/webhookMetrics.ts"
import { CursorUnusable } from "../names/errors.ts"
import { BEGINNING, cursorText, type EventCursor, mayCome, readCursorText } from "../names/events/EventCursor.ts"
import { type EventFilter, wantsBlocks, wantsNotices } from "../names/events/EventFilter.ts"
import type { NameEvent } from "../names/events/NameEvent.ts"
import type { EventFailure, EventPage, NameEvents } from "../names/events/NameEvents.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type HookDelivery, MESSAGE_EVENTS, messageBody, messageId, stepOf } from "./hookMessage.ts"
import { afterAnswer, behindAttempt, isAccepted, marked, movedTo, withoutPlace } from "./hookProgress.ts"
import type { HookRow } from "./HookStore.ts"
import type { HookAnswer } from "./post.ts"
import { LONGEST_PAUSE } from "./retries.ts"

// Sends to one hook: reads the events behind its cursor, one block at a time, and sends each until the receiver accepts it.
//
//     read ──► mark the message on disk ──► send ──2xx──► move the cursor ──► read
//                                            └─ other ──► wait ──► read
//
// A marked message was perhaps received. If its block leaves the chain before the receiver accepts the message, the hook
// continues behind it, so that the receiver learns that the block is undone. The message that undoes the last of several
// blocks is sent again unchanged, even after these blocks came back: otherwise, a receiver that never got the message
// would be told to undo the block below first.

/** A hook in memory. Only its worker changes the row while it runs. */
export interface LiveHook {
  row: HookRow
  readonly filter: EventFilter
  /** Scheme and host of the URL, the only part allowed in the log. */
  readonly origin: string
}

export interface HookWorkerParts {
  readonly events: Pick<typeof NameEvents.Service, "news" | "page">
  /** Writes an event as `/events` does. */
  readonly textOf: (event: NameEvent) => string
  readonly send: (hook: LiveHook, message: { readonly id: string; readonly body: string }) => Effect.Effect<HookAnswer>
  /** Whether blocks are missing, so that the block of a cursor may still arrive. */
  readonly syncing: Effect.Effect<boolean>
  readonly put: (row: HookRow) => Effect.Effect<void, StorageFailure>
}

/** Blocks without a wanted event after which the place of a hook is stored. */
const STORED_EVERY = 64

/** Pause of a hook whose cursor is above the node's last block, while that block may still arrive. */
const AHEAD_PAUSE = "10 seconds"

const DISK_PAUSE = "1 minute"

const digestOf = (body: string): string => createHash("sha256").update(body).digest("hex").slice(0, 32)

const placeOf = (text: string): Effect.Effect<EventCursor, CursorUnusable> => {
  const cursor = readCursorText(text)
  return cursor === undefined
    ? new CursorUnusable({ cursor: text, why: "damaged", oldest: cursorText(BEGINNING) })
    : Effect.succeed(cursor)
}

const heightOf = (text: string): number => readCursorText(text)?.height ?? -1

interface Found {
  readonly from: EventCursor
  readonly delivery: HookDelivery
}

export const hookWorker = (
  hook: LiveHook,
  { events, put, send, syncing, textOf }: HookWorkerParts
): Effect.Effect<never> => {
  const { filter, origin } = hook
  const named = { hook: hook.row.id, origin }
  let stored = heightOf(hook.row.position)
  let isAhead = false

  const store = (row: HookRow): Effect.Effect<void, StorageFailure> =>
    Effect.tap(put(row), () =>
      Effect.sync(() => {
        hook.row = row
        stored = heightOf(row.position)
      }))

  const page = (at: EventCursor): Effect.Effect<EventPage, EventFailure> =>
    events.page(at, { notices: wantsNotices(filter), blocks: wantsBlocks(filter), most: MESSAGE_EVENTS })

  /** The next message after a place; `undefined` if there is none yet. */
  const scan = (from: EventCursor): Effect.Effect<Found | undefined, EventFailure> =>
    Effect.gen(function*() {
      for (let at = from;;) {
        const read = yield* page(at)
        const step = stepOf(read, filter)
        if (step.type === "deliver") return { from: at, delivery: step.delivery }
        const isEnd = read.isEnd && step.to === read.next
        at = step.to
        const row = movedTo(hook.row, at)
        if (Math.abs(at.height - stored) >= STORED_EVERY) yield* store(row)
        else hook.row = row
        if (isEnd) return undefined
        yield* turnOfEventLoop
      }
    })

  /** The height down to which the block of a place is undone; `undefined` if no such event comes next. */
  const baseOf = (place: EventCursor): Effect.Effect<number | undefined, EventFailure> =>
    Effect.map(
      page(place),
      ({ events: [first] }) => first?.type === "undone" ? first.cursor.base ?? first.cursor.height : undefined
    )

  /** The next message after a place, where the first undoes its block down to a base, wherever the chain goes meanwhile. */
  const undoing = (place: EventCursor, base: number): Effect.Effect<Found | undefined, EventFailure> => {
    const down = { ...place, base }
    return Effect.map(scan(down), (found) => found?.from === down ? { ...found, from: place } : found)
  }

  const next: Effect.Effect<Found | undefined, EventFailure> = Effect.gen(function*() {
    const { attempt, position } = hook.row
    const at = yield* placeOf(position)
    if (attempt === undefined) return yield* scan(at)
    const behind = yield* placeOf(attempt.cursor)
    if (!attempt.isUndone) {
      const base = yield* baseOf(behind)
      if (base === undefined) return yield* scan(at)
      hook.row = behindAttempt(hook.row)
      return yield* undoing(behind, base)
    }
    // The base stays, even if the block is back, or leaves the chain at another place now.
    const base = yield* baseOf(behind.base === undefined ? at : { ...at, base: behind.base })
    if (base !== undefined) return yield* undoing(at, base)
    // The block is back, and a receiver that has undone it needs it again.
    if (behind.base !== undefined || (yield* page(behind)).events.length === 0) return undefined
    hook.row = behindAttempt(hook.row)
    return yield* scan(behind)
  })

  const logged = (before: HookRow, after: HookRow, answer: HookAnswer): Effect.Effect<void> => {
    const facts = { ...named, reason: after.lastError, failures: after.failures }
    if (isAccepted(answer)) {
      return before.failures === 0 ? Effect.void : Effect.logInfo("webhook accepts messages again", named)
    }
    switch (after.state) {
      case "dead":
        return Effect.logError("webhook is dead: it accepted no message for 14 days; resumewebhook revives it", facts)
      case "gone":
        return Effect.logError("webhook is gone: its receiver answered 410; resumewebhook revives it", facts)
      default:
        return before.failures === 0
          ? Effect.logWarning("webhook fails: its message will be retried", facts)
          : Effect.logDebug("webhook fails again", facts)
    }
  }

  const deliver = ({ delivery, from }: Found): Effect.Effect<void, StorageFailure> =>
    Effect.gen(function*() {
      const body = messageBody(delivery, { hook: hook.row.id, textOf })
      const attempt = { cursor: cursorText(delivery.next), digest: digestOf(body), isUndone: delivery.isUndone }
      const row = marked(hook.row, from, attempt)
      if (row !== hook.row) yield* store(row)
      const message = { id: messageId(row.id, row.sequence, delivery), body }
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const answer = yield* restore(send(hook, message))
          const after = afterAnswer(row, {
            answer,
            now: yield* Clock.currentTimeMillis,
            random: yield* Random.next
          })
          webhookDeliveries.of(outcomeOf(answer)).increase()
          yield* store(after)
          yield* logged(row, after, answer)
        })
      )
    })

  const round = Effect.gen(function*() {
    if (hook.row.state !== "active") return yield* Effect.never
    const left = hook.row.nextAttempt - (yield* Clock.currentTimeMillis)
    // The machine's clock may have been set back.
    if (left > 0) yield* Effect.sleep(Math.min(left, LONGEST_PAUSE))
    const news = events.news()
    const found = yield* next
    yield* found === undefined ? news : deliver(found)
  }).pipe(
    Effect.tap(() => {
      isAhead = false
    }),
    Effect.catchTag("CursorUnusable", (failure) =>
      Effect.gen(function*() {
        if (mayCome(failure, { syncing: yield* syncing })) {
          if (!isAhead) {
            yield* Effect.logWarning("webhook waits: its cursor is above the last block of the node", named)
          }
          isAhead = true
          return yield* Effect.sleep(AHEAD_PAUSE)
        }
        yield* Effect.logError("webhook cannot continue: the node has no events after its cursor; see listwebhooks", {
          ...named,
          why: failure.why
        })
        yield* store(withoutPlace(hook.row, failure.message))
      }))
  )
  return Effect.forever(Effect.catchAll(round, ({ message }) =>
    Effect.zipRight(
      Effect.logError("webhook waits: a file of the node cannot be read or written", { ...named, reason: message }),
      Effect.sleep(DISK_PAUSE)
    )))
}

export const outcomeOf = (answer: HookAnswer) =>
  isAccepted(answer) ? "delivered" : answer._tag === "NoAnswer" ? answer.outcome : "refused"
