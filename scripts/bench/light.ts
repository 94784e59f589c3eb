import { type ChildProcess, execFile, spawn } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type ShapedFile, shapedFile } from "../../test/support/shapedFile.ts"
import { freePort } from "./nodeProcess.ts"
import { Bandwidth, SharedLine } from "./traffic.ts"

const PEERS = 3

/** A line of 100 Mbit/s. */
const BYTES_PER_SECOND = 100_000_000 / 8

/** Runs, unless `--runs N` says another number. */
const RUNS = 5

const runsWanted = (): number => {
  const at = process.argv.indexOf("--runs")
  return at < 0 ? RUNS : Number(process.argv[at + 1])
}

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

const runOnce = async (served: Served, { directory }: ShapedFile): Promise<LightRun> => {
  const own = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--expose-gc", program("./lightClient.js"), own, JSON.stringify(served), directory],
      { encoding: "utf8" }
    )
    return JSON.parse(stdout)
  } finally {
    rmSync(own, { recursive: true, force: true })
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
    const count = runsWanted()
    const loadBefore = loadavg()[0]
    const runs: Array<LightRun> = []
    for (let run = 0; run < count; run++) runs.push(await runOnce(served, chain))
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
      goal: "answers p50 <= 25 s, worst <= 60 s; first <= 12 s; disk <= 150 MB; memory <= 300 MB, at the tip " +
        "<= 150 MB; >= 100,000 resolves/s"
    }
  } finally {
    line.close()
    for (const peer of peers) await peer.stop()
  }
}
