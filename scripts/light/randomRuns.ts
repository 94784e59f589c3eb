import { kindOf, makeWorld, type World } from "../../test/support/lightWorld.ts"
import { placeInMemory } from "../crash/workplace.ts"

/** Counts of a run by their names, `answers` among them. */
type Figures = { readonly answers: number }

interface Kind {
  /** The number of runs where the command line has none, and of those in one world. */
  readonly runs: number
  readonly runsInWorld: number
  /** Runs between two lines of progress. */
  readonly told: number
  /** One run, with its files below `parent`; it throws at a wrong answer. */
  readonly run: (world: World, seed: number, parent: string) => Promise<Figures>
}

/**
 * Carries out random runs, and prints the sums of their figures. Arguments of the program: the number of runs, and the seed
 * of the first. A wrong answer ends it; the message has the seed, and one run with that seed repeats it.
 */
export const randomRuns = async (kind: Kind): Promise<void> => {
  const [runs = kind.runs, first = 1] = process.argv.slice(2).map(Number)
  // A run syncs its file dozens of times.
  const parent = placeInMemory()
  const started = performance.now()
  const sums: Record<string, number> = {}
  let slowest = 0
  const worldOf = (number: number) => makeWorld(number, kindOf(number))
  let world = worldOf(Math.floor(first / kind.runsInWorld))
  for (let seed = first; seed < first + runs; seed++) {
    if (seed % kind.runsInWorld === 0) world = worldOf(seed / kind.runsInWorld)
    const from = performance.now()
    try {
      const figures = await kind.run(world, seed, parent)
      for (const [name, value] of Object.entries(figures)) sums[name] = (sums[name] ?? 0) + value
    } catch (cause) {
      console.error(`seed ${seed}:`, cause)
      process.exit(1)
    }
    slowest = Math.max(slowest, performance.now() - from)
    if (seed % kind.told === 0) console.error(`${seed - first + 1} runs, ${sums["answers"]} answers`)
  }
  const seconds = (performance.now() - started) / 1000
  const cpuSeconds = process.cpuUsage().user / 1e6
  console.log(JSON.stringify({ runs, wrong: 0, ...sums, seconds, cpuSeconds, slowestMs: slowest }))
}
