import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type ShapedFile, shapedFile } from "../../test/support/shapedFile.ts"
import { countOf } from "./counts.ts"
import { freePort } from "./nodeProcess.ts"
import { Bandwidth, SharedLine } from "./traffic.ts"

const PEERS = 3

/** A line of 100 Mbit/s. */
const BYTES_PER_SECOND = 100_000_000 / 8

/** Runs of the light client, and pairs of full syncs, unless the command line says another number. */
const RUNS = 5
const PAIRS = 3

const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A full node with the generated chain, in a process of its own. */
class Peer {
  readonly port: number
  private readonly child: ChildProcess

  get pid(): number {
    return this.child.pid ?? 0
  }

  private constructor(directory: string, port: number, file: string) {
    this.port = port
    this.child = spawn(process.execPath, [program("./lightPeer.js"), directory, String(port), file], {
      stdio: ["ignore", "pipe", "inherit"]
    })
  }

  /** Resolves once the node has the chain. */
  static async start(directory: string, file = ""): Promise<Peer> {
    const peer = new Peer(directory, await freePort(), file)
    await new Promise<void>((resolve, reject) => {
      peer.child.stdout?.once("data", () => resolve())
      peer.child.once("exit", (code) => reject(new Error(`a peer ended with code ${code}`)))
    })
    return peer
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.child.once("exit", () => resolve())
      this.child.kill()
    })
  }
}

/** The data directories of the peers beside the generated chain: imported once, then copied. */
const directories = async ({ blocks, directory }: ShapedFile): Promise<ReadonlyArray<string>> => {
  const all = Array.from({ length: PEERS }, (_, i) => join(directory, `peer-${i}`))
  const [first = "", ...rest] = all
  if (!existsSync(first)) {
    const draft = `${first}.${process.pid}`
    const peer = await Peer.start(draft, blocks)
    await peer.stop()
    renameSync(draft, first)
  }
  for (const copy of rest) if (!existsSync(copy)) cpSync(first, copy, { recursive: true })
  return all
}

/** Seconds of processor time: of the client, of the peers together, and of the process with the line. */
interface CpuSeconds {
  readonly client: number
  readonly peers: number
  readonly line: number
}

interface LightRun {
  readonly cpu: Readonly<Record<"headers" | "window" | "signatures", CpuSeconds>>
  readonly headers: number
  readonly firstAnswer: number
  readonly answers: number
  readonly signatures: number
  readonly equal: boolean
  readonly names: number
  readonly signed: number
  readonly diskMB: number
  readonly mostDiskMB: number
  readonly peakMemoryMB: number
  readonly tipMemoryMB: number
  readonly resolvesPerSecond: number
}

/** The peers of a run: their ports behind the line, and their processes. */
interface Served {
  readonly ports: ReadonlyArray<number>
  readonly pids: ReadonlyArray<number>
}

/** The client in one file, as users have it: a thousand modules take 37 MB more. It is below the packages that it loads. */
const bundledClient = (): string => {
  const folder = program("../../bundle/light-client")
  execFileSync(process.execPath, [program("../bundle.js"), folder, "--alone", program("./lightClient.js")])
  return join(folder, "lightClient.js")
}

/** Runs a program in an empty data directory. Returns what it prints. */
const inDirectory = async <A>(file: string, ...args: ReadonlyArray<string>): Promise<A> => {
  const own = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--expose-gc", file, own, ...args],
      { encoding: "utf8" }
    )
    return JSON.parse(stdout)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

interface Mark {
  readonly seconds: number
  readonly cpuSeconds: number
}

/** A full sync: when the chain had so many blocks, and how many it had when the light part was done. */
interface FullRun extends Mark {
  readonly marks: ReadonlyArray<Mark>
  readonly step: number
  readonly lightDone?: number
}

