import { loadavg } from "node:os"
import { regtestParams } from "../../src/consensus/params.ts"
import { shapedFile } from "../../test/support/shapedFile.ts"
import {
  type Contender,
  contender,
  median,
  nameShow,
  REFERENCE,
  start,
  THIS_BUILD,
  untilTip,
  type Work,
  workOf
} from "./contender.ts"
import { countOf } from "./counts.ts"
import { LONG } from "./growth.ts"
import { freePort, NodeProcess, pause } from "./nodeProcess.ts"
import { inTurns, type Watch } from "./turnsOfTwo.ts"

/** Pairs of turns, unless `--pairs` says another number. */
const TURNS = 5

/** How often both stay at the tip, and for how long, until memory counts as that of a node at the tip. */
const RESTS = 2
const REST = 60_000

interface Turn {
  readonly import: Work
  /** The same, with the scripts of all but the last weeks assumed to be valid. */
  readonly importScriptsAssumed: Work
  readonly nameShowMicroseconds: number
  /** The first answer of a new start on the same data directory. */
  readonly start: Work
  /** Download from the reference node, every script checked. */
  readonly sync: Work
  readonly syncScriptsAssumed: Work
}

interface Chain {
  readonly file: string
  readonly tip: string
}

const turn = async (
  which: Contender,
  { file, peer, tip }: Chain & { readonly peer: number },
  watch: Watch
): Promise<Turn> => {
  const node = await start(which, { file })
  try {
    const imported = await watch(() => untilTip(node, tip))
    const nameShowMicroseconds = await watch(() => nameShow(node))
    await node.end()
    const started = await watch(() => workOf(which, { directory: node.directory, tip }))
    return {
      import: imported,
      nameShowMicroseconds,
      start: started,
      importScriptsAssumed: await watch(() => workOf(which, { assumeValid: tip, file, tip })),
      sync: await watch(() => workOf(which, { peer, tip })),
      syncScriptsAssumed: await watch(() => workOf(which, { assumeValid: tip, peer, tip }))
    }
  } finally {
    await node.stop()
  }
}

/** Resident memory of both, a minute after each has imported the chain. */
const memoryAtTip = async (both: ReadonlyArray<Contender>, { file, tip }: Chain): Promise<ReadonlyArray<number>> => {
  const nodes: Array<NodeProcess> = []
  try {
    for (const which of both) {
      const node = await start(which, { file })
      nodes.push(node)
      await untilTip(node, tip)
    }
    await pause(REST)
    return nodes.map(({ memoryMB }) => memoryMB)
  } finally {
    for (const node of nodes) await node.stop()
  }
}

/** Imports of the long chain by both, one each: it takes a minute. */
const longImports = async ([first, second]: readonly [Contender, Contender]): Promise<readonly [Work, Work]> => {
  const { blocks: file, facts: { tip } } = shapedFile(LONG, regtestParams)
  return [await workOf(first, { file, tip }), await workOf(second, { file, tip })]
}

/** Of each figure: the medians of both, and the median of the ratios of the turns. */
const compare = <A>(pairs: ReadonlyArray<readonly [A, A]>, figure: (turn: A) => number): object => ({
  first: median(pairs.map(([first]) => figure(first))),
  second: median(pairs.map(([, second]) => figure(second))),
  ratio: median(pairs.map(([first, second]) => figure(first) / figure(second)))
})

const compareWork = <A>(pairs: ReadonlyArray<readonly [A, A]>, work: (turn: A) => Work): object =>
  Object.fromEntries(
    (["cpuSeconds", "seconds", "peakMemoryMB"] as const).map((figure) => [
      figure,
      compare(pairs, (turn) => work(turn)[figure])
    ])
  )

/**
 * Compares this build with the reference node on the same work in turns: import of a block file, `name_show`, a start, sync from the
 * reference, and memory at the tip. A ratio above 1 says that this build costs more.
 */
export const benchPairs = async (
  { busy, file, other, tip }: Chain & { readonly busy: boolean; readonly other: Contender }
): Promise<object> => {
  const first = contender(THIS_BUILD, "svcd")
  if (typeof first === "string") throw new Error(first)
  const before = loadavg()[0]
  const peer = await freePort()
  const args = ["-listen", `-bind=127.0.0.1:${peer}`, ...REFERENCE, "-connect=0", "-dnsseed=0", "-disablewallet"]
  const source = await NodeProcess.start({ args: [...args, `-loadblock=${file}`], reference: other.program })
  try {
    await source.untilTip(tip)
    const wanted = { first, second: other, pairs: countOf("--pairs", TURNS), busy }
    const { foreignCores, leftOut, pairs } = await inTurns(
      wanted,
      (which, watch) => turn(which, { file, peer, tip }, watch)
    )
    const memory: Array<readonly [number, number]> = []
    for (let n = 0; n < RESTS; n++) {
      const [one = Number.NaN, two = Number.NaN] = await memoryAtTip([first, other], { file, tip })
      memory.push([one, two])
    }
    const long = await longImports([first, other])
    return {
      what: "this build and another program in turns: medians, and the median of the ratios",
      first: "this build of svcd",
      second: other.version,
      turns: pairs.length,
      turnsLeftOut: leftOut,
      foreignCores,
      loadAverage: { before, after: loadavg()[0] },
      import: compareWork(pairs, (turn) => turn.import),
      importScriptsAssumed: compareWork(pairs, (turn) => turn.importScriptsAssumed),
      nameShowCpuMicroseconds: compare(pairs, ({ nameShowMicroseconds }) => nameShowMicroseconds),
      memoryAtTipMB: compare(memory, (value) => value),
      longImport: compareWork([long], (work) => work),
      start: compareWork(pairs, (turn) => turn.start),
      sync: compareWork(pairs, (turn) => turn.sync),
      syncScriptsAssumed: compareWork(pairs, (turn) => turn.syncScriptsAssumed)
    }
  } finally {
    await source.stop()
  }
}
