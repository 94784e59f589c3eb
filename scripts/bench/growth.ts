import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { decodeBlock } from "../../src/protocol/block.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import type { ChainShape } from "../../test/support/shapedChain.ts"
import { shapedFile } from "../../test/support/shapedFile.ts"
import { BOUNDS } from "./chain.ts"

/** Ten times as long as regtest-load, and even: each block has the same work from the second tenth on. */
export const LONG: ChainShape = {
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
  readonly peakMemoryMB: number
}

/** Tenths of the chain after which something is measured. */
const TENTHS = [2, 4, 6, 8, 10]

/** How often a directory is opened; the middle counts. */
const OPENS = 3

const byTenth = <A>(figures: ReadonlyArray<A>): Readonly<Record<string, A>> =>
  Object.fromEntries(TENTHS.flatMap((tenth, i) => figures.slice(i, i + 1).map((figure) => [`tenth${tenth}`, figure])))

/** The last of the tenths to the second: 1 says that a figure does not grow. */
const lastToSecond = (figures: ReadonlyArray<number>): number =>
  (figures.at(-1) ?? Number.NaN) / (figures[0] ?? Number.NaN)

/** A run in a process of its own. */
const run = async <A>(...args: ReadonlyArray<string>): Promise<A> => {
  const script = fileURLToPath(new URL("./growthRun.js", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...BOUNDS, script, ...args], { encoding: "utf8" })
  return JSON.parse(stdout)
}

/** Files of the blocks between the measured tenths, each with the hash of its last block. */
const partsOf = function*(
  { blocks, height, into }: { readonly blocks: string; readonly height: number; readonly into: string }
): Iterable<{ readonly file: string; readonly last: string; readonly bytesSoFar: number }> {
  const bytes = readFileSync(blocks)
  let [at, number] = [0, -1]
  for (const tenth of TENTHS) {
    const from = at
    let last = bytes.subarray(0, 0)
    for (; number < height * tenth / 10; number++) {
      const size = bytes.readUInt32LE(at + 4)
      last = bytes.subarray(at + 8, at + 8 + size)
      at += 8 + size
    }
    const file = join(into, "part.dat")
    writeFileSync(file, bytes.subarray(from, at))
    yield { file, last: displayHash(decodeBlock(last).header.hash), bytesSoFar: at }
  }
}

/** Files and start after some tenths of the chain: imported in parts, with scripts assumed, since both do not depend on them. */
const placeAndStart = async (blocks: string, height: number): Promise<object> => {
  const into = mkdtempSync(join(tmpdir(), "svcd-bench-growth-"))
  const directory = join(into, "node")
  const disk: Array<number> = []
  const open: Array<number> = []
  try {
    for (const { bytesSoFar, file, last } of partsOf({ blocks, height, into })) {
      const { tip } = await run<{ readonly tip: string }>("part", directory, file, last)
      if (tip !== last) throw new Error(`the import ended at ${tip}`)
      disk.push(sizeOf(directory) / bytesSoFar)
      const times: Array<number> = []
      for (let n = 0; n < OPENS; n++) times.push((await run<{ readonly seconds: number }>("open", directory)).seconds)
      open.push(times.toSorted((a, b) => a - b)[OPENS >> 1] ?? Number.NaN)
    }
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
  return {
    diskToBlocks: { ...byTenth(disk), lastToSecond: lastToSecond(disk) },
    openSeconds: { ...byTenth(open), lastToSecond: lastToSecond(open) }
  }
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
export const benchGrowth = async (shape = LONG): Promise<object> => {
  const { blocks, facts } = shapedFile(shape)
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-growth-"))
  try {
    const { marks, peakMemoryMB, tip } = await run<GrowthRun>("all", directory, blocks, String(facts.height))
    if (tip !== facts.tip) throw new Error(`the import ended at ${tip}`)
    rmSync(directory, { recursive: true, force: true })
    return {
      what: "import of a long generated chain with every script checked and names indexed",
      blocks: facts.height,
      transactions: facts.transactions,
      megabytes: facts.bytes / 1e6,
      livingNames: facts.living,
      seconds: marks.at(-1)?.seconds,
      cpuSeconds: marks.at(-1)?.cpuSeconds,
      cpuMillisecondsPerBlock: byTenth(TENTHS.map((tenth) => perBlock(marks, tenth))),
      lastTenthToSecond: perBlock(marks, 10) / perBlock(marks, 2),
      memoryMB: { ...byTenth(TENTHS.map((tenth) => marks[tenth - 1]?.memoryMB)), peak: peakMemoryMB },
      ...await placeAndStart(blocks, facts.height)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
