import { mailCounters } from "./mailMetrics.ts"
import type { RelayStats } from "./RelayStats.ts"

type Counted = Exclude<keyof RelayStats, "connections" | "queued" | "queuedBytes" | "upstreamReachable">

export class Tally {
  readonly #counts: Record<Counted, number> = {
    accepted: 0,
    refused: 0,
    putOff: 0,
    delivered: 0,
    deferred: 0,
    bounced: 0,
    discarded: 0
  }

  count(what: Counted, by = 1): void {
    this.#counts[what] += by
    mailCounters[what].increase(by)
  }

  get counts(): Readonly<Record<Counted, number>> {
    return { ...this.#counts }
  }
}
