/** The effects of an attack on a node, and whether they are within the limits. */

/** The times of answers, in milliseconds. */
export interface Latency {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly worst: number
}

/** The effects of one attack. */
export interface Figures {
  readonly attack: string
  readonly seconds: number
  /** How the node ended during the attack, or badly at the order to stop; `undefined` where it ended as it should. */
  readonly ending: string | undefined
  /** Unexpected events of honest peers and callers. */
  readonly complaints: ReadonlyArray<string>
  readonly ping: Latency
  readonly nameShow: Latency
  /** The same call over connections that are new each time. */
  readonly newCaller: Latency
  /** Processor time of the node, and of everything on the machine that has no part in the attack. */
  readonly cpuSeconds: number
  readonly foreignCpuSeconds: number
  /** Peak resident memory of the process, MB; 0 where the system does not report it. */
  readonly peakMB: number
  /** Connections that the attackers made, and data that the node received from them, in MB. */
  readonly connections: number
  readonly sentMB: number
}

/** Milliseconds. */
export interface Limits {
  readonly pingP99: number
  readonly nameShowP99: number
}

/** The limits of issue 11: how much honest peers and callers may notice of an attack. */
export const LIMITS: Limits = { pingP99: 250, nameShowP99: 50 }

/** The nearest-rank quantile of sorted numbers; 0 of an empty list. */
const quantile = (sorted: ReadonlyArray<number>, part: number): number =>
  sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0

/** Sums up the times of answers. */
export const latency = (milliseconds: ReadonlyArray<number>): Latency => {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  return { count: sorted.length, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), worst: quantile(sorted, 1) }
}

const late = (what: string, { count, p99 }: Latency, limit: number): ReadonlyArray<string> => {
  if (count === 0) return [`${what} was not measured`]
  return p99 < limit ? [] : [`${what} p99 ${Math.round(p99)} ms, limit ${limit} ms`]
}

/** What is wrong with the figures of an attack; empty where all are within the limits. */
export const judge = (figures: Figures, limits: Limits): ReadonlyArray<string> => {
  const { attack, complaints, connections, ending, nameShow, ping } = figures
  return [
    ...(ending === undefined ? [] : [`the node ended: ${ending}`]),
    ...complaints,
    ...late("ping", ping, limits.pingP99),
    ...late("name_show", nameShow, limits.nameShowP99),
    ...(connections === 0 && attack !== BASELINE ? ["the attack did not reach the node"] : [])
  ]
}

/** The measurement without an attack. */
export const BASELINE = "baseline"
