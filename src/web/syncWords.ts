import { grouped, quantityOf } from "../base/quantities.ts"
import { expectedHeight, type KnownHeaders } from "../chain/expectedHeight.ts"
import { PHASE_WORDS, type SyncReport } from "../light/syncReport.ts"
import { distance, rate } from "./format.ts"
import { leftText, lightWords, type SyncWords } from "./lightWords.ts"

export interface SyncFacts extends KnownHeaders {
  readonly height: number
  /** Time of the tip, in seconds since 1970. */
  readonly tipTime: number
  readonly syncing: boolean
  readonly loading: boolean
  /** Blocks read by an import, and in total. */
  readonly importing:
    | { readonly phase: "headers" | "blocks"; readonly done: number; readonly total: number }
    | undefined
  readonly peers: number
  readonly active: boolean
  readonly offline: boolean
  readonly report: SyncReport
  /** Blocks per second, if known. */
  readonly speed: number | undefined
}

/** In target spacings. So long without a block occurs by chance once in many years. */
const SILENT_BLOCKS = 20

const percent = ({ max, value }: { readonly value: number; readonly max: number }): string =>
  `${max <= 0 ? "0.0" : (Math.floor(1000 * Math.min(value / max, 1)) / 10).toFixed(1)} %`

const importWords = ({ done, phase, total }: NonNullable<SyncFacts["importing"]>): SyncWords => ({
  tone: "busy",
  title: phase === "headers" ? "Reading block files" : "Importing blocks",
  detail: total > 0
    ? `${grouped(done)} of ${quantityOf(total, "block")} read, ${percent({ value: done, max: total })}.`
    : `${quantityOf(done, "block")} found so far.`,
  progress: total > 0 ? { value: Math.min(done, total), max: total } : undefined
})

const pace = ({ report: { secondsLeft }, speed }: SyncFacts): string =>
  speed === undefined || speed <= 0 ? "" : ` ${rate(speed)}.${leftText(secondsLeft)}`

const syncWords = (facts: SyncFacts): SyncWords => {
  const { headers, height, now, tipTime } = facts
  const target = expectedHeight(facts)
  const done = facts.report.percent
  const reached = `Block ${grouped(height)} of ${target > headers ? "about " : ""}${grouped(target)}, ${
    done.toFixed(1)
  } %`
  const progress = { value: done, max: 100 }
  if (target > headers && headers - height < 2_000) {
    return {
      tone: "busy",
      title: PHASE_WORDS.headers.title,
      detail: `${quantityOf(headers, "header")} of about ${grouped(target)}; block ${grouped(height)} is checked.`,
      progress: { value: Math.min(headers, target), max: Math.max(1, target) }
    }
  }
  if (height >= target) {
    return {
      tone: "busy",
      title: "Asking peers for new blocks",
      detail: `Block ${grouped(height)} is checked; no peer has announced the next one yet.`,
      progress: undefined
    }
  }
  return {
    tone: "busy",
    title: "Syncing",
    detail: `${reached}, from ${distance(tipTime - now)}.${pace(facts)}`,
    progress
  }
}

export const statusWords = (facts: SyncFacts): SyncWords => {
  const { active, importing, loading, now, offline, onDemand, peers, report, spacing, syncing, tipTime } = facts
  // With a window, names are known beyond the chain.
  const height = report.window === undefined ? facts.height : report.height
  if (importing !== undefined) return importWords(importing)
  if (loading) {
    return { tone: "busy", title: "Starting", detail: "The node is applying stored blocks.", progress: undefined }
  }
  const known = `Block ${grouped(height)} is the last one known`
  if (!active) {
    return {
      tone: "attention",
      title: "Networking is turned off",
      detail: `${known}; no new blocks arrive.`,
      progress: undefined
    }
  }
  if (offline && peers === 0) {
    return {
      tone: syncing ? "attention" : "good",
      title: "Offline by choice",
      detail: `${known}; with -maxpeers 0, no new blocks arrive from peers.`,
      progress: undefined
    }
  }
  if (peers === 0) {
    const title = syncing ? "Looking for peers" : "No peers"
    const detail = syncing ? `${known} until a peer responds.` : `${known}; no peer announces new ones.`
    const target = expectedHeight(facts)
    const progress = syncing && target > height ? { value: height, max: target } : undefined
    return { tone: "attention", title, detail, progress }
  }
  if (report.window !== undefined) return lightWords(report, report.window)
  if (syncing) return syncWords(facts)
  if (!onDemand && now - tipTime > SILENT_BLOCKS * spacing) {
    return {
      tone: "attention",
      title: "No new block for a long time",
      detail: `The last one is from ${distance(tipTime - now)}. Peers have no newer one.`,
      progress: undefined
    }
  }
  return {
    tone: "good",
    title: PHASE_WORDS.ready.title,
    detail: `All blocks known to peers are checked, up to block ${grouped(height)}.`,
    progress: undefined
  }
}
