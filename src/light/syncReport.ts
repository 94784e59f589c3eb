import type { Height } from "../protocol/keys.ts"
import type { ProofLevel } from "./proof.ts"

/**
 * What a node works on. `headers` and `window` lead to the first answers (`work`), `signatures` to the next level, and
 * `blocks`, the whole chain, to `full`. `ready`: nothing to wait for.
 */
export type SyncPhase = typeof SYNC_PHASES[number]

export const SYNC_PHASES = ["headers", "window", "signatures", "blocks", "ready"] as const

/** A node's progress: the one source for the API, the log, the metrics, the pages and the programs. */
export interface SyncReport {
  readonly phase: SyncPhase
  /**
   * The proof level of answers once all signatures of the window are checked. A name with an invalid or taproot
   * signature is at `work`, as its own answer says.
   */
  readonly proof: ProofLevel
  /** The last block with known names. */
  readonly height: Height
  /** The last header of the best chain. */
  readonly headers: Height
  /** Whether every name is known up to the network's tip, so that a missing name does not exist. */
  readonly synced: boolean
  /** Progress to the level that the phase leads to, 0 to 100. */
  readonly percent: number
  /** Until then; `undefined` while the speed is unknown. */
  readonly secondsLeft?: number | undefined
  /** `undefined` with the whole chain. */
  readonly window?: WindowReport | undefined
}

/** Progress of the window of a light start. */
export interface WindowReport {
  /** Its blocks so far and when complete; 0 of 0 before it begins. */
  readonly blocks: number
  readonly of: number
  readonly names: number
  /** Signatures not checked yet. */
  readonly unchecked: number
}

/**
 * Whether the node still lacks what the operator asked for, either the whole chain or the last blocks with checked
 * signatures.
 */
export const isSyncing = ({ phase }: SyncReport): boolean => phase !== "ready"

/** The words for each phase: in a sentence, and as a title. */
export const PHASE_WORDS: Readonly<Record<SyncPhase, { readonly doing: string; readonly title: string }>> = {
  headers: { doing: "fetching headers", title: "Downloading headers" },
  window: { doing: "fetching the last blocks", title: "Downloading recent blocks" },
  signatures: { doing: "checking signatures", title: "Resolving names, and checking signatures" },
  blocks: { doing: "checking blocks", title: "Resolving names, and checking the whole chain" },
  ready: { doing: "ready", title: "Up to date" }
}

const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]] as const

/** An estimated time of at least two of a unit: `90 seconds`, `2 minutes`. */
const aboutText = (seconds: number): string => {
  const [unit, size] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ["second", 1]
  const count = Math.round(seconds / size)
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** Progress for people: `fetching headers: 45 % done, about 12 seconds left`. */
export const progressText = (
  { percent, phase, secondsLeft }: Pick<SyncReport, "percent" | "phase" | "secondsLeft">
): string => {
  if (phase === "ready") return PHASE_WORDS.ready.doing
  const left = secondsLeft === undefined ? "" : `, about ${aboutText(secondsLeft)} left`
  return `${PHASE_WORDS[phase].doing}: ${Math.floor(percent)} % done${left}`
}

/** Like `progressText`, but empty for a ready node and for a node without a window. */
export const waitText = (report: SyncReport): string =>
  report.window === undefined || report.phase === "ready" ? "" : progressText(report)
