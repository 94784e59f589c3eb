import { execFileSync } from "node:child_process"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { BOUNDS } from "./chain.ts"
import { recordsOf, withLoad } from "./loadChain.ts"
import { NodeProcess } from "./nodeProcess.ts"
import { benchParse } from "./parse.ts"

/** Runs of a measurement; the median counts. */
const RUNS = 3

const middle = <A>(values: ReadonlyArray<A>, by: (value: A) => number): A | undefined =>
  values.toSorted((a, b) => by(a) - by(b))[values.length >> 1]

interface ImportRun {
  readonly seconds: number
  /** Of all threads. */
  readonly cpuSeconds: number
  readonly blocks: number
  readonly height: number
  readonly tip: string
  readonly timings: Readonly<Record<string, number>>
  readonly peakMemoryMB: number
}

/** One import, in a process of its own. */
const importOnce = (...args: ReadonlyArray<string>): ImportRun => {
  const script = fileURLToPath(new URL("./importRun.js", import.meta.url))
  return JSON.parse(
    execFileSync(process.execPath, [...BOUNDS, script, ...args], { encoding: "utf8", maxBuffer: 1 << 26 })
  )
}

const importRun = (file: string, mode: string, threads: number, tip: string): ImportRun => {
  const runs = Array.from({ length: RUNS }, () => importOnce(file, mode, String(threads), tip))
  const run = middle(runs, ({ seconds }) => seconds)
  if (run === undefined || run.tip !== tip) throw new Error(`the import ended at ${run?.tip} instead of ${tip}`)
  return run
}

/** The whole program from its start until it answers with the last block, as a user sees it. */
const wholeProgram = async (file: string, tip: string): Promise<{ seconds: number; peakMemoryMB: number }> => {
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-loadblock", file] })
  try {
    return { seconds: await node.untilTip(tip), peakMemoryMB: node.peakMemoryMB }
  } finally {
    await node.stop()
  }
}

const rates = ({ blocks, seconds, timings, peakMemoryMB }: ImportRun, transactions: number, bytes: number) => ({
  seconds,
  blocksPerSecond: blocks / seconds,
  transactionsPerSecond: transactions / seconds,
  megabytesPerSecond: bytes / seconds / 1e6,
  peakMemoryMB,
  milliseconds: timings
})

export const benchImport = (): Promise<object> =>
  withLoad(async ({ blockFileBytes, bytes, file, tipHash, transactions }) => {
    const threads = availableParallelism() - 1
    const checked = importRun(file, "checked", threads, tipHash)
    const single = importRun(file, "checked", 0, tipHash)
    const assumed = importRun(file, "assumed", threads, tipHash)
    const programs: Array<{ seconds: number; peakMemoryMB: number }> = []
    for (let run = 0; run < RUNS; run++) programs.push(await wholeProgram(file, tipHash))
    return {
      what: "import of 6,000 blocks with 73,857 transactions",
      program: middle(programs, ({ seconds }) => seconds),
      checked: rates(checked, transactions, blockFileBytes),
      checkedOneThread: rates(single, transactions, blockFileBytes),
      scriptsAssumed: rates(assumed, transactions, blockFileBytes),
      assumedToChecked: checked.seconds / assumed.seconds,
      assumedToCheckedOneThread: single.seconds / assumed.seconds,
      parse: benchParse(recordsOf(bytes))
    }
  })

const INDEXES = ["search", "transactions", "filters", "spenders", "coinStats", "scripts"] as const

/** Sets of indexes by the name of their figure: each alone, and all. */
const INDEX_SETS = [...INDEXES.map((index) => [index, index] as const), ["all", INDEXES.join(",")] as const]

/** Imports without an index, with each one and with all, in turns, since a machine is not equally fast all the time. */
export const benchIndexes = (): Promise<object> =>
  withLoad(async ({ file, tipHash }) => {
    const threads = String(availableParallelism() - 1)
    const run = (indexes: string): ImportRun => importOnce(file, "checked", threads, tipHash, indexes)
    const rounds = Array.from({ length: RUNS }, () => [run(""), ...INDEX_SETS.map(([, indexes]) => run(indexes))])
    const column = (at: number): ReadonlyArray<ImportRun> => rounds.flatMap((round) => round[at] ?? [])
    const median = (values: ReadonlyArray<number>): number => middle(values, (value) => value) ?? Number.NaN
    const without = column(0)
    /** The ratio to the run without an index in the same round. */
    const times = (runs: ReadonlyArray<ImportRun>, by: (run: ImportRun) => number): number =>
      median(runs.flatMap((run, i) => without.slice(i, i + 1).map((bare) => by(run) / by(bare))))
    const figures = INDEX_SETS.map(([name], i) => {
      const runs = column(i + 1)
      return [name, {
        seconds: median(runs.map(({ seconds }) => seconds)),
        cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
        timesSeconds: times(runs, ({ seconds }) => seconds),
        timesCpu: times(runs, ({ cpuSeconds }) => cpuSeconds)
      }] as const
    })
    return {
      what: "import with every script checked, without an index, with each and with all",
      none: {
        seconds: median(without.map(({ seconds }) => seconds)),
        cpuSeconds: median(without.map(({ cpuSeconds }) => cpuSeconds))
      },
      ...Object.fromEntries(figures)
    }
  })
