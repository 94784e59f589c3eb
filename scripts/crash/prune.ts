import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DaemonProcess } from "./DaemonProcess.ts"
import { Random } from "./random.ts"
import { type Options, Tally } from "./report.ts"
import { listOf, pause, recordOf, textOf } from "./rpc.ts"
import { makeWorkplace } from "./workplace.ts"

/** Blocks of the chain: several block files of 64 KiB below the last 288 blocks. */
const BLOCKS = 1_800

const AT_A_TIME = 100

/** A kill follows the call within so many milliseconds. */
const MOST_DELAY = 25

const PRUNING = ["-maxpeers", "0", "-prune", "1", "-fastprune"]

/** The answers that pruning never changes. */
const LASTING = [["getbestblockhash"], ["gettxoutsetinfo"], ["name_scan", "", 1000], [
  "name_history",
  "d/kept"
]] as const

/** A directory with a chain, with a name that was registered below the blocks to prune. */
const makeChain = async (directory: string): Promise<void> => {
  mkdirSync(directory)
  const daemon = await DaemonProcess.spawn({ directory, args: PRUNING })
  const up = await daemon.start()
  if (!up.ready) throw new Error(`a new node does not start: ${up.reason}`)
  const mine = await daemon.rpc.call("getnewaddress")
  await daemon.rpc.call("generatetoaddress", 120, mine)
  const made = listOf(await daemon.rpc.call("name_new", "d/kept"))
  await daemon.rpc.call("generatetoaddress", 13, mine)
  await daemon.rpc.call("name_firstupdate", "d/kept", made[1], made[0], "a value")
  for (let at = 133; at < BLOCKS; at += AT_A_TIME) await daemon.rpc.call("generatetoaddress", AT_A_TIME, mine)
  if (!await daemon.stop()) throw new Error(`no end: ${daemon.words.slice(-1500)}`)
}

const lasting = async ({ rpc }: DaemonProcess): Promise<string> =>
  (await rpc.askAll(LASTING)).map((answer) => textOf(answer)).join("\n")

const chainInfo = async ({ rpc }: DaemonProcess) => {
  const info = recordOf(await rpc.call("getblockchaininfo"))
  return { first: Number(info["pruneheight"]), tip: Number(info["blocks"]), size: Number(info["size_on_disk"]) }
}

/** What is wrong with the blocks after a start: all from the first one on can be read, and none below. */
const blocksTrouble = async (daemon: DaemonProcess): Promise<string | undefined> => {
  const { first, tip } = await chainInfo(daemon)
  const heights = [...new Set([1, first - 1, first, first + 1, tip - 288, tip])].filter((height) => height > 0)
  for (const height of heights) {
    const hash = String(await daemon.rpc.call("getblockhash", height))
    const answer = await daemon.rpc.ask(["getblock", hash, 2])
    if (("result" in answer) !== (height >= first)) return `block ${height}, pruned below ${first}: ${textOf(answer)}`
  }
  return undefined
}

const blockFiles = (directory: string): string =>
  readdirSync(join(directory, "blocks")).filter((name) => name.endsWith(".dat")).sort().join(" ")

/** Kills a node within a call of `pruneblockchain`, and checks what the next start finds. */
const runRound = async (directory: string, random: Random): Promise<string | undefined> => {
  const daemon = await DaemonProcess.spawn({ directory, args: PRUNING })
  const up = await daemon.start()
  if (!up.ready) return `refused before: ${up.reason}`
  const [before, { first }] = [await lasting(daemon), await chainInfo(daemon)]
  const call = daemon.rpc.ask(["pruneblockchain", 400 + random.below(BLOCKS - 400)]).catch(() => undefined)
  await pause(random.below(MOST_DELAY))
  await daemon.kill()
  const pruned = await call
  const again = await DaemonProcess.spawn({ directory, args: PRUNING })
  const start = await again.start()
  if (!start.ready) return `refused: ${start.reason}`
  const after = await chainInfo(again)
  if (pruned !== undefined && "result" in pruned && after.first !== Number(pruned.result) + 1) {
    return `pruned to ${textOf(pruned)}, and the first block is ${after.first}`
  }
  if (after.first < first) return `pruned blocks are back: ${first}, then ${after.first}`
  if (await lasting(again) !== before) return `other answers: ${before}\n${await lasting(again)}`
  const trouble = await blocksTrouble(again)
  if (trouble !== undefined) return trouble
  // A call that is repeated leaves the files that a whole one leaves.
  const last = await again.rpc.ask(["pruneblockchain", BLOCKS - 500])
  const files = blockFiles(directory)
  if (!await again.stop()) return `no end: ${again.words.slice(-1500)}`
  return "error" in last || files.includes("blk00000.dat") ? `${textOf(last)}: ${files}` : undefined
}

/** Kills a node while it prunes, each time on a copy of the same chain. */
export const runPrune = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("kill -9 while pruning", seed)
  const place = makeWorkplace()
  try {
    const chain = join(place.path, "chain")
    await makeChain(chain)
    const rounds = only === undefined ? Array.from({ length: count }, (_, i) => i) : [only]
    for (const round of rounds) {
      const directory = join(place.path, `node-${round}`)
      cpSync(chain, directory, { recursive: true })
      const detail = await runRound(directory, Random.of(seed, round))
      if (detail === undefined) tally.count("whole")
      else tally.fail({ round, what: "prune", detail })
      rmSync(directory, { recursive: true, force: true })
      tell(tally.line())
    }
  } finally {
    place.remove()
  }
  return tally
}
