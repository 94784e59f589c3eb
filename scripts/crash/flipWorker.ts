// Flips bits for flip.ts, in a process of its own: flipWorker.js PLAN SEED ROUND… (JSON, a line each)

import { closeSync, cpSync, openSync, readFileSync, readSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type Base, BLOCK_SHARES, type Difference, Interview, warningsIn } from "./flipData.ts"
import { chooseFlip, type Flip, kindOf, targetsIn, type Topic } from "./flipKinds.ts"
import { InnerDaemon, type InnerStart, isLasting } from "./InnerDaemon.ts"
import { isFailure, judge, type Observation, type Verdict, withNumber } from "./judgeFlip.ts"
import { Random } from "./random.ts"
import { NodeGone, pause } from "./rpc.ts"

/** A data directory, and the port of a node that has its whole chain. */
export interface Place {
  readonly full: Base
  readonly bare: Base
  readonly peer: number
}

/** The plan of the workers. */
export interface Plan {
  readonly place: string
  readonly places: ReadonlyArray<Place>
  /** The files to flip bits in, as a regular expression. */
  readonly files: string
}

/** A worker's report of a round; a line without `verdict` reports that it has begun. */
export interface Line extends Partial<Flip> {
  readonly round: number
  readonly base?: string
  readonly verdict?: Verdict
  readonly detail?: string
  /** For a node that is not ready by itself, or lost data: what is wrong once it has a peer; empty where nothing is. */
  readonly ill?: string
  readonly milliseconds?: number
  readonly cpuMilliseconds?: number
}

/** The most milliseconds that a node may report that it is not ready before it counts as such, and may stay silent. */
const NOT_READY = 1500
const HANGS = 40_000

/**
 * The time that wallets may take to fill the mempool once the node is ready: so many milliseconds, and so many times
 * the duration of the start, as the machine may be busy.
 */
const SETTLING = 4000
const SETTLING_FACTOR = 15

/** The time that a node may take to become ready again once it noticed damage, alone and with a peer. */
const REPAIR = 15_000
const HEAL = 30_000

/** One of this many nodes that are not ready, or lost data, gets a peer: it takes seconds. */
const HEALED_OF = 4

/** How often a node is asked about topics unrelated to the flipped file, and has its wallets. */
const WHOLE = 0.125

const [planFile = "", seedText = "1", ...rounds] = process.argv.slice(2)
const plan: Plan = JSON.parse(readFileSync(planFile, "utf8"))
const seed = Number(seedText)
const say = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const flipBit = (directory: string, { bit, file, offset }: Flip): void => {
  const descriptor = openSync(join(directory, file), "r+")
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, offset)
  byte.writeUInt8(byte.readUInt8(0) ^ (1 << bit))
  writeSync(descriptor, byte, 0, 1, offset)
  closeSync(descriptor)
}

/** Waits until the node is ready, or needs others for it; the last body of /ready where its status is not 200. */
const untilReady = async (daemon: InnerDaemon, patience: number, alone: boolean): Promise<string | undefined> => {
  const until = performance.now() + patience
  for (;;) {
    const { body, status } = await daemon.rpc.get("/ready")
    if (status === 200) return undefined
    if (daemon.end !== undefined || performance.now() > until) return body === "" ? "no answer" : body
    if (alone && isLasting(body)) return body
    await pause(20)
  }
}

const questioned = async (
  daemon: InnerDaemon,
  interview: Interview,
  patience: number
): Promise<ReadonlyArray<Difference>> => {
  try {
    return await interview.hold(daemon.port, patience)
  } catch (error) {
    if (error instanceof NodeGone) return []
    throw error
  }
}

