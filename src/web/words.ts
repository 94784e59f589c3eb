import { spanText } from "../base/quantities.ts"

/** What the status page says about the node. */

/** The state: fine, in progress, or in need of attention. */
export type Tone = "good" | "busy" | "attention"

export interface SyncWords {
  readonly tone: Tone
  readonly title: string
  readonly detail: string
  readonly progress: { readonly value: number; readonly max: number } | undefined
}

/** About how long it takes, as a sentence; empty while that is unknown. */
export const leftText = (secondsLeft: number | undefined): string =>
  secondsLeft === undefined ? "" : ` About ${spanText(secondsLeft)} left.`
