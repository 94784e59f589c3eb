import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { type Address, formatAddress } from "../../config/addresses.ts"
import type { StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { Recipients } from "../Recipients.ts"
import { deliver, type DeliveryParts, mayRepeat, type Queued } from "./Delivery.ts"
import { afterRecord, type DeliveryRecord, nextDue, unreported } from "./deliveryState.ts"
import { Inbound } from "./Inbound.ts"
import { mailTable } from "./mailMetrics.ts"
import { type OpenedSpool, openSpool } from "./openSpool.ts"
import { RelayBindFailed, type RelayConfig } from "./RelayConfig.ts"
import type { RelayStats } from "./RelayStats.ts"
import type { Spool } from "./Spool.ts"
import { isPassing, storageUnavailable } from "./spoolErrors.ts"
import { Tally } from "./Tally.ts"
import { makeUpstream } from "./Upstream.ts"

interface Relay {
  readonly address: Address
  readonly stats: Effect.Effect<RelayStats>
  readonly failure: Effect.Effect<never, StorageFailure>
}

/** Deliveries that are under way, and who waits for them to end. */
class UnderWay {
  #count = 0
  #whenNone: (() => void) | undefined

  change(by: 1 | -1): void {
    this.#count += by
    if (this.#count === 0) this.#whenNone?.()
  }

  /** Waits until none is under way, for so many milliseconds at most. */
  none(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count === 0) return resolve()
      const timer = setTimeout(resolve, milliseconds)
      this.#whenNone = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Puts the parts together: what comes in goes into the spool, what is in the spool goes to the upstream server. */
export const makeRelay = (
  config: RelayConfig
): Effect.Effect<Relay, RelayBindFailed | StorageFailure, Recipients | Scope.Scope> =>
  Effect.gen(function*() {
    const recipients = yield* Recipients
    const opened = yield* openSpool(config.spoolDirectory)
    const { spool } = opened
    const srs = { secret: opened.secret, domain: config.senderDomain }
    const tally = new Tally()
    const underWay = new UnderWay()
    const failed = yield* Deferred.make<never, StorageFailure>()
    let stopping = false

    const upstream = yield* makeUpstream(config)
    const deliveries = yield* FiberSet.make<void>()
    const runDelivery = yield* FiberSet.runtime(deliveries)<never>()
    const start = (message: Queued): void => void runDelivery(deliver(parts, message))
    const parts: DeliveryParts = {
      config,
      spool,
      srs,
      upstream,
      tally,
      isStopping: () => stopping,
      underWay: (change) => underWay.change(change),
      start
    }
    const resumed = yield* resumeAll(opened)

    const lookups = yield* FiberSet.make<unknown, unknown>()
    const run = yield* FiberSet.runtime(lookups)<never>()
    const spoolFailed = (failure: unknown): void => {
      const unavailable = storageUnavailable(config.spoolDirectory, "writing to", failure)
      run(Effect.zipRight(
        Effect.logError("a message cannot be stored", { reason: unavailable.message }),
        isPassing(failure) ? Effect.void : Deferred.fail(failed, unavailable)
      ))
    }
    const inbound = yield* Effect.try({
      try: () => new Inbound({ config, spool, srs, recipients, tally, run, take: start, spoolFailed }),
      catch: (error) =>
        new RelayBindFailed({
          address: formatAddress(config.listen),
          code: `the key or the certificate cannot be used (${error instanceof Error ? error.message : String(error)})`
        })
    })

    const drain = Effect.gen(function*() {
      stopping = true
      const drainTime = Duration.toMillis(config.limits.drainTime)
      yield* Effect.promise(() => Promise.all([inbound.drain(drainTime), underWay.none(drainTime)]))
      yield* FiberSet.clear(deliveries)
      yield* Effect.ignore(Effect.tryPromise(() => spool.markClean()))
      yield* Effect.logInfo("mail relay ends", { queued: spool.messages })
    })
    const address = yield* Effect.acquireRelease(listen(inbound, config.listen), () => drain)
    yield* Effect.logInfo("mail relay listens", { address: formatAddress(address), queued: spool.messages })
    for (const message of resumed) start(message)

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

const listen = (inbound: Inbound, { host, port }: Address): Effect.Effect<Address, RelayBindFailed> =>
  Effect.async((resume) => {
    const server = inbound.server.server
    const failed = (error: NodeJS.ErrnoException): void =>
      resume(new RelayBindFailed({ address: formatAddress({ host, port }), code: error.code ?? error.message }))
    server.once("error", failed)
    inbound.server.listen({ port, host: host === "" ? undefined : host }, () => {
      server.removeListener("error", failed)
      const bound = server.address()
      resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })

/**
 * Takes up the messages that an earlier relay left. What a report in the spool says is noted before anything is
 * delivered, so that no report is made twice. A relay that ended in the middle may have delivered what it had no time
 * to note.
 */
const resumeAll = (opened: OpenedSpool): Effect.Effect<ReadonlyArray<Queued>, StorageUnavailable> =>
  Effect.gen(function*() {
    const { clean, found, spool } = opened
    const messages = new Map(found.map((each): [string, Queued] => [each.envelope.id, { ...each }]))
    for (const { envelope } of found) {
      const original = envelope.reports === undefined ? undefined : messages.get(envelope.reports.id)
      if (original === undefined || envelope.reports === undefined) continue
      const told = unreported(original.state).filter((index) => envelope.reports?.recipients.includes(index) === true)
      if (told.length > 0) yield* noteReported(spool, original, told)
    }
    const resumed = [...messages.values()]
    if (!clean) {
      const now = Date.now()
      const pending = resumed.filter(({ state }) => (nextDue(state) ?? Number.POSITIVE_INFINITY) <= now)
      for (const { envelope } of pending) yield* mayRepeat(envelope.id, "the relay did not end properly")
    }
    return resumed
  })

const noteReported = (spool: Spool, original: Queued, recipients: ReadonlyArray<number>) => {
  const record: DeliveryRecord = { event: "reported", recipients }
  original.state = afterRecord(original.envelope, original.state, record)
  const path = spool.path(original.envelope.id, "log")
  return Effect.tryPromise({
    try: () => spool.record(original.envelope.id, record),
    catch: (error) => storageUnavailable(path, "writing", error)
  })
}
