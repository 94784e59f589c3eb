import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { DaemonProcess } from "./DaemonProcess.ts"
import { diskAfter, type Model, type StoredFile } from "./diskImage.ts"
import { InnerDaemon } from "./InnerDaemon.ts"
import { kindOf, Ledger, namesTrouble } from "./Ledger.ts"
import { FIRST_BLOCKS, Load } from "./Load.ts"
import { Random } from "./random.ts"
import { buildRecorder, differingFiles, readRecording, type Recording, storedFiles, writeImage } from "./recording.ts"
import { type Options, Tally } from "./report.ts"
import { listOf, pause } from "./rpc.ts"
import { makeWorkplace } from "./workplace.ts"

/** Cuts of one recorded run. */
const CUTS_PER_RUN = 25

/** Answers of a recorded run. */
const ANSWERS = 100

/** How often a run begins with an empty data directory. */
const FRESH = 0.2

/** How often a cut follows right after an answer, when the node had least time to bring it to disk. */
const AT_ANSWER = 0.6

/** The most milliseconds until a node is ready, and until it shows signs of life. */
const READY_PATIENCE = 20_000
const HANGS = 60_000

/** A recorded run: the files before it, the events, and when what was acknowledged. */
interface Run {
  readonly before: ReadonlyMap<string, StoredFile>
  readonly recording: Recording
  readonly ledger: Ledger
}

const sizeOf = (file: string): number => existsSync(file) ? statSync(file).size : 0

/** Mines the blocks that a load needs. */
const mineFirst = async (daemon: DaemonProcess, ledger: Ledger): Promise<void> => {
  const mine = await daemon.rpc.call("getnewaddress")
  const genesis = String(await daemon.rpc.call("getbestblockhash"))
  const done = ledger.chainStep({ holds: genesis })
  const mined = listOf(await daemon.rpc.call("generatetoaddress", FIRST_BLOCKS, mine))
  done({ holds: String(mined.at(-1)) })
}

const ready = async (daemon: DaemonProcess): Promise<void> => {
  const start = await daemon.start()
  if (!start.ready) throw new Error(`a node for the test does not start: ${start.reason}`)
}

/** A data directory that a node left in good order. */
const makeFirst = async (directory: string): Promise<void> => {
  const daemon = await DaemonProcess.spawn({ directory })
  await ready(daemon)
  await mineFirst(daemon, new Ledger(() => 0))
  if (!await daemon.stop()) throw new Error("the node for the test does not stop")
}

/** Records a node under load until it has given so many answers. */
const record = async (
  place: string,
  library: string,
  first: string,
  random: Random,
  number: number
): Promise<Run> => {
  const directory = join(place, "recorded")
  const log = join(place, "recorded.log")
  rmSync(directory, { recursive: true, force: true })
  rmSync(log, { force: true })
  const fresh = random.chance(FRESH)
  if (fresh) mkdirSync(directory, { mode: 0o700 })
  else cpSync(first, directory, { recursive: true })
  const before = storedFiles(directory)
  const ledger = new Ledger(() => sizeOf(log))
  const daemon = await DaemonProcess.spawn({
    directory,
    env: { LD_PRELOAD: library, CRASH_ROOT: directory, CRASH_LOG: log, UV_USE_IO_URING: "0" }
  })
  await ready(daemon)
  if (fresh) await mineFirst(daemon, ledger)
  const load = new Load({
    rpc: daemon.rpc,
    ledger,
    random,
    directory,
    tag: `s${number}`,
    pace: (answers) => answers < ANSWERS
  })
  await load.run()
  // Longer than databases and fee estimates may stay unsaved while the node is idle.
  await pause(200)
  await daemon.kill()
  const recording = readRecording(readFileSync(log))
  const whole = diskAfter(before, recording.events, recording.events.length, "strict").whole()
  const differing = differingFiles(directory, whole)
  if (differing.length > 0) throw new Error(`the recording is not complete: ${differing.join(", ")}`)
  return { before, recording, ledger }
}

/** Starts a node on the files that a cut left, and checks for what was acknowledged. */
const tryCut = async (
  place: string,
  { before, ledger, recording }: Run,
  random: Random,
  tally: Tally,
  round: number
): Promise<void> => {
  const { ends, events } = recording
  const answered = ledger.times()
  const answer = random.chance(AT_ANSWER) && answered.length > 0 ? random.pick(answered) : undefined
  const at = answer === undefined
    ? random.below(events.length + 1)
    : ends.findLastIndex((end) => end <= answer) + 1
  const model: Model = random.chance(0.5) ? "strict" : "journal"
  const directory = join(place, `cut-${round}`)
  const time = at === 0 ? 0 : ends[at - 1] ?? 0
  const where = { model, event: at, events: events.length }
  rmSync(directory, { recursive: true, force: true })
  writeImage(directory, diskAfter(before, events, at, model).afterCut(random))
  const daemon = await InnerDaemon.open(directory)
  const start = await daemon.start(READY_PATIENCE, HANGS)
  if (start._tag === "Ready") {
    const missing = await ledger.missing(daemon.rpc, directory, time, true)
    const trouble = await namesTrouble(daemon.rpc)
    if (trouble !== undefined) tally.fail({ round, what: "names", detail: trouble, where })
    for (const detail of missing) tally.fail({ round, what: `lost ${kindOf(detail)}`, detail, where })
    tally.count(missing.length === 0 ? `whole (${model})` : `with losses (${model})`)
    tally.count("acknowledged results looked for", ledger.due(time).length)
  } else {
    tally.fail({ round, what: start._tag, detail: "reason" in start ? start.reason : "", where })
  }
  if (!await daemon.stop()) tally.fail({ round, what: "hung", detail: "it does not stop", where })
  rmSync(directory, { recursive: true, force: true })
}

/** Simulates power cuts of a recorded node, and starts a node on what its disk may hold then. */
export const runCut = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("power cuts", seed)
  const place = makeWorkplace()
  try {
    const built = buildRecorder(place.path)
    if ("skipped" in built) {
      tally.skip(built.skipped)
      return tally
    }
    const first = join(place.path, "first")
    await makeFirst(first)
    const rounds = only === undefined ? Array.from({ length: count }, (_, i) => i) : [only]
    const size = Math.max(1, Math.min(CUTS_PER_RUN, rounds.length))
    for (let part = rounds.splice(0, size); part.length > 0; part = rounds.splice(0, size)) {
      const number = Math.floor((part[0] ?? 0) / size)
      const run = await record(place.path, built.library, first, Random.of(seed, 1_000_000 + number), number)
      tally.count("runs recorded")
      tally.count("events recorded", run.recording.events.length)
      for (const round of part) await tryCut(place.path, run, Random.of(seed, round), tally, round)
      tell(tally.line())
    }
  } finally {
    place.remove()
  }
  return tally
}
