import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { decodeBlock } from "../../src/protocol/block.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { cpuSecondsOf } from "../bench/cpuTime.ts"
import { freePort, NodeProcess, ROOT } from "../bench/nodeProcess.ts"
import { ANCHOR, fanOut } from "./coins.ts"
import { endWithUs } from "./processes.ts"

/** What attackers know about the node. */
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
  /** A registered name. */
  readonly name: string
}

/** The start options of an attack's node. */
export interface NodeSettings {
  readonly heapMB: number
  readonly program: string | undefined
  readonly runtime: ReadonlyArray<string>
}

/** Blocks on top of the fixture's, with today's time: the first coinbases of them can be spent. */
const NEW_BLOCKS = 120

const FIXTURE_HEIGHT = 600
const FIXTURE = join(ROOT, "test/fixtures/regtest-names")

/** A name of the fixture that is registered at its tip, though expired later. */
const NAME = "d/prairiefjord2763f65b"

/** Rewards that are split into coins. */
const REWARDS = 10

type Facts = Omit<Target, "port" | "rpcPort">

/** A block of the node by its hash. */
const blockOf = async (node: NodeProcess, hash: string) => {
  const hex = await node.call("getblock", hash, 0)
  if (typeof hex !== "string") throw new Error(`the node gives no block ${hash}`)
  return decodeBlock(Buffer.from(hex, "hex"))
}

/** Mines on top of the fixture's chain, so that the tip is of today and there are coins to spend. */
const mine = async (node: NodeProcess): Promise<Facts> => {
  const output = `raw(${toHex(ANCHOR)})`
  await node.call("generatetodescriptor", NEW_BLOCKS, output)
  const fans: Array<Transaction> = []
  for (let i = 1; i <= REWARDS; i++) {
    const hash = await node.call("getblockhash", FIXTURE_HEIGHT + i)
    const [reward] = (await blockOf(node, String(hash))).transactions
    if (reward !== undefined) fans.push(fanOut(reward))
  }
  await node.call("generateblock", output, fans.map(({ bytes }) => toHex(bytes)))
  const height = FIXTURE_HEIGHT + NEW_BLOCKS + 1
  const hashes: Array<string> = []
  for (let i = 0; i <= height; i++) hashes.push(String(await node.call("getblockhash", i)))
  const hash = hashes[height] ?? ""
  const { bits, time } = (await blockOf(node, hash)).header
  const coins = fans.flatMap(({ outputs, txid }) => outputs.map((_, vout) => ({ txid: displayHash(txid), vout })))
  return { tip: { hash, height, time, bits }, hashes, coins, coinValue: fans[0]?.outputs[0]?.value ?? 0, name: NAME }
}

/** A data directory with the chain of the fixture and new blocks, made once and copied for each attack. */
export class Template {
  readonly directory: string
  readonly facts: Facts

  private constructor(directory: string, facts: Facts) {
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
    endWithUs(node)
    try {
      await node.until("getblockcount", (count) => count === FIXTURE_HEIGHT)
      return new Template(directory, await mine(node))
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
    endWithUs(node)
    return new TargetNode(node, { ...template.facts, port, rpcPort: node.rpcPort })
  }

  /** How the process ended; `undefined` while it runs. */
  get ending(): string | undefined {
    const { exitCode, signalCode } = this.node.child
    if (signalCode !== null) return `signal ${signalCode}`
    return exitCode === null ? undefined : `exit code ${exitCode}`
  }

  /** Seconds of processor time so far. */
  get cpuSeconds(): number {
    return cpuSecondsOf(this.node.child.pid)
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
