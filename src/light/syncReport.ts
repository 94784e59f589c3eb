import type { Height } from "../protocol/keys.ts"
import type { ProofLevel } from "./proof.ts"

/**
 * What a node works on. `headers` and `window` lead to the first answers (`work`), `signatures` to the next level, and
 * `blocks`, the whole chain, to `full`. `ready`: there is nothing to wait for.
 */
export type SyncPhase = typeof SYNC_PHASES[number]

export const SYNC_PHASES = ["headers", "window", "signatures", "blocks", "ready"] as const

/** How far a node is: the one source for the API, the log, the metrics, the pages and the programs. */
export interface SyncReport {
  readonly phase: SyncPhase
  /**
   * What the answers rest on once all signatures of the window are checked. A name with an invalid one, or with one of
   * taproot, rests on `work`: its own answer says so.
   */
  readonly proof: ProofLevel
  /** The last block whose names are known. */
  readonly height: Height
  /** The last header of the best chain. */
  readonly headers: Height
  /** Whether every name is known up to the tip of the network: then a name that is missing does not exist. */
  readonly synced: boolean
  /** The part that is done of the way to the level that the phase leads to, 0 to 100. */
  readonly percent: number
  /** Until then; `undefined` while the speed is unknown. */
  readonly secondsLeft?: number | undefined
  /** `undefined` without a window: there is the whole chain. */
  readonly window?: WindowReport | undefined
}

/** How far the window of a light start is. */
export interface WindowReport {
  /** Blocks that it has, and has when it is complete; 0 of 0 before it begins. */
  readonly blocks: number
  readonly of: number
  /** Names that it knows. */
  readonly names: number
  /** Signatures that are not checked yet. */
  readonly unchecked: number
}

/** Whether something is missing of what the operator wants: the whole chain, or the last blocks and their signatures. */
export const isSyncing = ({ phase }: SyncReport): boolean => phase !== "ready"

const DOING: Readonly<Record<SyncPhase, string>> = {
  headers: "fetching headers",
  window: "fetching the last blocks",
  signatures: "checking signatures",
  blocks: "checking blocks",
  ready: "ready"
}

const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]] as const

/** An estimated time in one unit, of which there are at least two: `90 seconds`, `2 minutes`. */
const aboutText = (seconds: number): string => {
  const [unit, size] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ["second", 1]
  const count = Math.round(seconds / size)
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** What a node does, for people: `fetching headers: 45 % done, about 12 seconds left`. */
export const progressText = (
  { percent, phase, secondsLeft }: Pick<SyncReport, "percent" | "phase" | "secondsLeft">
): string => {
  if (phase === "ready") return DOING.ready
  const left = secondsLeft === undefined ? "" : `, about ${aboutText(secondsLeft)} left`
  return `${DOING[phase]}: ${Math.floor(percent)} % done${left}`
}

/** The same; empty where there is no light part, whose callers know only that blocks are missing. */
export const waitText = (report: SyncReport): string =>
  report.window === undefined || report.phase === "ready" ? "" : progressText(report)
