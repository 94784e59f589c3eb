import { grouped, quantityOf, spanText } from "../base/quantities.ts"
import { PHASE_WORDS, type SyncReport, type WindowReport } from "../light/syncReport.ts"

/** Describes a node that answers from the last blocks of the chain. */

/** Fine, in progress, or in need of attention. */
export type Tone = "good" | "busy" | "attention"

export interface SyncWords {
  readonly tone: Tone
  readonly title: string
  readonly detail: string
  readonly progress: { readonly value: number; readonly max: number } | undefined
}

/** A sentence; empty if unknown. */
export const leftText = (secondsLeft: number | undefined): string =>
  secondsLeft === undefined ? "" : ` About ${spanText(secondsLeft)} left.`

const proofText = ({ proof }: SyncReport): string =>
  proof === "work"
    ? "Answers come from recent blocks of the chain with the most work (work)."
    : "Answers come from recent blocks of the chain with the most work, with checked signatures (signatures)."

const detailOf = (report: SyncReport, { blocks, of, unchecked }: WindowReport): string => {
  const { headers, height, phase, secondsLeft } = report
  const left = leftText(secondsLeft)
  const known = `Names are known up to block ${grouped(height)}.`
  switch (phase) {
    case "headers":
      return `${
        quantityOf(headers, "header")
      } so far.${left} Then the node downloads recent blocks, which have all names.`
    case "window":
      return `${grouped(blocks)} of the last ${quantityOf(of, "block")}, newest first.${left}`
    case "signatures":
      return `${known} ${quantityOf(unchecked, "signature")} to check.${left}`
    case "blocks":
      return `${known} ${proofText(report)}${left}`
    case "ready":
      return `${known} ${proofText(report)}`
  }
}

export const lightWords = (report: SyncReport, window: WindowReport): SyncWords => {
  const { percent, phase } = report
  return {
    tone: phase === "ready" ? "good" : "busy",
    title: PHASE_WORDS[phase].title,
    detail: detailOf(report, window),
    progress: phase === "ready" ? undefined : { value: percent, max: 100 }
  }
}