/** Starts a node on the damaged directory and observes it. */
const observe = async (directory: string, file: string, base: Base, interview: Interview): Promise<Observation> => {
  const begun = performance.now()
  const daemon = await InnerDaemon.open(directory, base.flags)
  const start = await daemon.start(NOT_READY, HANGS)
  const settling = SETTLING + SETTLING_FACTOR * (performance.now() - begun)
  let first: ReadonlyArray<Difference> = []
  let last: ReadonlyArray<Difference> | undefined
  let notReady = start._tag === "NotReady" ? start.reason : undefined
  if (start._tag === "Ready" || start._tag === "NotReady") {
    first = await questioned(daemon, interview, notReady !== undefined && isLasting(notReady) ? 0 : settling)
    if (daemon.end === undefined && (first.length > 0 || notReady !== undefined)) {
      notReady = await untilReady(daemon, start._tag === "Ready" ? REPAIR : NOT_READY, true)
      if (notReady === undefined) last = await questioned(daemon, interview, settling)
    }
  }
  const ended: InnerStart | undefined = start._tag === "Ready" || start._tag === "NotReady" ? daemon.end : undefined
  const warnings = warningsIn(daemon.log()).slice(base.warnings)
  const stopped = await daemon.stop()
  return { directory, file, start, ended, first, last, notReady, warnings, stopped }
}

/** Methods whose answers may differ once a node had a peer, or rebuilt its chain state. */
const CHANGES = new Set(["getnodeaddresses", "getchaintips"])

/**
 * What is wrong, once it has a peer, with a node that was not ready by itself; empty where nothing is. No peer has undo
 * data: for those the test does what the node tells the operator to do.
 */
const heals = async (
  directory: string,
  file: string,
  base: Base,
  peer: number,
  interview: Interview
): Promise<string> => {
  if (file.startsWith("blocks/undo")) rmSync(join(directory, "chainstate"), { recursive: true })
  const online = ["-maxpeers", "8", "-listen", "", "-addpeer", `127.0.0.1:${peer}`, ...base.flags.slice(2)]
  const daemon = await InnerDaemon.open(directory, online)
  await daemon.start(HEAL, HEAL, false)
  const notReady = await untilReady(daemon, HEAL, false)
  const differences = notReady === undefined ? await questioned(daemon, interview, HEAL) : []
  await daemon.stop()
  return notReady ?? withNumber(differences.filter(({ question: [method] }) => !CHANGES.has(method)))
}

const cpuSince = (start: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(start)
  return Math.round((system + user) / 1000)
}

const wanted = new RegExp(plan.files)
const interviews = new Map<string, Interview>()

/** One interview for each base and choice of topics and blocks. */
const interviewOn = (base: Base, topics: ReadonlyArray<Topic>, share: number | undefined): Interview => {
  const key = `${base.directory} ${base.flags.join(" ")} ${topics.join(" ")} ${share}`
  const known = interviews.get(key) ?? new Interview(base, new Set(topics), share)
  interviews.set(key, known)
  return known
}

for (const text of rounds) {
  const round = Number(text)
  const random = Random.of(seed, round)
  const place = random.pick(plan.places)
  const { directory: source } = place.full
  const directory = join(plan.place, `flip-${process.pid}`)
  rmSync(directory, { recursive: true, force: true })
  cpSync(source, directory, { recursive: true })
  const flip = chooseFlip(random, targetsIn(source).filter(({ file }) => wanted.test(file)))
  const { topics } = kindOf(flip.file)
  const whole = random.chance(WHOLE)
  const base = whole || topics.includes("wallets") ? place.full : place.bare
  const share = flip.file.startsWith("blocks/") ? undefined : round % BLOCK_SHARES
  const interview = interviewOn(base, whole ? ["node", "blocks", "names", "wallets"] : ["node", ...topics], share)
  const begun = performance.now()
  const cpu = process.cpuUsage()
  say({ round, base: source, ...flip })
  flipBit(directory, flip)
  const seen = await observe(directory, flip.file, base, interview)
  const { detail, verdict } = judge(seen)
  const ill = (verdict === "not ready" || verdict === "told") && round % HEALED_OF === 0
    ? await heals(directory, flip.file, base, place.peer, interview)
    : undefined
  say({
    round,
    base: source,
    ...flip,
    verdict,
    detail: isFailure(verdict) || ill !== undefined ? detail : detail.slice(0, 300),
    cpuMilliseconds: cpuSince(cpu),
    milliseconds: Math.round(performance.now() - begun),
    ...ill === undefined ? {} : { ill }
  })
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)
