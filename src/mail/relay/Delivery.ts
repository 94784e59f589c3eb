import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Entry } from "./DeliveryQueue.ts"
import {
  afterRecord,
  type DeliveryRecord,
  dueForReport,
  initialState,
  isFinished,
  nextDue,
  type Queued,
  type RecipientState
} from "./deliveryState.ts"
import type { Envelope, Reply } from "./envelope.ts"
import { mailCounters } from "./mailMetrics.ts"
import type { DeliveryOutcome } from "./outcome.ts"
import type { MessageAge } from "./Patience.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { buildReport, failedRecipients, REPORTED_HEADER, reportHeader } from "./report.ts"
import { smtpTransactionOf } from "./smtpTransactionOf.ts"
import { CORRUPT_DIRECTORY, type Spool } from "./Spool.ts"
import { spoolIo } from "./spoolFile.ts"
import type { Srs } from "./srs.ts"
import type { Tally } from "./Tally.ts"
import type { Upstream } from "./Upstream.ts"

export interface DeliveryParts {
  readonly config: RelayConfig
  readonly spool: Spool
  readonly srs: Srs
  readonly upstream: Upstream
  readonly tally: Tally
  readonly isOver: (age: MessageAge) => boolean
  readonly isStopping: () => boolean
  readonly start: (message: Queued) => void
}

const AT_ONCE = 4

/** Milliseconds, after the spool could not be read or written. */
const SPOOL_PAUSE = 60_000

const LOOP: Reply = { code: 0, status: "5.4.6", text: "the message has been here before: it goes round in circles" }
const EXPIRED = "it could not be delivered in time"

type Waiting = Extract<RecipientState, { readonly _tag: "Waiting" }>

/**
 * Tries each due recipient's addresses until the upstream server takes one, and reports failed recipients to the
 * sender. Returns when the message is due again, in milliseconds since 1970; `undefined` once it has left the spool.
 */
export const deliver = (parts: DeliveryParts, entry: Entry): Effect.Effect<number | undefined> =>
  Effect.gen(function*() {
    const message = entry.message ?? (yield* load(parts, entry))
    if (message === "unreadable") return (yield* Clock.currentTimeMillis) + SPOOL_PAUSE
    if (message === "damaged") return undefined
    entry.message = message
    const longest = longestPause(parts.config)
    while (true) {
      const now = yield* Clock.currentTimeMillis
      const failed = dueForReport(message.state)
      if (failed.length > 0) {
        if (!(yield* report(parts, message, failed))) return now + SPOOL_PAUSE
        continue
      }
      if (isFinished(message.state)) {
        yield* forget(parts, entry)
        return undefined
      }
      if (parts.isStopping()) return now
      entry.arrivedAt = Math.min(entry.arrivedAt, now)
      if (parts.isOver({ arrivedAt: entry.arrivedAt, now })) {
        yield* eachWaiting(message, Number.POSITIVE_INFINITY, (each) => give(parts, message, each))
        continue
      }
      const next = nextDue(message.state) ?? now
      // A due time beyond the longest pause was recorded before the clock was set back.
      const isDue = next <= now || next > now + longest
      if (!isDue) return next
      if (!parts.upstream.isReachable()) return now
      const until = next > now ? Number.POSITIVE_INFINITY : now
      yield* eachWaiting(message, until, (each) => attempt(parts, message, each))
    }
  }).pipe(
    // A defect must not lose the message: it is logged, and the relay tries again.
    Effect.catchAllDefect((defect) =>
      Effect.zipRight(
        Effect.logError("delivery failed unexpectedly", { id: entry.id, reason: String(defect) }),
        Effect.map(Clock.currentTimeMillis, (now) => now + SPOOL_PAUSE)
      )
    ),
    Effect.withSpan("svcd.mail.deliver", { attributes: { message: entry.id } })
  )

/** Milliseconds: no attempt is further away. */
export const longestPause = ({ retry }: RelayConfig): number =>
  Math.max(...retry.pauses.map((pause) => Duration.toMillis(pause))) * (1 + JITTER)

const JITTER = 0.1

