import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Address, formatHostPort } from "../base/addresses.ts"
import { BindFailed, listenOn } from "../base/listening.ts"
import { withLoneSpan } from "../base/spans.ts"
import type { StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { Recipients } from "./Recipients.ts"
import { deliver, type DeliveryParts, longestPause } from "./relay/Delivery.ts"
import { DeliveryQueue } from "./relay/DeliveryQueue.ts"
import { type DeliveryRecord, type Queued, unreported } from "./relay/deliveryState.ts"
import { Inbound } from "./relay/Inbound.ts"
import { mailTable } from "./relay/mailMetrics.ts"
import { type OpenedSpool, openSpool } from "./relay/openSpool.ts"
import { type MessageAge, Patience } from "./relay/Patience.ts"
import type { RelayConfig } from "./relay/RelayConfig.ts"
import type { RelayStats } from "./relay/RelayStats.ts"
import type { Spool } from "./relay/Spool.ts"
import { isPassing, spoolIo, spoolUnavailable } from "./relay/spoolFile.ts"
import { Tally } from "./relay/Tally.ts"
import { makeUpstream } from "./relay/Upstream.ts"

interface Relay {
  readonly address: Address
  readonly stats: Effect.Effect<RelayStats>
  readonly failure: Effect.Effect<never, StorageFailure>
}

/** Concurrent messages per upstream connection: some of them wait for the disk. */
const MESSAGES_A_CONNECTION = 2

/** Incoming mail goes into the spool, spooled mail to the upstream server. */
const makeRelay = (
  config: RelayConfig
): Effect.Effect<Relay, BindFailed | StorageFailure, Recipients | Scope.Scope> =>
  Effect.gen(function*() {
    const recipients = yield* Recipients
    const opened = yield* openSpool(config.spoolDirectory)
    const { spool } = opened
    const srs = { secret: opened.secret, domain: config.senderDomain }
    const tally = new Tally()
    const failed = yield* Deferred.make<never, StorageFailure>()
    let stopping = false

    const upstream = yield* makeUpstream(config, () => queue.wake())
    const deliveries = yield* FiberSet.make<void>()
    const runDelivery = yield* FiberSet.runtime(deliveries)<never>()
    const patience = new Patience(Duration.toMillis(config.retry.giveUpAfter))
    const isOver = (age: MessageAge): boolean => patience.isOver(age)
    const queue: DeliveryQueue = new DeliveryQueue({
      atOnce: config.limits.upstreamConnections * MESSAGES_A_CONNECTION,
      longestPause: longestPause(config),
      isReachable: upstream.isReachable,
      isOver,
      begin: (entry) => void runDelivery(Effect.map(deliver(parts, entry), (due) => queue.finished(entry, due)))
    })
    const start = (message: Queued): void => {
      const { bodyLength, envelope: { arrivedAt, id } } = message
      queue.add({ id, bytes: bodyLength, arrivedAt, due: arrivedAt, message, suspect: false })
    }
    const parts: DeliveryParts = {
      config,
      spool,
      srs,
      upstream,
      tally,
      isOver,
      isStopping: () => stopping,
      start
    }
    yield* noteReports(opened)

    const lookups = yield* FiberSet.make<unknown, unknown>()
    const run = yield* FiberSet.runtime(lookups)<never>()
    const spoolFailed = (failure: unknown): void => {
      const unavailable = spoolUnavailable({ file: config.spoolDirectory, doing: "writing to" }, failure)
      run(Effect.zipRight(
        Effect.logError("a message cannot be stored", { reason: unavailable.message }),
        isPassing(failure) ? Effect.void : Deferred.fail(failed, unavailable)
      ))
    }
    const inbound = yield* Effect.try({
      try: () => new Inbound({ config, spool, srs, recipients, tally, run, take: start, spoolFailed }),
      catch: (error) =>
        new BindFailed({
          what: "mail",
          address: formatHostPort(config.listen),
          code: `the key or the certificate cannot be used (${error instanceof Error ? error.message : String(error)})`
        })
    })

    const drain = Effect.gen(function*() {
      stopping = true
      queue.end()
      const { drainTime } = config.limits
      const delivered = Effect.interruptible(Effect.timeoutOption(FiberSet.awaitEmpty(deliveries), drainTime))
      yield* Effect.all([Effect.promise(() => inbound.drain(Duration.toMillis(drainTime))), delivered], {
        concurrency: 2
      })
      yield* FiberSet.clear(deliveries)
      yield* Effect.ignore(Effect.tryPromise(() => spool.markClean()))
      yield* Effect.logInfo("mail relay stopped", { queued: spool.messages })
    })
    const address = yield* Effect.acquireRelease(listenOn(inbound.server.server, config.listen, "mail"), () => drain)
    yield* Effect.logInfo("mail relay listening", { address: formatHostPort(address), queued: spool.messages })
    for (const { arrivedAt, bytes, id } of opened.found) {
      queue.add({ id, bytes, arrivedAt, due: 0, message: undefined, suspect: !opened.clean })
    }

    const stats = Effect.sync((): RelayStats => ({
      ...tally.counts,
      connections: inbound.connections,
      queued: spool.messages,
      queuedBytes: spool.bytes,
      upstreamReachable: upstream.isReachable()
    }))
    for (const family of mailTable) family.register()
    return { address, stats, failure: Deferred.await(failed) }
  }).pipe(Effect.annotateLogs("subsystem", "mail"))

/** A bounce is named after the message that it reports on. */
const REPORT = /^(?<original>.+)-r\d+$/

/** Runs before any delivery, because the relay may have been killed after writing a bounce and before noting that. */
const noteReports = ({ found, spool }: OpenedSpool): Effect.Effect<void, StorageUnavailable> =>
  Effect.gen(function*() {
    const ids = new Set(found.map(({ id }) => id))
    for (const id of ids) {
      const named = REPORT.exec(id)?.groups?.["original"]
      if (named === undefined || !ids.has(named)) continue
      const report = yield* load(spool, id)
      const original = yield* load(spool, named)
      const reports = report?.envelope.reports
      if (original === undefined || reports === undefined || reports.id !== named) continue
      const told = unreported(original.state).filter((index) => reports.recipients.includes(index))
      if (told.length > 0) yield* noteReported(spool, original, told)
    }
  })

const load = (spool: Spool, id: string): Effect.Effect<Queued | undefined, StorageUnavailable> =>
  spoolIo({ file: spool.path(id, "msg"), doing: "reading" }, () => spool.load(id))

const noteReported = (spool: Spool, original: Queued, recipients: ReadonlyArray<number>) => {
  const record: DeliveryRecord = { event: "reported", recipients }
  const { id } = original.envelope
  return spoolIo({ file: spool.path(id, "log"), doing: "writing" }, () => spool.record(id, record))
}

/** Forwards mail for labels to the addresses in their names (docs/mail.md) while its scope is open. */
export class SmtpRelay extends Context.Tag("svcd/SmtpRelay")<SmtpRelay, {
  /** With the actual port, if port 0 was configured. */
  readonly address: Address
  readonly stats: Effect.Effect<RelayStats>
  /** Fails when the spool becomes unusable for a reason other than a full disk. Never succeeds. */
  readonly failure: Effect.Effect<never, StorageFailure>
}>() {}

/** On release, stops accepting mail, waits up to `drainTime` for transactions, and leaves the rest in the spool. */
export const layer = (config: RelayConfig): Layer.Layer<SmtpRelay, BindFailed | StorageFailure, Recipients> =>
  Layer.scoped(SmtpRelay, withLoneSpan("svcd.mail.open")(makeRelay(config)))
