import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncPhase } from "../light/syncReport.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import type { Doubt } from "../storage/DataHealth.ts"

export interface HealthReport {
  /** Whether the node is still starting: it answers -28 to every call. */
  readonly initializing: boolean
  /** Whether names are not known up to the tip. */
  readonly syncing: boolean
  /** What the node works on; `undefined` while it starts. */
  readonly phase: SyncPhase | undefined
  /** What answers about names rest on. */
  readonly proof: ProofLevel | undefined
  /** Height of the tip; 0 while unknown. */
  readonly blockHeight: number
  readonly peers: number
  /** Damaged data under repair, which may make answers wrong or missing. */
  readonly doubts: ReadonlyArray<Doubt>
  /** What the operator should know, without an effect on answers. */
  readonly notices: ReadonlyArray<Doubt>
}

export class Health extends Context.Tag("svcd/Health")<Health, {
  readonly report: Effect.Effect<HealthReport>
}>() {}

/** Doubts or notices for display; `undefined` if there are none. */
const shown = (doubts: ReadonlyArray<Doubt>) =>
  doubts.length === 0 ? undefined : doubts.map(({ reason, what }) => ({ what, reason }))

export type HealthPath = "/health" | "/ready"

export interface HealthAnswer {
  readonly status: number
  readonly body: string
}

/** Returns the answer of an endpoint (reference/rpc.md 1.12). */
export const healthAnswer = (path: HealthPath, report: HealthReport): HealthAnswer => {
  const { blockHeight, doubts, initializing, notices, peers, phase, proof } = report
  const syncing = initializing || report.syncing
  const good = path === "/health" ? !initializing : !syncing && doubts.length === 0
  const waiting = initializing ? "initializing" : syncing ? "syncing" : "repairing"
  const status = good ? (path === "/health" ? "healthy" : "ready") : waiting
  return {
    status: good ? 200 : 503,
    body: encodeJson({
      status,
      block_height: blockHeight,
      peers,
      syncing: path === "/ready" || syncing ? syncing : undefined,
      phase,
      proof,
      doubts: shown(doubts),
      notices: shown(notices)
    })
  }
}
