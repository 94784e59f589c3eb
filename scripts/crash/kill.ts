import { DaemonProcess } from "./DaemonProcess.ts"
import { INDEX_FLAGS, indexTrouble, removeIndex } from "./indexes.ts"
import { inDirectories } from "./inDirectories.ts"
import { kindOf, Ledger, namesTrouble } from "./Ledger.ts"
import { FIRST_BLOCKS } from "./Load.ts"
import { Random } from "./random.ts"
import { type Failure, type Options, Tally } from "./report.ts"
import { listOf, pause } from "./rpc.ts"
import { someWork } from "./someWork.ts"

/** Rounds on one data directory before a new one: each round checks what all rounds before it left. */
const ROUNDS_EACH = 50

/** Nodes at a time. */
const AT_ONCE = 2

/** The most answers of a round before the kill, and the milliseconds after them, so that it interrupts work. */
const WORK = { answers: 30, delay: 12 }

/** How often a kill comes while the node starts, within so many milliseconds. */
const AT_START = 0.15
const LONGEST_START = 1600

/** How often a node has to build an index again when it starts. */
const WITHOUT_INDEX = 0.2

const spawn = (directory: string): Promise<DaemonProcess> =>
  DaemonProcess.spawn({ directory, args: ["-maxpeers", "0", ...INDEX_FLAGS] })

/** One data directory, and the rounds in which its node is killed. */
const runDirectory = async (
  directory: string,
  seed: number,
  rounds: ReadonlyArray<number>,
  tally: Tally
): Promise<void> => {
  let answers = 0
  const ledger = new Ledger(() => answers)
  const first = await spawn(directory)
  const up = await first.start()
  if (!up.ready) throw new Error(`a new node does not start: ${up.reason}`)
  const mine = await first.rpc.call("getnewaddress")
  const mined = listOf(await first.rpc.call("generatetoaddress", FIRST_BLOCKS, mine))
  ledger.chainStep({ holds: String(mined[0]) })({ holds: String(mined.at(-1)) })
  answers++
  let daemon = first
  for (const round of rounds) {
    const random = Random.of(seed, round)
    const note = (failure: Omit<Failure, "round">): void => tally.fail({ ...failure, round })
    const work = { directory, rpc: daemon.rpc, tag: `r${round}`, ledger, isEndless: true, answered: () => answers++ }
    const { done } = await someWork(work, random, WORK)
    const died = daemon.ended
    await daemon.kill()
    if (died) note({ what: "died", detail: daemon.words.slice(-1500) })
    tally.count("acknowledged", await done)

    if (random.chance(WITHOUT_INDEX)) {
      if (removeIndex(directory, random)) tally.count("without an index")
      else note({ what: "no index", detail: "the files of an index are not where they were looked for" })
    }
    daemon = await spawn(directory)
    if (random.chance(AT_START)) {
      await pause(random.below(LONGEST_START))
      if (daemon.ended) note({ what: "refused", detail: daemon.words })
      await daemon.kill()
      tally.count("killed at the start")
      daemon = await spawn(directory)
    }
    const start = await daemon.start()
    if (!start.ready) {
      note({ what: "refused", detail: start.reason })
      await daemon.kill()
      return
    }
    const index = await indexTrouble(daemon.rpc)
    if (index !== undefined) note({ what: "index", detail: index })
    const last = round === rounds.at(-1)
    const missing = await ledger.missing(daemon.rpc, directory, Infinity, last)
    for (const detail of missing) note({ what: `lost ${kindOf(detail)}`, detail })
    const trouble = last ? await namesTrouble(daemon.rpc) : undefined
    if (trouble !== undefined) note({ what: "names", detail: trouble })
    tally.count(missing.length === 0 ? "whole" : "with losses")
  }
  const stopped = await daemon.stop()
  if (!stopped) tally.fail({ round: rounds.at(-1) ?? 0, what: "hung", detail: `no end: ${daemon.words.slice(-1500)}` })
}

/** Kills a node under load repeatedly, and checks each time whether all that it acknowledged is there. */
export const runKill = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("kill -9", seed)
  await inDirectories({ count, only }, { roundsEach: ROUNDS_EACH, atOnce: AT_ONCE }, async ({ directory, rounds }) => {
    await runDirectory(directory, seed, rounds, tally)
    tell(tally.line())
  })
  return tally
}
