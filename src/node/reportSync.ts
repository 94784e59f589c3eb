import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { Chain } from "../chain/Chain.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { LightPart } from "../light/LightPart.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { PeerManager } from "../network/PeerManager.ts"
import type { Height, Millis } from "../protocol/keys.ts"

/** Logs when the node has caught up with the network, and when it has no peers. */

/** Milliseconds between two log entries within a phase that callers wait for. */
const REPORT_MS = 30_000

const factsOf = ({ headers, height, percent, phase, proof, secondsLeft, window }: SyncReport) => ({
  phase,
  proof,
  percent,
  ...secondsLeft === undefined ? {} : { secondsLeft },
  height,
  headers,
  ...window
})

type Facts = ReturnType<typeof factsOf>

/** Ignores the time left, which is an estimate. */
const isSamePlace = (a: Facts, b: Facts): boolean =>
  a.height === b.height && a.headers === b.headers && a.blocks === b.blocks && a.of === b.of &&
  a.names === b.names && a.unchecked === b.unchecked && a.percent === b.percent

export class PhaseLog {
  #told: { readonly at: Millis; readonly facts: Facts } | undefined

  next(report: SyncReport, now: Millis): { readonly message: string; readonly facts: Facts } | undefined {
    const { phase } = report
    const facts = factsOf(report)
    const isNew = phase !== this.#told?.facts.phase
    const waits = phase === "headers" || phase === "window" || phase === "signatures"
    if (this.#told !== undefined && !isNew) {
      if (!waits || now - this.#told.at < REPORT_MS || isSamePlace(facts, this.#told.facts)) return undefined
    }
    this.#told = { at: now, facts }
    return { message: isNew ? "light sync: new phase" : "light sync: progress", facts }
  }
}

/** Ends with the window: the chain has its own entries. */
export const logSync = Effect.gen(function*() {
  const { report } = yield* SyncReporter
  const { current } = yield* LightPart
  const log = new PhaseLog()
  const look = Effect.gen(function*() {
    const entry = log.next(yield* report, yield* Clock.currentTimeMillis)
    if (entry !== undefined) yield* Effect.logInfo(entry.message, entry.facts)
  })
  while (current() !== undefined) {
    yield* look
    yield* Effect.sleep("1 second")
  }
}).pipe(Effect.annotateLogs("subsystem", "names"))

const LOOK_EVERY = "5 seconds"

const MINUTE = 60_000

/** Milliseconds without a peer before each warning: a minute, ten minutes, an hour, six hours, a day. */
const ALONE_MS = [MINUTE, 10 * MINUTE, 60 * MINUTE, 360 * MINUTE, 1440 * MINUTE] as const

/** Milliseconds before warning number `told`, from 0 on; after the listed ones, once a day. */
const aloneAfter = (told: number): Millis => ALONE_MS[told] ?? (told - ALONE_MS.length + 2) * 1440 * MINUTE

interface Begun {
  readonly height: Height
  readonly at: Millis
}

export interface Sight {
  readonly syncing: boolean
  readonly height: Height
  readonly peers: number
  readonly now: Millis
}

export type SyncNotice =
  | { readonly _tag: "Synced"; readonly height: Height; readonly blocks: number; readonly seconds: number }
  | { readonly _tag: "Alone"; readonly minutes: number }
  | { readonly _tag: "Accompanied" }

export class SyncLog {
  #begun: Begun | undefined
  #aloneSince: Millis | undefined
  #toldAlone = 0

  constructor(begun: Begun) {
    this.#begun = begun
  }

  next(sight: Sight): ReadonlyArray<SyncNotice> {
    return [...this.#ofSync(sight), ...this.#ofPeers(sight)]
  }

  #ofSync({ height, now, syncing }: Sight): ReadonlyArray<SyncNotice> {
    if (syncing) {
      this.#begun ??= { height, at: now }
      return []
    }
    const begun = this.#begun
    if (begun === undefined) return []
    this.#begun = undefined
    const seconds = Math.round((now - begun.at) / 1000)
    return [{ _tag: "Synced", height, blocks: Math.max(0, height - begun.height), seconds }]
  }

  #ofPeers({ now, peers }: Sight): ReadonlyArray<SyncNotice> {
    if (peers > 0) {
      const told = this.#toldAlone > 0
      this.#aloneSince = undefined
      this.#toldAlone = 0
      return told ? [{ _tag: "Accompanied" }] : []
    }
    this.#aloneSince ??= now
    const alone = now - this.#aloneSince
    if (alone < aloneAfter(this.#toldAlone)) return []
    this.#toldAlone++
    return [{ _tag: "Alone", minutes: Math.floor(alone / MINUTE) }]
  }
}

const logged = (notice: SyncNotice): Effect.Effect<void> => {
  switch (notice._tag) {
    case "Synced": {
      const { blocks, height, seconds } = notice
      return Effect.logInfo("synced", { height, blocks, seconds })
    }
    case "Alone":
      return Effect.logWarning(
        "no peers, so no new blocks: check the network and the firewall, -proxy, -onlynet and -addpeer; -maxpeers 0 keeps the node offline",
        { minutes: notice.minutes }
      ).pipe(Effect.annotateLogs("subsystem", "network"))
    case "Accompanied":
      return Effect.logInfo("peers are connected again").pipe(Effect.annotateLogs("subsystem", "network"))
  }
}

export const reportSync: Effect.Effect<never, never, Chain | SyncStatus | PeerManager> = Effect.gen(function*() {
  const chain = yield* Chain
  const status = yield* SyncStatus
  const manager = yield* PeerManager
  const { height } = yield* chain.tip
  const reporter = new SyncLog({ height, at: yield* Clock.currentTimeMillis })
  const look = Effect.gen(function*() {
    const { inbound, outbound } = yield* manager.count
    const tip = yield* chain.tip
    const notices = reporter.next({
      syncing: yield* status.syncing,
      height: tip.height,
      peers: inbound + outbound,
      now: yield* Clock.currentTimeMillis
    })
    // A private network may have no peers, as `svcd-cli status` and `doctor` take it.
    const wanted = chain.params.noRetargeting ? notices.filter(({ _tag }) => _tag === "Synced") : notices
    yield* Effect.forEach(wanted, logged, { discard: true })
  })
  yield* Effect.repeat(look, Schedule.spaced(LOOK_EVERY))
  return yield* Effect.never
})
