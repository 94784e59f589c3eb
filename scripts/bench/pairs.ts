import { execFile, execFileSync } from "node:child_process"
import { loadavg } from "node:os"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { countOf } from "./counts.ts"
import { cpuSecondsOf } from "./cpuTime.ts"
import { YEARS } from "./lightSettings.ts"
import { freePort, NodeProcess, pause } from "./nodeProcess.ts"

/** Turns, unless `--pairs` says another number: in each, both do the same work, so that a slow phase of the machine affects both. */
const TURNS = 5

/** Seconds of the load of `name_show`, and its connections. */
const LOAD_SECONDS = 2
const CONNECTIONS = 8

/** Milliseconds after the import, until memory counts as that of a node at the tip. */
const REST = 15_000

/** Milliseconds between two questions whether a node has the tip. */
const LOOK = 100

/**
 * The reference checks itself after each block of a regtest chain, which costs more than the block; and with an old tip it is in
 * initial download, in which it answers no question about names and serves no headers.
 */
const REFERENCE = ["-checknamedb=-1", "-checkblockindex=0", "-checkmempool=0", `-maxtipage=${YEARS}`]

/** A program that is compared: svcd's `svcd.js`, or the reference's `namecoind`. */
interface Contender {
  readonly program: string
  readonly reference: boolean
}

const contender = (program: string): Contender => ({ program, reference: !basename(program).endsWith(".js") })

/** Starts a contender without wallet, with names, their history and expired names. */
const start = (
  { program, reference }: Contender,
  { assumeValid, directory, file, peer }: {
    readonly assumeValid?: string
    readonly directory?: string
    readonly file?: string
    readonly peer?: number
  }
): Promise<NodeProcess> => {
  const place = directory === undefined ? {} : { directory }
  const scripts = assumeValid === undefined ? [] : [`-assumevalid=${assumeValid}`]
  if (reference) {
    const from = [
      ...file === undefined ? [] : [`-loadblock=${file}`],
      peer === undefined ? "-connect=0" : `-connect=127.0.0.1:${peer}`
    ]
    const names = ["-namehistory", "-allowexpired"]
    const args = ["-listen=0", "-dnsseed=0", "-disablewallet", ...names, ...REFERENCE, ...scripts, ...from]
    return NodeProcess.start({ ...place, args, reference: program })
  }
  const from = [
    ...file === undefined ? [] : ["-loadblock", file],
    ...peer === undefined ? ["-maxpeers", "0"] : ["-listen", "", "-addpeer", `127.0.0.1:${peer}`]
  ]
  return NodeProcess.start({ ...place, args: ["-disablewallet", "-allowexpired", ...scripts, ...from], program })
}

/** The cost of the way to the tip: of the whole program, from its start on. */
interface Work {
  readonly cpuSeconds: number
  readonly seconds: number
  readonly peakMemoryMB: number
}

const untilTip = async (node: NodeProcess, tip: string): Promise<Work> => {
  while (await node.call("getbestblockhash") !== tip) {
    if (node.child.exitCode !== null) throw new Error(`the node ended with code ${node.child.exitCode}`)
    await pause(LOOK)
  }
  const seconds = (performance.now() - node.startedAt) / 1000
  return { cpuSeconds: cpuSecondsOf(node.child.pid), seconds, peakMemoryMB: node.peakMemoryMB }
}

/** Microseconds of processor time that a call of `name_show` costs, over keep-alive connections. */
const nameShow = async (node: NodeProcess): Promise<number> => {
  const [first]: ReadonlyArray<unknown> = [await node.call("name_scan", "d/", 1)].flat()
  const name = typeof first === "object" && first !== null && "name" in first ? first.name : undefined
  if (name === undefined) throw new Error("the chain has no names")
  const body = JSON.stringify({ id: 1, method: "name_show", params: [name] })
  const script = fileURLToPath(new URL("./rpcLoad.js", import.meta.url))
  const load = async (): Promise<number> => {
    const before = cpuSecondsOf(node.child.pid)
    const args = [script, node.rpcPort, CONNECTIONS, LOAD_SECONDS, body, node.headers.authorization ?? ""].map(String)
    const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: "utf8" })
    const { requests, wrong }: { requests: number; wrong: number } = JSON.parse(stdout)
    if (wrong > 0) throw new Error(`${wrong} calls of name_show failed`)
    return (cpuSecondsOf(node.child.pid) - before) / requests * 1e6
  }
  await load()
  return await load()
}

