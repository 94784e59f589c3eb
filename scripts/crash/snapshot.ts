import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DaemonProcess } from "./DaemonProcess.ts"
import { Random } from "./random.ts"
import { type Options, Tally } from "./report.ts"
import { listOf, pause, recordOf } from "./rpc.ts"
import { makeWorkplace } from "./workplace.ts"

/** Blocks below the base, and after it. */
const BASE = 200
const AFTER = 5

/** A kill comes within so many milliseconds after the call, and sometimes during the next start. */
const LONGEST_LOAD = 200
const AT_START = 0.3
const LONGEST_START = 1_600

/** Kills within so many milliseconds while the blocks below the base arrive and are validated, at most. */
const LONGEST_VALIDATION = 1_500
const MOST_KILLS = 3

const NAME = "d/snapshot"

const PATIENCE = 600_000

/** A snapshot, and what a node needs to load it and to continue. */
interface Source {
  readonly file: string
  readonly hash: string
  readonly headers: ReadonlyArray<string>
  /** The blocks below the base and the base itself, and those after it. */
  readonly below: ReadonlyArray<string>
  readonly blocks: ReadonlyArray<string>
  readonly record: string
  readonly tip: string
  /** The hash of the coins at the tip. */
  readonly coins: string
}

/** What `name_show` says about the name, without what changes with the tip. */
const recordOfName = async ({ rpc }: DaemonProcess): Promise<string> => {
  const { height, txid, value, vout } = recordOf(await rpc.call("name_show", NAME))
  return JSON.stringify({ height, txid, value, vout })
}

const makeSource = async (directory: string): Promise<Source> => {
  mkdirSync(directory)
  const node = await DaemonProcess.spawn({ directory })
  const start = await node.start()
  if (!start.ready) throw new Error(`a new node does not start: ${start.reason}`)
  const { rpc } = node
  const mine = await rpc.call("getnewaddress")
  const mineBlocks = async (count: number) => listOf(await rpc.call("generatetoaddress", count, mine))
  await mineBlocks(BASE - 15)
  const made = listOf(await rpc.call("name_new", NAME))
  await mineBlocks(12)
  await rpc.call("name_firstupdate", NAME, made[1], made[0], "a value")
  await mineBlocks(3)
  const file = join(directory, "set.dat")
  const written = recordOf(await rpc.call("dumptxoutset", file, "latest"))
  await mineBlocks(AFTER)
  const record = await recordOfName(node)
  const hashes: Array<unknown> = []
  for (let height = 1; height <= BASE + AFTER; height++) hashes.push(await rpc.call("getblockhash", height))
  const headers: Array<string> = []
  for (const hash of hashes) headers.push(String(await rpc.call("getblockheader", hash, false)))
  const all: Array<string> = []
  for (const hash of hashes) all.push(String(await rpc.call("getblock", hash, 0)))
  const coins = String(recordOf(await rpc.call("gettxoutsetinfo"))["hash_serialized_3"])
  await node.stop()
  const [below, blocks] = [all.slice(0, BASE), all.slice(BASE)]
  return {
    file,
    hash: String(written["txoutset_hash"]),
    headers,
    below,
    blocks,
    record,
    tip: String(hashes.at(-1)),
    coins
  }
}

/** Waits until a node answers calls; `/ready` waits for blocks that it does not get. Returns why it does not. */
const answers = async (node: DaemonProcess): Promise<string | undefined> => {
  for (const until = performance.now() + PATIENCE; performance.now() < until; await pause(20)) {
    if (node.ended) return node.words.trim()
    const asked = await node.rpc.ask(["getblockcount"]).catch(() => undefined)
    if (asked !== undefined && "result" in asked) return undefined
  }
  return `no answer in time: ${node.words}`
}

const spawn = (directory: string, { hash }: Source): Promise<DaemonProcess> =>
  DaemonProcess.spawn({ directory, args: ["-maxpeers", "0", "-nowallet", "-snapshothash", hash] })

const giveHeaders = async ({ rpc }: DaemonProcess, { headers }: Source): Promise<void> => {
  for (const header of headers) await rpc.call("submitheader", header)
}

/** The chain state in use: the last one of the list. */
const stateInUse = async ({ rpc }: DaemonProcess): Promise<Readonly<Record<string, unknown>>> =>
  recordOf(listOf(recordOf(await rpc.call("getchainstates"))["chainstates"]).at(-1))

/** Whether the node is on the chain state of the snapshot, which is not validated. */
const isLoaded = async (node: DaemonProcess): Promise<boolean> => (await stateInUse(node))["validated"] === false

/** Gives all blocks below the base. Those that the node has are refused as known; the node may be killed meanwhile. */
const giveBelow = async ({ rpc }: DaemonProcess, { below }: Source): Promise<void> => {
  for (const block of below) {
    const answer = await rpc.ask(["submitblock", block]).catch(() => undefined)
    if (answer === undefined) return
  }
}

/** Waits until the snapshot is validated. Returns why it is not. */
const validated = async (node: DaemonProcess): Promise<string | undefined> => {
  for (const until = performance.now() + PATIENCE; performance.now() < until; await pause(20)) {
    if (node.ended) return node.words.trim()
    if (!await isLoaded(node)) return undefined
  }
  return `not validated in time: ${JSON.stringify(await node.rpc.call("getchainstates"))} ${node.words}`
}

