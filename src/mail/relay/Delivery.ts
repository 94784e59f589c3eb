import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import {
  afterRecord,
  type DeliveryRecord,
  type DeliveryState,
  isFinished,
  nextDue,
  type RecipientState,
  unreported
} from "./deliveryState.ts"
import type { Envelope, Reply } from "./envelope.ts"
import { mailCounters } from "./mailMetrics.ts"
import type { Outcome } from "./outcome.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { buildReport, failedRecipients, headerOf, REPORTED_HEADER } from "./report.ts"
import type { Spool } from "./Spool.ts"
import { storageUnavailable } from "./spoolErrors.ts"
import type { Srs } from "./srs.ts"
import type { Tally } from "./Tally.ts"
import { transactionOf } from "./transactionOf.ts"
import type { Upstream } from "./Upstream.ts"

/** A message that the relay answers for. */
export interface Queued {
  readonly envelope: Envelope
  readonly bodyLength: number
  state: DeliveryState
}

export interface DeliveryParts {
  readonly config: RelayConfig
  readonly spool: Spool
  readonly srs: Srs
  readonly upstream: Upstream
  readonly tally: Tally
  /** Whether the relay is about to end: no attempt is begun any more. */
  readonly isStopping: () => boolean
  /** Is told of attempts that begin (1) and end (-1). */
  readonly underWay: (change: 1 | -1) => void
  /** Begins the delivery of another message. */
  readonly start: (message: Queued) => void
}

/** Recipients of one message that are tried at the same time. */
const AT_ONCE = 4

/** After the spool could not be written, in which nothing can be reported. */
const SPOOL_PAUSE = Duration.minutes(1)

const LOOP: Reply = { code: 0, status: "5.4.6", text: "the message has been here before: it goes round in circles" }
const EXPIRED = "it could not be delivered in time"

type Waiting = Extract<RecipientState, { readonly _tag: "Waiting" }>

/**
 * Delivers one message: to each recipient's first address that takes it, again after a pause where the upstream server
 * puts it off, and with a report to the sender where nobody takes it. Ends when the message has left the spool.
 */
export const deliver = (parts: DeliveryParts, message: Queued): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { config, upstream } = parts
    const { envelope } = message
    const expiresAt = envelope.arrivedAt + Duration.toMillis(config.retry.giveUpAfter)
    while (true) {
      const failed = unreported(message.state)
      if (failed.length > 0) {
        yield* report(parts, message, failed)
        continue
      }
      if (isFinished(message.state)) return yield* forget(parts, message)
      if (parts.isStopping()) return yield* Effect.never

      const now = yield* Clock.currentTimeMillis
      if (now >= expiresAt) {
        yield* eachWaiting(message, 0, (index, state) => give(parts, message, index, state))
        continue
      }
      const due = nextDue(message.state) ?? now
      if (due > now) {
        yield* Effect.sleep(Duration.millis(Math.min(due, expiresAt) - now))
        continue
      }
      if (!upstream.isReachable()) {
        yield* Effect.timeoutOption(upstream.whenReachable, Duration.millis(expiresAt - now))
        continue
      }
      yield* eachWaiting(message, now, (index, state) => attempt(parts, message, index, state))
    }
  }).pipe(
    // What nobody foresaw must not lose the message: it is tried again, and a person is told.
    Effect.catchAllDefect((defect) =>
      Effect.zipRight(
        Effect.logError("delivery failed unexpectedly", { id: message.envelope.id, reason: String(defect) }),
        Effect.delay(Effect.suspend(() => deliver(parts, message)), SPOOL_PAUSE)
      )
    )
  )

/** Runs `work` for the recipients that wait; where `now` is given only for those that are due. */
const eachWaiting = (
  message: Queued,
  now: number,
  work: (index: number, state: Waiting) => Effect.Effect<void>
): Effect.Effect<void> =>
  Effect.forEach(
    message.state.flatMap((state, index) =>
      state._tag === "Waiting" && (now === 0 || state.nextAt <= now) ? [{ index, state }] : []
    ),
    ({ index, state }) => work(index, state),
    { concurrency: AT_ONCE, discard: true }
  )

/** Gives a recipient up whose time is over. */
const give = (parts: DeliveryParts, message: Queued, index: number, { last }: Waiting): Effect.Effect<void> => {
  const reply: Reply = last === undefined
    ? { code: 0, status: "5.4.7", text: EXPIRED }
    : { ...last, text: last.code === 0 ? `${EXPIRED}: ${last.text}` : last.text }
  return note(parts, message, { event: "failed", recipient: index, reply })
}

/** Tries a recipient's next address. What came of it is noted even if the relay is told to end meanwhile. */
const attempt = (parts: DeliveryParts, message: Queued, index: number, state: Waiting): Effect.Effect<void> => {
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
      parts.underWay(1)
      const transaction = transactionOf(parts, message, recipient, target, now)
      const outcome = yield* restore(parts.upstream.deliver(transaction)).pipe(
        Effect.onInterrupt(() => mayRepeat(id, "the relay ended while the message was being handed over"))
      )
      yield* noteOutcome(parts, message, index, state, outcome)
    }).pipe(Effect.ensuring(Effect.sync(() => parts.underWay(-1))))
  )
}

