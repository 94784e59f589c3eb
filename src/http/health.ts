import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncPhase } from "../light/syncReport.ts"
import type { Height } from "../protocol/keys.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import type { Doubt } from "../storage/DataHealth.ts"

export interface NamesReport {
  /** Height of the last block with known names. */
  readonly height: Height
  /** Whether a name that is not found does not exist. */
  readonly complete: boolean
}

export interface HealthReport {
  readonly network: NetworkName
  /** While starting, every call gets -28. */
  readonly initializing: boolean
  /** Whether the node fetches or checks what its operator wants: the whole chain, or the last blocks only. */
  readonly syncing: boolean
  /** Whether names are answered from the last blocks, without a checked chain. */
  readonly light: boolean
  /** The current work; `undefined` while starting. */
  readonly phase: SyncPhase | undefined
  /** Proof level of answers about names. */
  readonly proof: ProofLevel | undefined
  /** As in `getblockcount`; 0 while unknown. */
  readonly blockHeight: Height
  /** `undefined` while starting. */
  readonly names: NamesReport | undefined
  readonly peers: number
  /** Damaged data under repair, which may make answers wrong or missing. */
  readonly doubts: ReadonlyArray<Doubt>
  /** For the operator, without an effect on answers. */
  readonly notices: ReadonlyArray<Doubt>
}

export class Health extends Context.Tag("svcd/Health")<Health, {
  readonly report: Effect.Effect<HealthReport>
}>() {}

/** `undefined` if there are none. */
const shown = (doubts: ReadonlyArray<Doubt>) =>
  doubts.length === 0 ? undefined : doubts.map(({ reason, what }) => ({ what, reason }))

/**
 * `health`: the node answers. `ready`: it has the whole chain. `names`: it answers about names with proof `work` or
 * better, which is enough for a resolver and true long before `ready` after a light start.
 */
export type HealthQuestion = "health" | "ready" | "names"

export interface HealthAnswer {
  readonly status: number
  readonly body: string
}

const isGood = (question: HealthQuestion, report: HealthReport): boolean => {
  switch (question) {
    case "health":
      return !report.initializing
    case "ready":
      return !report.initializing && !report.syncing && !report.light && report.doubts.length === 0
    case "names":
      return report.names?.complete === true
  }
}

/** Why the answer is not 200. `light`: the operator chose the last blocks only. */
const waitingFor = ({ doubts, initializing, light, syncing }: HealthReport): string => {
  if (initializing) return "initializing"
  if (syncing) return "syncing"
  return light && doubts.length === 0 ? "light" : "repairing"
}

/** reference/rpc.md 1.12. */
export const healthAnswer = (question: HealthQuestion, report: HealthReport): HealthAnswer => {
  const { blockHeight, doubts, initializing, names, network, notices, peers, phase, proof } = report
  const syncing = initializing || report.syncing
  const good = isGood(question, report)
  const status = good ? (question === "health" ? "healthy" : "ready") : waitingFor(report)
  return {
    status: good ? 200 : 503,
    body: encodeJson({
      status,
      network,
      block_height: blockHeight,
      peers,
      syncing: question !== "health" || syncing ? syncing : undefined,
      phase,
      proof,
      names_height: names?.height,
      doubts: shown(doubts),
      notices: shown(notices)
    })
  }
}