/** What is wrong with a node that has the whole chain. */
const judgeWhole = async (node: DaemonProcess, source: Source): Promise<string | undefined> => {
  const tip = await node.rpc.call("getbestblockhash")
  if (tip !== source.tip) return `the tip is ${String(tip)} with all blocks`
  const coins = recordOf(await node.rpc.call("gettxoutsetinfo"))
  if (coins["hash_serialized_3"] !== source.coins) return "the coins have another hash with all blocks"
  return await recordOfName(node) === source.record ? undefined : "the name has another record with all blocks"
}

/**
 * Kills a node on the chain state of a snapshot, repeatedly, while it gets the blocks below the base and validates them.
 * Then it gets all of them, and must have a validated chain state, before and after a restart.
 */
const runValidation = async (directory: string, source: Source, { random, tally }: Chances) => {
  for (let kills = random.below(MOST_KILLS + 1); kills > 0; kills--) {
    const node = await spawn(directory, source)
    const why = await answers(node)
    if (why !== undefined) return { what: "refused", detail: why }
    tally.count(await isLoaded(node) ? "killed before validated" : "killed after validated")
    const giving = giveBelow(node, source)
    await pause(random.below(LONGEST_VALIDATION))
    await node.kill()
    await giving
    if (random.chance(AT_START)) {
      const again = await spawn(directory, source)
      await pause(random.below(LONGEST_START))
      const { ended } = again
      await again.kill()
      if (ended) return { what: "refused", detail: again.words }
      tally.count("killed at the start")
    }
  }
  for (const round of ["with the validation", "after it"]) {
    const node = await spawn(directory, source)
    try {
      const why = await answers(node)
      if (why !== undefined) return { what: "refused", detail: why }
      if (round === "after it" && await isLoaded(node)) {
        return { what: "lost validation", detail: "not validated any more" }
      }
      await giveBelow(node, source)
      const wrong = await validated(node) ?? await judgeWhole(node, source)
      if (wrong !== undefined) return { what: "wrong", detail: `${round}: ${wrong}` }
      if (round === "after it" && await node.rpc.call("verifychain", 4, 0) !== true) {
        return { what: "wrong", detail: "verifychain finds a fault" }
      }
    } finally {
      await node.stop()
    }
  }
  return undefined
}

/** Checks the node after the kill. Returns what is wrong. */
const judge = async (node: DaemonProcess, source: Source): Promise<string | undefined> => {
  const height = Number(await node.rpc.call("getblockcount"))
  if (height !== 0 && height !== BASE) return `the tip is at height ${height}`
  if (await isLoaded(node) !== (height === BASE)) return `at height ${height} the chain state is another one`
  if (height === 0) {
    await giveHeaders(node, source)
    await node.rpc.call("loadtxoutset", source.file)
  }
  const coins = recordOf(await node.rpc.call("gettxoutsetinfo"))
  if (coins["hash_serialized_3"] !== source.hash) return "the coins have another hash"
  if (await recordOfName(node) !== source.record) return "the name has another record"
  for (const block of source.blocks) await node.rpc.call("submitblock", block)
  const tip = await node.rpc.call("getbestblockhash")
  return tip === source.tip ? undefined : `the tip is ${String(tip)} after the blocks that follow`
}

interface Chances {
  readonly random: Random
  readonly tally: Tally
}

/** One round. Returns the kind and the words of a failure. */
const runRound = async (directory: string, source: Source, { random, tally }: Chances) => {
  const failed = await runLoad(directory, source, { random, tally })
  return failed ?? await runValidation(directory, source, { random, tally })
}

/** Kills a node while it loads a snapshot, and brings the next one to the tip with it. */
const runLoad = async (directory: string, source: Source, { random, tally }: Chances) => {
  const first = await spawn(directory, source)
  const refused = await answers(first)
  if (refused !== undefined) return { what: "refused", detail: refused }
  await giveHeaders(first, source)
  const loading = first.rpc.ask(["loadtxoutset", source.file]).catch(() => undefined)
  await pause(random.below(LONGEST_LOAD))
  await first.kill()
  const answer = await loading
  if (random.chance(AT_START)) {
    const second = await spawn(directory, source)
    await pause(random.below(LONGEST_START))
    const { ended } = second
    await second.kill()
    if (ended) return { what: "refused", detail: second.words }
    tally.count("killed at the start")
  }
  const node = await spawn(directory, source)
  try {
    const why = await answers(node)
    if (why !== undefined) return { what: "refused", detail: why }
    const loaded = await isLoaded(node)
    tally.count(loaded ? "loaded" : "not loaded")
    const acknowledged = answer !== undefined && "result" in answer
    if (acknowledged && !loaded) return { what: "lost snapshot", detail: "the answer came, the snapshot is gone" }
    const wrong = await judge(node, source)
    return wrong === undefined ? undefined : { what: "wrong", detail: wrong }
  } finally {
    await node.stop()
  }
}

/**
 * Kills a node while it loads a snapshot, and checks that the next start has the old or the new chain state, whole. Then
 * kills it while it validates the blocks below.
 */
export const runSnapshot = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("kill -9 while a snapshot is loaded and validated", seed)
  const place = makeWorkplace()
  try {
    const source = await makeSource(join(place.path, "source"))
    const rounds = only === undefined ? Array.from({ length: count }, (_, i) => i) : [only]
    for (const round of rounds) {
      const directory = join(place.path, `node-${round}`)
      mkdirSync(directory)
      const failure = await runRound(directory, source, { random: Random.of(seed, round), tally })
      if (failure === undefined) tally.count("whole")
      else tally.fail({ ...failure, round })
      rmSync(directory, { recursive: true, force: true })
      tell(tally.line())
    }
  } finally {
    place.remove()
  }
  return tally
}