/** Says that somebody may get a message twice: no protocol can tell when a connection ends before the last answer. */
export const mayRepeat = (id: string, reason: string): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.sync(() => mailCounters.repeated.increase()),
    Effect.logWarning("a message may be delivered twice", { id, reason })
  )

const noteOutcome = (
  parts: DeliveryParts,
  message: Queued,
  index: number,
  state: Waiting,
  outcome: Outcome
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { id } = message.envelope
    const { reply } = outcome
    switch (outcome._tag) {
      case "Unreachable":
        return
      case "Delivered":
        parts.tally.count("delivered")
        yield* Effect.logDebug("message delivered", { id, recipient: index })
        return yield* note(parts, message, { event: "delivered", recipient: index })
      case "Refused": {
        yield* Effect.logInfo("upstream server refuses a message", { id, recipient: index, reply: reply.text })
        yield* note(parts, message, { event: "refused", recipient: index, target: state.target, reply })
        const more = (message.envelope.recipients[index]?.targets.length ?? 0) > state.target + 1
        return yield* more ? Effect.void : note(parts, message, { event: "failed", recipient: index, reply })
      }
      case "Deferred": {
        parts.tally.count("deferred")
        if (outcome.uncertain) yield* mayRepeat(id, "the connection ended before the last answer")
        const attempts = state.attempts + 1
        const { pauses } = parts.config.retry
        const pause = Duration.toMillis(pauses[Math.min(attempts, pauses.length) - 1] ?? SPOOL_PAUSE)
        const jitter = yield* Random.nextRange(0.9, 1.1)
        const nextAt = (yield* Clock.currentTimeMillis) + Math.round(pause * jitter)
        yield* Effect.logInfo("upstream server puts a message off", { id, recipient: index, reply: reply.text })
        return yield* note(parts, message, { event: "deferred", recipient: index, attempts, nextAt, reply })
      }
    }
  })

/** Takes a record in; puts it on the disk unless the message goes now in any case. */
const note = (parts: DeliveryParts, message: Queued, record: DeliveryRecord): Effect.Effect<void> =>
  Effect.suspend(() => {
    message.state = afterRecord(message.envelope, message.state, record)
    if (isFinished(message.state)) return Effect.void
    const { id } = message.envelope
    return Effect.tryPromise({
      try: () => parts.spool.record(id, record),
      catch: (error) => storageUnavailable(parts.spool.path(id, "log"), "writing", error)
    }).pipe(
      Effect.catchAll((failure) =>
        Effect.logError("the progress of a message cannot be noted", { id, reason: failure.message })
      )
    )
  })

/** Deletes a message. Where that fails it is delivered again after a restart. */
const forget = ({ spool }: DeliveryParts, { bodyLength, envelope }: Queued): Effect.Effect<void> =>
  Effect.tryPromise({
    try: () => spool.remove(envelope.id, bodyLength),
    catch: (error) => storageUnavailable(spool.path(envelope.id, "msg"), "deleting", error)
  }).pipe(
    Effect.catchAll((failure) =>
      Effect.logError("a message that is done cannot be deleted", { id: envelope.id, reason: failure.message })
    ),
    Effect.uninterruptible
  )

/** Tells the sender, once, whom a message did not reach: with a message of its own, which is spooled like any other. */
const report = (parts: DeliveryParts, message: Queued, failed: ReadonlyArray<number>): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { spool, tally } = parts
    const { envelope } = message
    const reported: DeliveryRecord = { event: "reported", recipients: failed }
    if (envelope.sender === "") {
      yield* Effect.logWarning("a message without a sender cannot be delivered and is discarded", { id: envelope.id })
      tally.count("discarded", failed.length)
      return yield* note(parts, message, reported)
    }
    const spooled = yield* Effect.either(spoolReport(parts, message, failed))
    if (spooled._tag === "Left") {
      yield* Effect.logError("a report cannot be written", { id: envelope.id, reason: spooled.left.message })
      return yield* Effect.interruptible(Effect.sleep(SPOOL_PAUSE))
    }
    // On the disk before the report can be delivered, or it would be made again after a crash.
    const recorded = yield* Effect.either(Effect.tryPromise({
      try: () => spool.record(envelope.id, reported),
      catch: (error) => storageUnavailable(spool.path(envelope.id, "log"), "writing", error)
    }))
    if (recorded._tag === "Left") {
      yield* Effect.logError("a report cannot be noted", { id: envelope.id, reason: recorded.left.message })
      yield* forget(parts, spooled.right)
      return yield* Effect.interruptible(Effect.sleep(SPOOL_PAUSE))
    }
    message.state = afterRecord(envelope, message.state, reported)
    tally.count("bounced", failed.length)
    yield* Effect.logInfo("the sender is told of a failed delivery", {
      id: envelope.id,
      report: spooled.right.envelope.id
    })
    parts.start(spooled.right)
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
    const bodyLength = yield* Effect.tryPromise({
      try: async () => {
        const header = headerOf(await spool.readStart(envelope.id, REPORTED_HEADER))
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
      },
      catch: (error) => storageUnavailable(spool.path(id, "msg"), "writing", error)
    })
    const queued: Queued = {
      envelope: own,
      bodyLength,
      state: [{ _tag: "Waiting", target: 0, attempts: 0, nextAt: 0, refusals: [], last: undefined }]
    }
    return queued
  })
