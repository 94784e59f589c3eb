import {
  type Contender,
  contender,
  median,
  nameShow,
  start,
  THIS_BUILD,
  untilTip,
  type Work,
  workOf
} from "./contender.ts"
import { countOf } from "./counts.ts"
import { inTurns, type Pairs, type Watch } from "./turnsOfTwo.ts"

/** Pairs of turns, unless `--pairs` says another number: of the short form, and of the whole one. */
const SHORT_TURNS = 3
const TURNS = 5

/** Starts in a turn: their middle counts, since a start is short. */
const STARTS = 3

/** The figures of a turn, by name. */
type Turn = Readonly<Record<string, number>>

const named = (what: string, { cpuSeconds, peakMemoryMB, seconds }: Work): Turn => ({
  [`${what}.cpuSeconds`]: cpuSeconds,
  [`${what}.seconds`]: seconds,
  [`${what}.peakMemoryMB`]: peakMemoryMB
})

const turn = async (
  which: Contender,
  { file, full, tip }: { readonly file: string; readonly full: boolean; readonly tip: string },
  watch: Watch
): Promise<Turn> => {
  const node = await start(which, { file })
  try {
    const imported = await watch(() => untilTip(node, tip))
    const cpuMicroseconds = await watch(() => nameShow(node))
    await node.end()
    const starts: Array<Work> = []
    for (let n = 0; n < STARTS; n++) {
      starts.push(await watch(() => workOf(which, { directory: node.directory, tip })))
    }
    const middle = {
      cpuSeconds: median(starts.map(({ cpuSeconds }) => cpuSeconds)),
      seconds: median(starts.map(({ seconds }) => seconds)),
      peakMemoryMB: median(starts.map(({ peakMemoryMB }) => peakMemoryMB))
    }
    return {
      ...named("import", imported),
      "nameShow.cpuMicroseconds": cpuMicroseconds,
      ...named("start", middle),
      ...full
        ? named("importScriptsAssumed", await watch(() => workOf(which, { assumeValid: tip, file, tip })))
        : {}
    }
  } finally {
    await node.stop()
  }
}

/** The ratios of a figure in the pairs. */
export interface Ratios {
  readonly min: number
  readonly median: number
  readonly max: number
}

const rounded = (value: number): number => Math.round(1000 * value) / 1000

/** The ratios of each figure: this build to the other one. */
export const ratiosOf = (pairs: Pairs<Turn>["pairs"]): Readonly<Record<string, Ratios>> =>
  Object.fromEntries(
    Object.keys(pairs[0]?.[0] ?? {}).map((figure) => {
      const ratios = pairs.map(([first, second]) => (first[figure] ?? Number.NaN) / (second[figure] ?? Number.NaN))
      return [figure, {
        min: rounded(Math.min(...ratios)),
        median: rounded(median(ratios)),
        max: rounded(Math.max(...ratios))
      }]
    })
  )

/** The figures of processor time whose median is above the limit. */
export const slowerFigures = (
  ratios: Readonly<Record<string, Ratios>>,
  limit: number
): ReadonlyArray<string> =>
  Object.entries(ratios).flatMap(([figure, { median }]) =>
    // A figure that is not a number is not proof that the build is as fast.
    figure.includes(".cpu") && !(median <= limit) ? [figure] : []
  )

export interface BuildsOptions {
  readonly file: string
  readonly tip: string
  readonly other: Contender
  readonly busy: boolean
  /** More figures, and the whole chain. */
  readonly full: boolean
  /** The largest ratio of processor time that is not a regression. */
  readonly limit: number
}

/** Compares this build with another build of svcd in turns. `slower` has the figures whose median of ratios is above the limit. */
export const compareBuilds = async ({ busy, file, full, limit, other, tip }: BuildsOptions) => {
  const first = contender(THIS_BUILD, "svcd")
  if (typeof first === "string") throw new Error(first)
  const { foreignCores, leftOut, pairs } = await inTurns(
    { first, second: other, pairs: countOf("--pairs", full ? TURNS : SHORT_TURNS), busy },
    (which, watch) => turn(which, { file, full, tip }, watch)
  )
  const ratios = ratiosOf(pairs)
  return {
    what: "ratios of this build to another build, in turns: above 1, this build costs more",
    other: other.program,
    pairs: pairs.length,
    pairsLeftOut: leftOut,
    foreignCores: rounded(foreignCores),
    ratios,
    limit,
    slower: slowerFigures(ratios, limit)
  }
}
