import { execFile, spawnSync } from "node:child_process"
import { accessSync, constants, statSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { cpuSecondsOf } from "./cpuTime.ts"
import { YEARS } from "./lightSettings.ts"
import { NodeProcess, pause } from "./nodeProcess.ts"

/** Programs that are compared, and the work that both do. */

/** Connections of the load of `name_show`, seconds before it counts, and seconds that count. */
const CONNECTIONS = 8
const WARM_SECONDS = 3
const LOAD_SECONDS = 6

/** Milliseconds between two questions whether a node has the tip. */
const LOOK = 50

/**
 * The reference checks itself after each block of a regtest chain, which costs more than the block; and with an old tip it is in
 * initial download, in which it answers no question about names and serves no headers.
 */
export const REFERENCE = ["-checknamedb=-1", "-checkblockindex=0", "-checkmempool=0", `-maxtipage=${YEARS}`]

/** A program that is compared: svcd's `svcd.js`, or the reference's `namecoind`. */
export interface Contender {
  readonly program: string
  readonly reference: boolean
  /** What the program says of its version, in one line. */
  readonly version: string
}

/** This build. */
export const THIS_BUILD = fileURLToPath(new URL("../../bin/svcd.js", import.meta.url))

const isSvcd = (program: string): boolean => program.endsWith(".js")

const mayRun = (program: string): boolean => {
  try {
    accessSync(program, isSvcd(program) ? constants.R_OK : constants.X_OK)
    return statSync(program).isFile()
  } catch {
    return false
  }
}

/** A program to compare with, or one sentence why it is none. */
export const contender = (program: string, wanted: "reference" | "svcd"): Contender | string => {
  const reference = wanted === "reference"
  if (isSvcd(program) === reference) {
    return reference
      ? `--against takes a namecoind, not ${program}: for another build of svcd use --build.`
      : `--build takes the build/bin/svcd.js of another build, not ${program}: for a namecoind use --against.`
  }
  if (!mayRun(program)) return `${program} is not a program that can be started.`
  const [command, args] = reference ? [program, ["--version"]] : [process.execPath, [program, "--version"]]
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8", timeout: 20_000 })
  const [version = ""] = (stdout ?? "").split("\n", 1)
  if (status !== 0 || !version.toLowerCase().includes(reference ? "namecoin" : "svcd")) {
    return `${program} does not say that it is ${
      reference ? "a Namecoin Core daemon" : "svcd"
    } when called with --version.`
  }
  return { program, reference, version }
}

/** Starts a contender without wallet, with names, their history and expired names. */
export const start = (
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
export interface Work {
  readonly cpuSeconds: number
  readonly seconds: number
  readonly peakMemoryMB: number
}

const someNames = async (node: NodeProcess): Promise<ReadonlyArray<unknown>> => {
  const names = await node.call("name_scan", "d/", 1)
  return Array.isArray(names) ? names : []
}

/** Waits until a node answers with the last block and with names: svcd connects blocks before it has their names. */
export const untilTip = async (node: NodeProcess, tip: string): Promise<Work> => {
  while (await node.call("getbestblockhash") !== tip || (await someNames(node)).length === 0) {
    if (node.child.exitCode !== null) throw new Error(`the node ended with code ${node.child.exitCode}`)
    await pause(LOOK)
  }
  return {
    cpuSeconds: cpuSecondsOf(node.child.pid),
    seconds: (performance.now() - node.startedAt) / 1000,
    peakMemoryMB: node.peakMemoryMB
  }
}

/** Starts a contender, waits for the tip and stops it. */
export const workOf = async (
  which: Contender,
  { tip, ...options }: Parameters<typeof start>[1] & { readonly tip: string }
): Promise<Work> => {
  const node = await start(which, options)
  try {
    return await untilTip(node, tip)
  } finally {
    await node.stop()
  }
}

/** Microseconds of processor time that a call of `name_show` costs, over keep-alive connections. */
export const nameShow = async (node: NodeProcess): Promise<number> => {
  const [first] = await someNames(node)
  const name = typeof first === "object" && first !== null && "name" in first ? first.name : undefined
  if (name === undefined) throw new Error("the chain has no names")
  const body = JSON.stringify({ id: 1, method: "name_show", params: [name] })
  const script = fileURLToPath(new URL("./rpcLoad.js", import.meta.url))
  const load = async (seconds: number): Promise<number> => {
    const before = cpuSecondsOf(node.child.pid)
    const args = [script, node.rpcPort, CONNECTIONS, seconds, body, node.headers.authorization ?? ""].map(String)
    const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: "utf8" })
    const { requests, wrong }: { requests: number; wrong: number } = JSON.parse(stdout)
    if (wrong > 0) throw new Error(`${wrong} calls of name_show failed`)
    return (cpuSecondsOf(node.child.pid) - before) / requests * 1e6
  }
  await load(WARM_SECONDS)
  return await load(LOAD_SECONDS)
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}
