import { cursorText, type EventCursor } from "../names/events/EventCursor.ts"
import type { Millis } from "../protocol/keys.ts"
import type { Attempt, HookRow } from "./HookStore.ts"
import type { HookAnswer } from "./post.ts"
import { isGivenUp, pauseAfter } from "./retries.ts"

export const newRow = (
  { filter, id, position, secret, source, url }: Pick<HookRow, "id" | "source" | "url" | "secret" | "filter"> & {
    readonly position: EventCursor
  }
): HookRow => ({
  id,
  source,
  url,
  secret,
  filter,
  state: "active",
  position: cursorText(position),
  sequence: 0,
  attempt: undefined,
  failures: 0,
  failingSince: undefined,
  nextAttempt: 0,
  lastError: undefined,
  delivered: 0,
  deliveredAt: undefined
})

/** After events that the hook does not want. */
export const movedTo = (row: HookRow, place: EventCursor): HookRow => ({
  ...row,
  position: cursorText(place),
  attempt: undefined
})

/**
 * After a message that may have been received: the place of a hook whose block left the chain after sending. A receiver
 * that has the block learns that it is undone; for others `undone` changes nothing.
 */
export const behindAttempt = (row: HookRow): HookRow => ({
  ...row,
  position: row.attempt?.cursor ?? row.position,
  attempt: undefined
})

/** Before sending, as the message may be received from now on. The same message has the same number again. */
export const marked = (row: HookRow, from: EventCursor, attempt: Attempt): HookRow => {
  const isRetry = row.position === cursorText(from) && row.attempt?.cursor === attempt.cursor &&
    row.attempt.digest === attempt.digest
  return isRetry ? row : { ...row, position: cursorText(from), attempt, sequence: row.sequence + 1 }
}

/** From a place, or after the last accepted message, without a pause. */
export const resumed = (row: HookRow, place: EventCursor | undefined): HookRow => ({
  ...place === undefined ? row : movedTo(row, place),
  state: "active",
  failures: 0,
  failingSince: undefined,
  nextAttempt: 0,
  lastError: undefined
})

/** The event log has no place for the hook's cursor. */
export const withoutPlace = (row: HookRow, reason: string): HookRow => ({
  ...row,
  state: "cursor",
  lastError: reason
})

export const isAccepted = (answer: HookAnswer): boolean =>
  answer._tag === "Answered" && answer.status >= 200 && answer.status < 300

const isRedirect = (status: number): boolean => status >= 300 && status < 400

export const reasonOfAnswer = (answer: HookAnswer): string => {
  if (answer._tag === "NoAnswer") return answer.reason
  return isRedirect(answer.status)
    ? `status ${answer.status}: redirects are not followed; set the URL to which this one leads`
    : `status ${answer.status}`
}

interface Answered {
  readonly answer: HookAnswer
  readonly now: Millis
  /** From 0 to below 1. */
  readonly random: number
}

/** After an attempt to send the marked message. */
export const afterAnswer = (row: HookRow, { answer, now, random }: Answered): HookRow => {
  if (isAccepted(answer)) {
    return { ...resumed(behindAttempt(row), undefined), delivered: row.delivered + 1, deliveredAt: now }
  }
  const { failingSince = now } = row
  const failures = row.failures + 1
  const wished = answer._tag === "Answered" ? answer.wished : undefined
  const isGone = answer._tag === "Answered" && answer.status === 410
  return {
    ...row,
    state: isGone ? "gone" : isGivenUp(failingSince, now) ? "dead" : "active",
    failures,
    failingSince,
    nextAttempt: now + pauseAfter({ attempts: failures, random, wished }),
    lastError: reasonOfAnswer(answer)
  }
}
