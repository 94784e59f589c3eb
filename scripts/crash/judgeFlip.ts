import type { Difference } from "./flipData.ts"
import { kindOf } from "./flipKinds.ts"
import type { InnerStart } from "./InnerDaemon.ts"

/** The observations of a node on damaged data. */
export interface Observation {
  readonly file: string
  /** The data directory, as messages show it. */
  readonly directory: string
  readonly start: InnerStart
  /** How the node ended during the questions; `undefined` where it went on. */
  readonly ended: InnerStart | undefined
  /** Differences in the answers to the first questions. */
  readonly first: ReadonlyArray<Difference>
  /** Differences once it was ready again; `undefined` where it did not become ready. */
  readonly last: ReadonlyArray<Difference> | undefined
  /** The last body of /ready, where its status is not 200. */
  readonly notReady: string | undefined
  /** Warnings and errors in its log beyond those of the undamaged data. */
  readonly warnings: ReadonlyArray<string>
  readonly stopped: boolean
}

/** The outcome of a flip. Those in capitals break a promise. */
export type Verdict =
  | "without effect"
  | "repaired"
  | "put aside"
  | "refused"
  | "not ready"
  | "told"
  | "SILENT"
  | "REFUSED"
  | "UNTOLD"
  | "ENDED"
  | "DIED"
  | "HUNG"

const shown = ({ expected, got, question, readyAfter }: Difference): string => {
  let at = 0
  while (at < expected.length && expected[at] === got[at]) at++
  const from = Math.max(0, at - 40)
  const part = (text: string): string => JSON.stringify(text.slice(from, at + 100))
  const later = readyAfter ? "" : " (503 right after)"
  return `${JSON.stringify(question).slice(0, 120)}: ${part(got)} instead of ${part(expected)}${later}`
}

/** The first difference, and the methods of the others. */
export const withNumber = ([first, ...others]: ReadonlyArray<Difference>): string => {
  if (first === undefined) return ""
  const methods = [...new Set(others.map(({ question: [method] }) => method))]
  return others.length === 0 ? shown(first) : `${shown(first)} and ${others.length} more: ${methods.join(", ")}`
}

/** Returns the verdict on an observation; the detail gives the reason. */
export const judge = (seen: Observation): { readonly verdict: Verdict; readonly detail: string } => {
  const kind = kindOf(seen.file)
  const { start } = seen
  switch (start._tag) {
    case "Refused": {
      const named = start.reason.includes(seen.file) || seen.file === "NETWORK"
      return { verdict: kind.refusable === true && named ? "refused" : "REFUSED", detail: start.reason }
    }
    case "Died":
      return { verdict: "DIED", detail: start.reason }
    case "Hung":
      return { verdict: "HUNG", detail: "neither ready nor ended" }
    case "NotReady":
    case "Ready":
  }
  const named = seen.warnings.some((line) => line.includes(seen.file.split("/").at(-1) ?? seen.file))
  const allowed = ({ question: [method] }: Difference): boolean => named && kind.dispensable?.includes(method) === true
  const wrong = [...seen.first, ...seen.last ?? []].filter((one) => !allowed(one))
  const silent = wrong.filter(({ readyBefore, refused }) => readyBefore && !refused)
  if (silent.length > 0) return { verdict: "SILENT", detail: withNumber(silent) }
  if (seen.ended !== undefined) {
    const { ended } = seen
    const reason = "reason" in ended ? ended.reason : ended._tag
    return { verdict: ended._tag === "Died" ? "DIED" : "ENDED", detail: reason }
  }
  if (!seen.stopped) return { verdict: "HUNG", detail: "it does not stop" }
  if (seen.notReady !== undefined) return { verdict: "not ready", detail: seen.notReady }
  const isTold = ({ got, refused }: Difference): boolean => refused && kind.told?.test(got) === true
  const left = (seen.last ?? seen.first).filter((one) => !allowed(one))
  const still = left.filter((one) => !isTold(one))
  if (still.length > 0) return { verdict: "UNTOLD", detail: `/ready is 200: ${withNumber(still)}` }
  if (left.length > 0) return { verdict: "told", detail: withNumber(left) }
  if (wrong.length < seen.first.length + (seen.last?.length ?? 0)) {
    return { verdict: "put aside", detail: seen.warnings.join("\n") }
  }
  if (wrong.length > 0 || seen.warnings.length > 0) return { verdict: "repaired", detail: seen.warnings.join("\n") }
  return { verdict: "without effect", detail: "" }
}

export const isFailure = (verdict: Verdict): boolean => verdict === verdict.toUpperCase()