const load = ({ spool }: DeliveryParts, entry: Entry): Effect.Effect<Queued | "unreadable" | "damaged"> =>
  Effect.gen(function*() {
    const { id } = entry
    const message = yield* spoolIo({ file: spool.path(id, "msg"), doing: "reading" }, () => spool.load(id))
    if (message === undefined) {
      yield* spoolIo({ file: spool.path(id, "msg"), doing: "moving" }, () => spool.putAside(id, entry.bytes))
      yield* Effect.logError("damaged message moved aside", { file: `${CORRUPT_DIRECTORY}/${id}.msg` })
      return "damaged"
    }
    const now = yield* Clock.currentTimeMillis
    entry.arrivedAt = Math.min(message.envelope.arrivedAt, now)
    if (entry.suspect && (nextDue(message.state) ?? Number.POSITIVE_INFINITY) <= now) {
      yield* mayRepeat({ id, reason: "the relay did not end properly" })
    }
    entry.suspect = false
    return message
  }).pipe(
    Effect.catchAll((failure) =>
      Effect.as(
        Effect.logError("a message cannot be read", { id: entry.id, reason: failure.message }),
        "unreadable" as const
      )
    )
  )

interface WaitingRecipient {
  readonly index: number
  readonly state: Waiting
}

/** Runs `work` for waiting recipients due by `until`. */
const eachWaiting = (
  message: Queued,
  until: number,
  work: (recipient: WaitingRecipient) => Effect.Effect<void>
): Effect.Effect<void> =>
  Effect.forEach(
    message.state.flatMap((state, index) =>
      state._tag === "Waiting" && state.nextAt <= until ? [{ index, state }] : []
    ),
    work,
    { concurrency: AT_ONCE, discard: true }
  )

const give = (parts: DeliveryParts, message: Queued, { index, state }: WaitingRecipient): Effect.Effect<void> => {
  const { last } = state
  const reply: Reply = last === undefined
    ? { code: 0, status: "5.4.7", text: EXPIRED }
    : { ...last, text: last.code === 0 ? `${EXPIRED}: ${last.text}` : last.text }
  return note(parts, message, { event: "failed", recipient: index, reply })
}

/** Tries a recipient's next address, and records the outcome even during a shutdown. */
const attempt = (parts: DeliveryParts, message: Queued, { index, state }: WaitingRecipient): Effect.Effect<void> => {
  const { envelope } = message
  const recipient = envelope.recipients[index]
  const target = recipient?.targets[state.target]
  if (recipient === undefined || recipient.loops || target === undefined) {
    const reply = recipient?.loops === true ? LOOP : state.last ?? LOOP
    return note(parts, message, { event: "failed", recipient: index, reply })
  }
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const { id } = envelope
      const transaction = smtpTransactionOf(parts, message, { recipient, target, now })
      let begun = false
      const body = () => {
        begun = true
        return transaction.body()
      }
      const outcome = yield* restore(parts.upstream.deliver({ ...transaction, body })).pipe(
        Effect.tap(({ _tag }) => Effect.annotateCurrentSpan("outcome", _tag)),
        Effect.withSpan("svcd.mail.attempt"),
        Effect.onInterrupt(() =>
          begun ? mayRepeat({ id, reason: "the relay ended while the message was being handed over" }) : Effect.void
        )
      )
      yield* noteOutcome(parts, message, { index, state, outcome })
    })
  )
}

/** A connection that ends before the last reply leaves open whether the message was taken. */
export const mayRepeat = ({ id, reason }: { readonly id: string; readonly reason: string }): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.sync(() => mailCounters.repeated.increase()),
    Effect.logWarning("a message may be delivered twice", { id, reason })
  )

const noteOutcome = (
  parts: DeliveryParts,
  message: Queued,
  { index, outcome, state }: WaitingRecipient & { readonly outcome: DeliveryOutcome }
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { id, recipients, sender } = message.envelope
    const { reply } = outcome
    const facts = {
      id,
      sender,
      recipient: recipients[index]?.address,
      target: recipients[index]?.targets[state.target],
      reply: reply.text
    }
    switch (outcome._tag) {
      case "Unreachable":
        return
      case "Delivered":
        parts.tally.count("delivered")
        yield* Effect.logInfo("message delivered", facts)
        return yield* note(parts, message, { event: "delivered", recipient: index })
      case "Refused": {
        yield* Effect.logInfo("upstream server refuses a message", facts)
        yield* note(parts, message, { event: "refused", recipient: index, target: state.target, reply })
        const more = (message.envelope.recipients[index]?.targets.length ?? 0) > state.target + 1
        return yield* more ? Effect.void : note(parts, message, { event: "failed", recipient: index, reply })
      }
      case "Deferred": {
        parts.tally.count("deferred")
        if (outcome.uncertain) yield* mayRepeat({ id, reason: "the connection ended before the last answer" })
        const attempts = state.attempts + 1
        const { pauses } = parts.config.retry
        const pause = Duration.toMillis(pauses[Math.min(attempts, pauses.length) - 1] ?? Duration.millis(SPOOL_PAUSE))
        const jitter = yield* Random.nextRange(1 - JITTER, 1 + JITTER)
        const nextAt = (yield* Clock.currentTimeMillis) + Math.round(pause * jitter)
        yield* Effect.logInfo("upstream server deferred a message", facts)
        return yield* note(parts, message, { event: "deferred", recipient: index, attempts, nextAt, reply })
      }
    }
  })

