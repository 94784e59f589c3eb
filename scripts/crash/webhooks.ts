import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { differenceOf, reorganize, spawnDaemon } from "./events.ts"
import { type Behaviour, HookReceiver } from "./hookReceiver.ts"
import { inDirectories } from "./inDirectories.ts"
import { FIRST_BLOCKS } from "./Load.ts"
import { Random } from "./random.ts"
import { type Options, Tally } from "./report.ts"
import { NodeGone, pause, type RpcClient } from "./rpc.ts"
import { someWork } from "./someWork.ts"
import { freePort } from "./workplace.ts"

/** Rounds on one data directory: the receiver is the same one in all of them. */
const ROUNDS_EACH = 50

/** The most answers of a round before the kill, and the milliseconds after them. */
const WORK = { answers: 20, delay: 20 }

/** How often a round has a reorganization beside those of the load, and its longest. */
const REORGANIZATIONS = 0.3
const LONGEST_REORG = 24

/** How often the receiver does not accept a message: the next attempt takes five seconds. */
const FAILURES = 0.004

/** The most milliseconds of an answer. */
const SLOWEST = 15

/** Milliseconds that the receiver may need to have everything. */
const PATIENCE = 120_000

/** Rounds between two lines of progress. */
const ROUNDS_TOLD = 10

const SECRET = "whsec_c2VjcmV0IG9mIHRoZSBjcmFzaCB0ZXN0cyE="

const FAULTY: ReadonlyArray<Behaviour> = ["takes it, and answers 500", "takes it, and hangs up", "answers 500"]

/** Every kind of event, and the ends of blocks: so each block has a message. */
const configOf = (port: number): string =>
  [
    "[[webhook]]",
    `url = "http://127.0.0.1:${port}/hook"`,
    `secret = "${SECRET}"`,
    "types = \"registered,updated,renewed,transferred,cleared,expired,block\"",
    "from = \"0\"",
    ""
  ].join("\n")

/** Waits until the receiver is at the tip with the same names; returns what is different then. */
const lasting = async (rpc: RpcClient, receiver: HookReceiver): Promise<string | undefined> => {
  for (const until = performance.now() + PATIENCE;;) {
    const tip = String(await rpc.call("getbestblockhash"))
    const { replica, tip: has } = receiver.messages
    const found = tip === has ? await differenceOf(rpc, replica) : `the tip is ${tip}, and the receiver has ${has}`
    if (found === undefined || performance.now() > until) return found
    await pause(30)
  }
}

interface Side {
  readonly directory: string
  readonly port: number
}

const runDirectory = async (
  side: Side,
  seed: number,
  rounds: ReadonlyArray<number>,
  { tally, tell }: { readonly tally: Tally; readonly tell: Options["tell"] }
): Promise<void> => {
  let at = rounds[0] ?? 0
  let random = Random.of(seed, at)
  const receiver = new HookReceiver({
    secret: SECRET,
    behaves: () => random.chance(FAILURES) ? random.pick(FAULTY) : "accepts",
    delay: () => random.below(SLOWEST),
    fault: (what, detail) => tally.fail({ round: at, what, detail }),
    count: (what) => tally.count(what)
  })
  await receiver.listen()
  writeFileSync(join(side.directory, "svcd.conf"), configOf(receiver.port))
  try {
    let daemon = await spawnDaemon(side)
    await daemon.rpc.call("generatetoaddress", FIRST_BLOCKS, String(await daemon.rpc.call("getnewaddress")))
    for (const round of rounds) {
      at = round
      random = Random.of(seed, round)
      if (random.chance(REORGANIZATIONS)) {
        await reorganize(daemon.rpc, 1 + random.below(LONGEST_REORG))
        tally.count("reorganizations beside the load")
      }
      const { done } = await someWork({ directory: side.directory, rpc: daemon.rpc, tag: `h${round}` }, random, WORK)
      await daemon.kill()
      await done
      tally.count("kills")
      daemon = await spawnDaemon(side)
      const different = await lasting(daemon.rpc, receiver).catch((cause: unknown) => {
        if (cause instanceof NodeGone) return String(cause)
        throw cause
      })
      if (different !== undefined) tally.fail({ round, what: "different", detail: different })
      tally.count(different === undefined ? "equal" : "different")
      if (round % ROUNDS_TOLD === ROUNDS_TOLD - 1) tell(tally.line())
    }
    if (!await daemon.stop()) tally.fail({ round: at, what: "hung", detail: daemon.words.slice(-1500) })
  } finally {
    receiver.close()
  }
}

/** Kills a daemon whose webhook a real server receives; each message is checked, and the server's copy has to be equal. */
export const runWebhooks = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("a receiver of webhooks", seed)
  await inDirectories(
    { count, only },
    { roundsEach: ROUNDS_EACH },
    async ({ directory, rounds }) => runDirectory({ directory, port: await freePort() }, seed, rounds, { tally, tell })
  )
  return tally
}