/** Full syncs with the light part and without it, in turns. */
const pairs = async ({ ports }: Served, { directory }: ShapedFile): Promise<object> => {
  const ratios: Array<{ readonly behind: number; readonly behindCpu: number; readonly whole: number }> = []
  let last: { readonly light: FullRun; readonly alone: FullRun } | undefined
  for (let pair = 0; pair < countOf("--pairs", PAIRS); pair++) {
    const run = (how: string): Promise<FullRun> =>
      inDirectory(program("./lightFull.js"), JSON.stringify(ports), directory, how)
    // Each begins in turn: a machine is not equally fast all the time.
    const before = pair % 2 === 1 ? await run("alone") : undefined
    const light = await run("light")
    const alone = before ?? await run("alone")
    // The same blocks in both: those after the light part was done.
    const from = Math.ceil((light.lightDone ?? 0) / light.step) - 1
    const rest = (one: FullRun, by: keyof Mark): number => one[by] - (one.marks[from]?.[by] ?? 0)
    ratios.push({
      behind: rest(alone, "seconds") / rest(light, "seconds"),
      behindCpu: rest(alone, "cpuSeconds") / rest(light, "cpuSeconds"),
      whole: alone.seconds / light.seconds
    })
    last = { light, alone }
  }
  if (last === undefined) return { pairs: 0 }
  const median = (by: (ratio: typeof ratios[number]) => number): number =>
    ratios.map(by).toSorted((a, b) => a - b)[ratios.length >> 1] ?? Number.NaN
  const { alone, light } = last
  return {
    pairs: ratios.length,
    blocksWhenLightPartDone: light.lightDone,
    withLightPart: { seconds: light.seconds, cpuSeconds: light.cpuSeconds },
    alone: { seconds: alone.seconds, cpuSeconds: alone.cpuSeconds },
    speedBehindLightPart: median(({ behind }) => behind),
    speedBehindLightPartByCpu: median(({ behindCpu }) => behindCpu),
    speedOfWholeSync: median(({ whole }) => whole)
  }
}

const sorted = (runs: ReadonlyArray<LightRun>, by: (run: LightRun) => number): ReadonlyArray<number> =>
  runs.map(by).toSorted((a, b) => a - b)

/** A light client from an empty directory, with three peers behind one line, on a chain of mainnet's shape. */
export const benchLight = async (): Promise<object> => {
  const chain = shapedFile()
  const peers: Array<Peer> = []
  for (const directory of await directories(chain)) peers.push(await Peer.start(directory))
  const line = new SharedLine(peers.map(({ port }) => port), new Bandwidth(BYTES_PER_SECOND))
  try {
    const served = { ports: await line.open(), pids: peers.map(({ pid }) => pid) }
    const client = bundledClient()
    const count = countOf("--runs", RUNS)
    const loadBefore = loadavg()[0]
    const runs: Array<LightRun> = []
    for (let run = 0; run < count; run++) {
      runs.push(await inDirectory(client, JSON.stringify(served), chain.directory))
    }
    const median = (by: (run: LightRun) => number): number => sorted(runs, by)[runs.length >> 1] ?? Number.NaN
    const worst = (by: (run: LightRun) => number): number => sorted(runs, by).at(-1) ?? Number.NaN
    const { facts: { bytes, headerBytes, height, living, operationsInWindow, transactions } } = chain
    return {
      what: "a light client from an empty directory: three svcd peers behind 100 Mbit/s, a chain of mainnet's shape",
      chain: {
        headers: height,
        megabytes: bytes / 1e6,
        headerMegabytes: headerBytes / 1e6,
        transactions,
        living,
        operationsInWindow
      },
      runs: count,
      loadAverage: { before: loadBefore, after: loadavg()[0] },
      equalToChain: runs.every(({ equal }) => equal),
      headersSeconds: median(({ headers }) => headers),
      firstAnswerSeconds: median(({ firstAnswer }) => firstAnswer),
      firstAnswerWorst: worst(({ firstAnswer }) => firstAnswer),
      answersSeconds: median(({ answers }) => answers),
      answersWorst: worst(({ answers }) => answers),
      signaturesSeconds: median(({ signatures }) => signatures),
      namesWithSignatures: median(({ signed }) => signed),
      cpuSeconds: Object.fromEntries(
        (["headers", "window", "signatures"] as const).map((phase) => [phase, {
          client: median(({ cpu }) => cpu[phase].client),
          peers: median(({ cpu }) => cpu[phase].peers),
          line: median(({ cpu }) => cpu[phase].line)
        }])
      ),
      diskMB: worst(({ diskMB }) => diskMB),
      mostDiskMB: worst(({ mostDiskMB }) => mostDiskMB),
      peakMemoryMB: worst(({ peakMemoryMB }) => peakMemoryMB),
      tipMemoryMB: worst(({ tipMemoryMB }) => tipMemoryMB),
      resolvesPerSecond: median(({ resolvesPerSecond }) => resolvesPerSecond),
      fullSync: await pairs(served, chain)
    }
  } finally {
    line.close()
    for (const peer of peers) await peer.stop()
  }
}
