import { join } from "node:path"
import type { Replica } from "../../examples/replica.ts"
import { CopyProcess } from "./CopyProcess.ts"
import { DaemonProcess } from "./DaemonProcess.ts"
import { inDirectories } from "./inDirectories.ts"
import { FIRST_BLOCKS } from "./Load.ts"
import { Random } from "./random.ts"
import { readReplica } from "./replicaProcess.ts"
import { type Options, Tally } from "./report.ts"
import { listOf, NodeGone, pause, recordOf, type RpcClient } from "./rpc.ts"
import { someWork } from "./someWork.ts"
import { freePort, ROOT } from "./workplace.ts"

/** Rounds on one data directory: the copy is the same one in all of them. */
const ROUNDS_EACH = 100

/** The most answers of a round before the kill, and the milliseconds after them. */
const WORK = { answers: 25, delay: 20 }

/** How often a round begins with a long reorganization, and its longest. */
const LONG_REORG = 0.15
const LONGEST_REORG = 288

/** How often both sides are killed. */
const BOTH = 0.1

/** Milliseconds that the copy may need to be equal. */
const PATIENCE = 60_000

/** Rounds between two lines of progress. */
const ROUNDS_TOLD = 5

/** Blocks that are mined in one call. */
const AT_A_TIME = 25

const PAGE = 1_000

const COPY = join(ROOT, "build/scripts/crash/replicaProcess.js")

const copyOf = ({ file, port }: Side): CopyProcess =>
  new CopyProcess("the copy", COPY, `http://127.0.0.1:${port}`, file)

const IN_DIGITS = { nameEncoding: "hex", valueEncoding: "hex" }

/** All records of the daemon, expired ones included, as texts. Names and values are in hexadecimal digits. */
const recordsOf = async (rpc: RpcClient): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  for (let start = "";;) {
    const page = listOf(await rpc.call("name_scan", start, PAGE, IN_DIGITS)).map(recordOf)
    for (const record of page) found.set(String(record["name"]), textOf(record))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return found
    start = String(last["name"])
  }
}

const textOf = (record: Readonly<Record<string, unknown>>): string =>
  [record["value"], record["txid"], record["vout"], record["height"]].join(" ")

/** The first difference between a copy, which has names and values in digits, and the daemon; `undefined` if there is none. */
export const differenceOf = async (rpc: RpcClient, { cursor, names }: Replica): Promise<string | undefined> => {
  const records = await recordsOf(rpc)
  for (const [name, text] of records) {
    const copied = names.get(name)
    const said = copied === undefined ? "nothing" : textOf({ ...copied })
    if (said !== text) return `${name} is ${text}, and the copy at ${cursor} has ${said}`
  }
  for (const name of names.keys()) if (!records.has(name)) return `the copy at ${cursor} has ${name}, which is none`
  return undefined
}

/** Waits until the copy has caught up; returns what is different then. */
const lasting = async (rpc: RpcClient, file: string): Promise<string | undefined> => {
  for (const until = performance.now() + PATIENCE;;) {
    const found = await differenceOf(rpc, readReplica(file))
    if (found === undefined || performance.now() > until) return found
    await pause(50)
  }
}

/** Replaces so many blocks at the end of the chain by more. */
export const reorganize = async (rpc: RpcClient, depth: number): Promise<void> => {
  // Another address than before: the same block is not mined again.
  const address = await rpc.call("getnewaddress")
  const tip = Number(await rpc.call("getblockcount"))
  await rpc.call("invalidateblock", await rpc.call("getblockhash", tip - depth + 1))
  // Not all in one call: it could take longer than a client waits.
  for (let left = depth + 1; left > 0; left -= AT_A_TIME) {
    await rpc.call("generatetoaddress", Math.min(AT_A_TIME, left), address)
  }
}

export interface DaemonSide {
  readonly directory: string
  readonly port: number
}

interface Side extends DaemonSide {
  readonly file: string
}

export const spawnDaemon = async ({ directory, port }: DaemonSide): Promise<DaemonProcess> => {
  const daemon = await DaemonProcess.spawn({ directory, port })
  const up = await daemon.start()
  if (!up.ready) throw new Error(`the node does not start: ${up.reason}`)
  return daemon
}

const runDirectory = async (
  side: Side,
  seed: number,
  rounds: ReadonlyArray<number>,
  { tally, tell }: { readonly tally: Tally; readonly tell: Options["tell"] }
): Promise<void> => {
  let daemon = await spawnDaemon(side)
  let copy = copyOf(side)
  const address = String(await daemon.rpc.call("getnewaddress"))
  await daemon.rpc.call("generatetoaddress", FIRST_BLOCKS, address)
  for (const round of rounds) {
    const random = Random.of(seed, round)
    const { rpc } = daemon
    if (random.chance(LONG_REORG)) {
      const most = Math.min(LONGEST_REORG, Number(await rpc.call("getblockcount")) - 1)
      const depth = 1 + random.below(most)
      // Only a copy that is at the tip can be told of all of them.
      await lasting(rpc, side.file)
      await reorganize(rpc, depth)
      tally.count("long reorganizations")
    }
    const { done: running } = await someWork({ directory: side.directory, rpc, tag: `e${round}` }, random, WORK)
    const [killsBoth, killsDaemon] = [random.chance(BOTH), random.chance(0.5)]
    if (killsBoth || killsDaemon) {
      await daemon.kill()
      tally.count("kills of the daemon")
    }
    if (killsBoth || !killsDaemon) {
      await copy.kill()
      tally.count("kills of the copy")
    }
    await running
    const { trouble } = copy
    if (killsBoth || !killsDaemon || trouble !== undefined) copy = copyOf(side)
    if (trouble !== undefined && killsDaemon && !killsBoth) tally.fail({ round, what: "refused", detail: trouble })
    if (killsBoth || killsDaemon) daemon = await spawnDaemon(side)
    const different = await lasting(daemon.rpc, side.file).catch((cause: unknown) => {
      if (cause instanceof NodeGone) return String(cause)
      throw cause
    })
    if (different !== undefined) tally.fail({ round, what: "different", detail: different })
    tally.count(different === undefined ? "equal" : "different")
    if (round % ROUNDS_TOLD === ROUNDS_TOLD - 1) tell(tally.line())
  }
  await copy.kill()
  if (!await daemon.stop()) tally.fail({ round: rounds.at(-1) ?? 0, what: "hung", detail: daemon.words.slice(-1500) })
}

/** Kills a daemon and a copy of its names that follows the events; the copy has to be equal each time. */
export const runEvents = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("a copy by events", seed)
  await inDirectories(
    { count, only },
    { roundsEach: ROUNDS_EACH },
    async ({ beside, directory, rounds }) =>
      runDirectory({ directory, file: `${beside}.json`, port: await freePort() }, seed, rounds, { tally, tell })
  )
  return tally
}
