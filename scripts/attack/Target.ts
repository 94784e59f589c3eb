import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, NodeProcess, ROOT } from "../bench/nodeProcess.ts"

/** What attackers know of the node. */
export interface Target {
  readonly port: number
  readonly rpcPort: number
  readonly tip: { readonly hash: string; readonly height: number; readonly time: number; readonly bits: number }
  /** The hashes of its blocks, as RPC shows them, from the genesis block on. */
  readonly hashes: ReadonlyArray<string>
  /** Outputs that anyone can spend, each with the same value. */
  readonly coins: ReadonlyArray<{ readonly txid: string; readonly vout: number }>
  /** The value of each of them, in smallest units. */
  readonly coinValue: number
  /** A name that there is. */
  readonly name: string
}

/** What an attack's node is started with. */
export interface NodeSettings {
  readonly heapMB: number
  readonly program: string | undefined
  readonly runtime: ReadonlyArray<string>
}

/** Pay to anchor: an output that anyone can spend with an empty input. */
export const ANCHOR_HEX = "51024e73"

/** Blocks on top of the fixture's, with the time of today: the first coinbases of them can be spent. */
const NEW_BLOCKS = 120

const FIXTURE = join(ROOT, "test/fixtures/regtest-names")

/** A name of the fixture that is there at its tip, though expired later. */
const NAME = "d/prairiefjord2763f65b"

const wanted = (answer: unknown, what: string): object => {
  if (typeof answer !== "object" || answer === null) throw new Error(`the node gives no ${what}`)
  return answer
}

const field = (object: object, name: string): unknown => Object.entries(object).find(([key]) => key === name)?.[1]

/** A data directory with the chain of the fixture and new blocks, made once and copied for each attack. */
export class Template {
  readonly directory: string
  readonly facts: Omit<Target, "port" | "rpcPort">

  private constructor(directory: string, facts: Omit<Target, "port" | "rpcPort">) {
    this.directory = directory
    this.facts = facts
  }

  static async make({ program }: Pick<NodeSettings, "program">): Promise<Template> {
    const directory = mkdtempSync(join(tmpdir(), "svcd-attack-"))
    const node = await NodeProcess.start({
      args: ["-maxpeers", "0", "-loadblock", join(FIXTURE, "blocks.dat.gz")],
      directory,
      ...(program === undefined ? {} : { program })
    })
    try {
      await node.until("getblockcount", (count) => count === 600)
      await node.call("generatetodescriptor", NEW_BLOCKS, `raw(${ANCHOR_HEX})`)
      const height = await node.call("getblockcount")
      if (height !== 600 + NEW_BLOCKS) throw new Error(`the node has ${String(height)} blocks`)
      const hashes: Array<string> = []
      for (let i = 0; i <= height; i++) hashes.push(String(await node.call("getblockhash", i)))
      const hash = hashes[height] ?? ""
      const header = wanted(await node.call("getblockheader", hash), "header of its tip")
      const tip = {
        hash,
        height,
        time: Number(field(header, "time")),
        bits: parseInt(String(field(header, "bits")), 16)
      }
      return new Template(directory, { tip, hashes, name: NAME, coins: [], coinValue: 0 })
    } catch (error) {
      rmSync(directory, { recursive: true, force: true })
      throw error
    } finally {
      await node.stop()
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** The node under attack, on a copy of the template. */
export class TargetNode {
  readonly node: NodeProcess
  readonly target: Target
  readonly log: string

  private constructor(node: NodeProcess, target: Target) {
    this.node = node
    this.target = target
    this.log = join(node.directory, "attack.log")
  }

  /** `honest` is the port of the honest peer that the node calls. */
  static async start(
    template: Template,
    { heapMB, program, runtime }: NodeSettings,
    honest: number,
    args: ReadonlyArray<string>
  ): Promise<TargetNode> {
    const directory = mkdtempSync(join(tmpdir(), "svcd-attack-"))
    cpSync(template.directory, directory, { recursive: true })
    const port = await freePort()
    const node = await NodeProcess.start({
      directory,
      runtime: [`--max-old-space-size=${heapMB}`, ...runtime],
      args: [
        "-listen",
        `127.0.0.1:${port}`,
        "-maxpeers",
        "125",
        "-addpeer",
        `127.0.0.1:${honest}`,
        "-allowexpired",
        "-loglevel",
        "warn",
        "-logfile",
        join(directory, "attack.log"),
        ...args
      ],
      ...(program === undefined ? {} : { program })
    })
    return new TargetNode(node, { ...template.facts, port, rpcPort: node.rpcPort })
  }

  /** How the process ended; `undefined` while it runs. */
  get ending(): string | undefined {
    const { exitCode, signalCode } = this.node.child
    if (signalCode !== null) return `signal ${signalCode}`
    return exitCode === null ? undefined : `exit code ${exitCode}`
  }

  /** Seconds of processor time so far; 0 where the system does not tell. */
  get cpuSeconds(): number {
    try {
      const stat = readFileSync(`/proc/${this.node.child.pid}/stat`, "utf8")
      // The name of the program in parentheses comes first; user and system time are the 12th and 13th field behind it.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return (Number(fields[11]) + Number(fields[12])) / TICKS
    } catch {
      return 0
    }
  }

  /** What the node logged. */
  get logged(): string {
    try {
      return readFileSync(this.log, "utf8")
    } catch {
      return ""
    }
  }

  remove(): void {
    rmSync(this.node.directory, { recursive: true, force: true })
  }
}

/** Ticks of a second in /proc. */
const TICKS = 100