/** Writes the record to disk, unless the message is finished and about to be deleted. */
const note = (parts: DeliveryParts, message: Queued, record: DeliveryRecord): Effect.Effect<void> =>
  Effect.suspend(() => {
    message.state = afterRecord(message.envelope, message.state, record)
    if (isFinished(message.state)) return Effect.void
    const { id } = message.envelope
    return spoolIo({ file: parts.spool.path(id, "log"), doing: "writing" }, () => parts.spool.record(id, record))
      .pipe(
        Effect.catchAll((failure) => {
          message.unsaved = true
          return Effect.logError("delivery state of a message cannot be saved", { id, reason: failure.message })
        })
      )
  })

/** If that fails, the message is delivered again after a restart. */
const forget = ({ spool }: DeliveryParts, { bytes, id }: Pick<Entry, "bytes" | "id">): Effect.Effect<void> =>
  spoolIo({ file: spool.path(id, "msg"), doing: "deleting" }, () => spool.remove(id, bytes)).pipe(
    Effect.catchAll((failure) =>
      Effect.logError("delivered message cannot be deleted", { id, reason: failure.message })
    ),
    Effect.uninterruptible
  )

/** Spools one bounce for the failed recipients. Returns whether that is done. */
const report = (parts: DeliveryParts, message: Queued, failed: ReadonlyArray<number>): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const { spool, tally } = parts
    const { envelope } = message
    const reported: DeliveryRecord = { event: "reported", recipients: failed }
    if (envelope.sender === "") {
      yield* Effect.logWarning("a message without a sender cannot be delivered and is discarded", { id: envelope.id })
      tally.count("discarded", failed.length)
      yield* note(parts, message, reported)
      return true
    }
    const spooled = yield* Effect.either(spoolReport(parts, message, failed))
    if (spooled._tag === "Left") {
      yield* Effect.logError("a report cannot be written", { id: envelope.id, reason: spooled.left.message })
      return false
    }
    const { bodyLength, envelope: { id } } = spooled.right
    // Before the bounce can be delivered: otherwise a crash would lead to a second bounce.
    const recorded = yield* Effect.either(
      spoolIo({ file: spool.path(envelope.id, "log"), doing: "writing" }, () => spool.record(envelope.id, reported))
    )
    if (recorded._tag === "Left") {
      yield* Effect.logError("delivery state of a report cannot be saved", {
        id: envelope.id,
        reason: recorded.left.message
      })
      yield* forget(parts, { id, bytes: bodyLength })
      return false
    }
    message.state = afterRecord(envelope, message.state, reported)
    tally.count("bounced", failed.length)
    yield* Effect.logInfo("delivery failed: the sender gets a report", { id: envelope.id, report: id })
    parts.start(spooled.right)
    return true
  }).pipe(Effect.uninterruptible)

const spoolReport = ({ config, spool }: DeliveryParts, { envelope, state }: Queued, failed: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const at = yield* Clock.currentTimeMillis
    const id = `${envelope.id}-r${failed[0] ?? 0}`
    const own: Envelope = {
      id,
      arrivedAt: at,
      sender: "",
      reports: { id: envelope.id, recipients: failed },
      greeting: config.hostname,
      client: "",
      protocol: "",
      hasMessageId: true,
      eightBit: true,
      recipients: [{ address: envelope.sender, targets: [envelope.sender], loops: false }]
    }
    const bodyLength = yield* spoolIo({ file: spool.path(id, "msg"), doing: "writing" }, async () => {
      const header = reportHeader(await spool.readStart(envelope.id, REPORTED_HEADER))
      const bytes = buildReport({
        id,
        at,
        hostname: config.hostname,
        from: config.reportSender,
        upstream: config.upstream.host,
        original: envelope,
        failed: failedRecipients(envelope, state, failed),
        header
      })
      const writer = spool.create(id)
      await writer.write(bytes)
      return await spool.commit(writer, own)
    })
    const queued: Queued = { envelope: own, bodyLength, state: initialState(own) }
    return queued
  })
