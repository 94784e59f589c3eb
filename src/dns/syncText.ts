import type { SyncReport } from "../light/syncReport.ts"
import type { DnsNotReady } from "./zones.ts"

/** What DNS says about the progress of the node. */

const SECONDS_PER_MINUTE = 60

const timeText = (seconds: number): string =>
  seconds < SECONDS_PER_MINUTE ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / SECONDS_PER_MINUTE)} min`

/** For resolvers and their logs: `syncing, 63 %, 4 min`. */
export const notReadyText = ({ percent, secondsLeft }: SyncReport, { levels }: DnsNotReady): string => {
  const left = secondsLeft === undefined ? "" : `, ${timeText(secondsLeft)}`
  const progress = `syncing, ${Math.floor(percent)} %${left}`
  return levels === undefined
    ? progress
    : `${progress}: the proof is ${levels.proof}, and ${levels.required} is required`
}

/** For `sync.svcd.` in class CH. Before the first names, answers rest on nothing. */
export const syncFacts = ({ height, phase, proof, synced }: SyncReport): string =>
  `phase=${phase}; height=${height}; proof=${height === 0 && !synced ? "none" : proof}`
