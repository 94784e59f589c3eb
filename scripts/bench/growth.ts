import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { ChainShape } from "../../test/support/shapedChain.ts"
import { shapedFile } from "../../test/support/shapedFile.ts"

/** Ten times as long as regtest-load, and even: each block has the same work from the second tenth on. */
const LONG: ChainShape = {
  seed: 16,
  height: 60_000,
  before: { from: 150, to: 1_000, registrations: 6 },
  window: { registrations: 1.15, updates: 9.2 }
}

/** What an import had cost when the chain had a height. */
export interface GrowthMark {
  readonly height: number
  readonly seconds: number
  /** Of all threads. */
  readonly cpuSeconds: number
  /** Resident at that moment. */
  readonly memoryMB: number
}

interface GrowthRun {
  /** One for each tenth of the chain. */
  readonly marks: ReadonlyArray<GrowthMark>
  readonly tip: string
  readonly reached: number
  readonly peakMemoryMB: number
  readonly openSeconds: number
}

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

/** Milliseconds of processor time a block, in one tenth of the chain. */
const perBlock = (marks: ReadonlyArray<GrowthMark>, tenth: number): number => {
  const [from, to] = [marks[tenth - 2], marks[tenth - 1]]
  if (from === undefined || to === undefined) return Number.NaN
  return (to.cpuSeconds - from.cpuSeconds) / (to.height - from.height) * 1000
}

/** Imports a chain ten times as long as the load chain, with names: whether time, memory and start stay flat. */
export const benchGrowth = async (): Promise<object> => {
  const { blocks, facts } = shapedFile(LONG)
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-growth-"))
  try {
    const script = fileURLToPath(new URL("./growthRun.js", import.meta.url))
    const args = ["--heap-growing-percent=100", script, directory, blocks, String(facts.height)]
    const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: "utf8" })
    const run: GrowthRun = JSON.parse(stdout)
    if (run.tip !== facts.tip || run.reached !== facts.height) throw new Error(`the import ended at ${run.tip}`)
    const { marks, openSeconds, peakMemoryMB } = run
    return {
      what: "import of a long generated chain with every script checked and names indexed",
      blocks: facts.height,
      transactions: facts.transactions,
      megabytes: facts.bytes / 1e6,
      livingNames: facts.living,
      seconds: marks.at(-1)?.seconds,
      cpuSeconds: marks.at(-1)?.cpuSeconds,
      cpuMillisecondsPerBlock: Object.fromEntries(
        [2, 4, 6, 8, 10].map((tenth) => [`tenth${tenth}`, perBlock(marks, tenth)])
      ),
      lastTenthToSecond: perBlock(marks, 10) / perBlock(marks, 2),
      memoryMB: { afterTwoTenths: marks[1]?.memoryMB, atTheEnd: marks.at(-1)?.memoryMB, peak: peakMemoryMB },
      diskToBlocks: sizeOf(directory) / facts.bytes,
      openSeconds
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