interface Turn {
  readonly import: Work
  readonly nameShowMicroseconds: number
  readonly memoryMB: number
  /** The first answer of a new start on the same data directory. */
  readonly start: Work
  /** Download from the reference node, every script checked. */
  readonly sync?: Work
  /** The same, with the scripts of all but the last weeks assumed to be valid. */
  readonly syncScriptsAssumed?: Work
}

const turn = async (
  which: Contender,
  { file, peer, tip }: { readonly file: string; readonly peer: number | undefined; readonly tip: string }
): Promise<Turn> => {
  const node = await start(which, { file })
  let again: NodeProcess | undefined
  let synced: NodeProcess | undefined
  try {
    const imported = await untilTip(node, tip)
    await pause(REST)
    const { memoryMB } = node
    const nameShowMicroseconds = await nameShow(node)
    const ended = new Promise((resolve) => node.child.once("exit", resolve))
    node.child.kill()
    await ended
    again = await start(which, { directory: node.directory })
    const started = await untilTip(again, tip)
    await again.stop()
    const figures = { import: imported, nameShowMicroseconds, memoryMB, start: started }
    if (peer === undefined) return figures
    synced = await start(which, { peer })
    const sync = await untilTip(synced, tip)
    await synced.stop()
    synced = await start(which, { assumeValid: tip, peer })
    return { ...figures, sync, syncScriptsAssumed: await untilTip(synced, tip) }
  } finally {
    await again?.stop()
    await synced?.stop()
    await node.stop()
  }
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/** What a program says of its version, in one line. */
const versionOf = (program: string): string =>
  execFileSync(program, ["--version"], { encoding: "utf8" }).split("\n", 1)[0] ?? program

/** Of each figure: the medians of both, and the median of the ratios of the turns. */
const compare = (pairs: ReadonlyArray<readonly [Turn, Turn]>, figure: (turn: Turn) => number): object => ({
  first: median(pairs.map(([first]) => figure(first))),
  second: median(pairs.map(([, second]) => figure(second))),
  ratio: median(pairs.map(([first, second]) => figure(first) / figure(second)))
})

const compareWork = (pairs: ReadonlyArray<readonly [Turn, Turn]>, work: (turn: Turn) => Work | undefined): object =>
  Object.fromEntries(
    (["cpuSeconds", "seconds", "peakMemoryMB"] as const).map((figure) => [
      figure,
      compare(pairs, (turn) => work(turn)?.[figure] ?? Number.NaN)
    ])
  )

/**
 * Compares this build with another program, the reference node or another build of svcd, on the same work in turns: import of a
 * block file with all scripts checked, `name_show`, memory at the tip, a start, and with the reference also sync from it. A
 * ratio above 1 says that this build costs more.
 */
export const benchPairs = async (
  { file, other, tip }: { readonly file: string; readonly other: string; readonly tip: string }
): Promise<object> => {
  const first = contender(fileURLToPath(new URL("../../bin/svcd.js", import.meta.url)))
  const second = contender(other)
  const before = loadavg()[0]
  let source: NodeProcess | undefined
  try {
    let peer: number | undefined
    if (second.reference) {
      peer = await freePort()
      const args = ["-listen", `-bind=127.0.0.1:${peer}`, ...REFERENCE, "-connect=0", "-dnsseed=0", "-disablewallet"]
      source = await NodeProcess.start({ args: [...args, `-loadblock=${file}`], reference: other })
      await source.untilTip(tip)
    }
    const turns = countOf("--pairs", TURNS)
    const pairs: Array<readonly [Turn, Turn]> = []
    for (let n = 0; n < turns; n++) {
      const [one, two] = n % 2 === 0 ? [first, second] : [second, first]
      const results = [await turn(one, { file, peer, tip }), await turn(two, { file, peer, tip })] as const
      pairs.push(n % 2 === 0 ? results : [results[1], results[0]])
    }
    return {
      what: "this build and another program in turns: medians, and the median of the ratios",
      first: "this build of svcd",
      second: second.reference ? versionOf(other) : "another build of svcd",
      turns,
      loadAverage: { before, after: loadavg()[0] },
      import: compareWork(pairs, (turn) => turn.import),
      nameShowCpuMicroseconds: compare(pairs, ({ nameShowMicroseconds }) => nameShowMicroseconds),
      memoryAtTipMB: compare(pairs, ({ memoryMB }) => memoryMB),
      start: compareWork(pairs, ({ start }) => start),
      ...source === undefined
        ? {}
        : {
          sync: compareWork(pairs, ({ sync }) => sync),
          syncScriptsAssumed: compareWork(pairs, ({ syncScriptsAssumed }) => syncScriptsAssumed)
        }
    }
  } finally {
    await source?.stop()
  }
}
