import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { wireNameOfHost } from "../../src/dns/wire/name.ts"
import { classify } from "../../src/protocol/nameText.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { median } from "./contender.ts"
import { countOf } from "./counts.ts"
import { type RunningServer, startFloor, startNsd, startSvcd } from "./dnsContenders.ts"
import { hasDnsperf, latencies, type Load, load } from "./dnsperf.ts"
import { keptNames, nameOf, NAMES_PER_BLOCK } from "./nameDb.ts"

/** Names that are asked over and over. */
const HOT_NAMES = 20_000

/** Names that nobody has, in each turn, and as many others for a process that has just started. */
const MISSING = 20_000

/** Pairs of turns, and the seconds of a turn of the hot set. */
const PAIRS = 5
const SECONDS = 4

/** Blocks after which a name of the main chain expires. */
const LIFE = 36_000

/** Questions of a file in an order that is not that of the file of names. */
const STEP = 7_919

const labelOf = (index: number): string => Buffer.from(nameOf(index)).toString("latin1").slice(2)

/** Labels of digits alone are not domains. */
const isDomain = (index: number): boolean => classify(nameOf(index)) === "domain"

/** Names that are alive at the last block, from the first one on. */
const firstAlive = (names: number): number => Math.max(0, names - (LIFE - 1) * NAMES_PER_BLOCK)

function* recordsOf(names: number): Iterable<string> {
  for (let index = firstAlive(names); index < names; index++) {
    if (!isDomain(index)) continue
    const label = labelOf(index)
    yield `${label} A 192.0.2.${index % 256}`
    yield `*.${label} A 198.51.100.7`
  }
}

interface Files {
  readonly hot: string
  readonly cold: string
  readonly missing: string
  readonly otherMissing: string
}

const missingNames = (front: string): string =>
  Array.from({ length: MISSING }, (_, i) => `${front}${(i * STEP) % MISSING}-none.bit A\n`).join("")

const writeQuestions = (directory: string, names: number): Files => {
  const first = firstAlive(names)
  const alive = names - first
  const hosts = Array.from({ length: alive }, (_, i) => first + (i * STEP) % alive)
    .filter(isDomain).map((index) => `${labelOf(index)}.bit A\n`)
  const files = {
    hot: join(directory, "hot"),
    cold: join(directory, "cold"),
    missing: join(directory, "missing"),
    otherMissing: join(directory, "other-missing")
  }
  writeFileSync(files.hot, hosts.slice(0, HOT_NAMES).join(""))
  writeFileSync(files.cold, hosts.slice(HOT_NAMES).join(""))
  writeFileSync(files.missing, missingNames("zz"))
  writeFileSync(files.otherMissing, missingNames("yy"))
  return files
}

/** Stops the server after its use. */
const stopped = async <A>(server: RunningServer, use: (server: RunningServer) => Promise<A>): Promise<A> => {
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** What one load of one server came to. */
interface Turn {
  readonly perSecond: number
  readonly cpuSecondsPer100000: number
  readonly lost: number
}

const measured = async (
  { cpuSeconds, port }: RunningServer,
  options: Omit<Load, "port">,
  code: string
): Promise<Turn> => {
  const before = cpuSeconds()
  const { asked, codes, lost, perSecond } = await load({ port, ...options })
  if (!codes.startsWith(code)) throw new Error(`a server answers ${codes === "" ? "nothing" : codes}, not ${code}`)
  return { perSecond, cpuSecondsPer100000: (cpuSeconds() - before) / asked * 1e5, lost }
}

/** Asks all of the hot set until the server has it at hand. svcd keeps what is asked for again, beside what it kept before. */
const warmed = ({ port }: RunningServer, options: Pick<Load, "file" | "dnssec">): Promise<unknown> =>
  load({ port, times: 3, ...options })

type Kind = "hot" | "cold" | "dnssecCached" | "dnssecMissing"

const bothKinds = async (
  server: RunningServer,
  { cold, hot }: Files
): Promise<{ readonly hot: Turn; readonly cold: Turn }> => {
  await warmed(server, { file: hot })
  return {
    hot: await measured(server, { file: hot, seconds: SECONDS }, "NOERROR"),
    cold: await measured(server, { file: cold }, "NOERROR")
  }
}

const signedKinds = async (server: RunningServer, { hot, missing, otherMissing }: Files) => {
  await load({ port: server.port, file: otherMissing, dnssec: true })
  const dnssecMissing = await measured(server, { file: missing, dnssec: true }, "NXDOMAIN")
  await warmed(server, { file: hot, dnssec: true })
  return {
    dnssecMissing,
    dnssecCached: await measured(server, { file: hot, dnssec: true, seconds: SECONDS }, "NOERROR")
  }
}

const summary = (turns: ReadonlyArray<Turn>) => ({
  perSecond: median(turns.map(({ perSecond }) => perSecond)),
  cpuSecondsPer100000: median(turns.map(({ cpuSecondsPer100000 }) => cpuSecondsPer100000)),
  lost: turns.reduce((sum, { lost }) => sum + lost, 0)
})

type Turns = Readonly<Record<Kind, ReadonlyArray<Turn>>>

/** The median of the ratios of turns, by the given figure. */
const ratioOf = (
  { of, to }: { readonly of: ReadonlyArray<Turn>; readonly to: ReadonlyArray<Turn> },
  figure: "perSecond" | "cpuSecondsPer100000"
): number => median(of.map((turn, i) => turn[figure] / (to[i]?.[figure] ?? Number.NaN)))

/** The turns of one kind of question. */
interface Compared {
  readonly own: ReadonlyArray<Turn>
  readonly nsd: ReadonlyArray<Turn>
  readonly floor: ReadonlyArray<Turn>
}

/** The medians of all, and those of the ratios of their turns. */
const compared = ({ floor, nsd, own }: Compared) => ({
  svcd: summary(own),
  floor: summary(floor),
  floorCpuToSvcdCpu: ratioOf({ of: floor, to: own }, "cpuSecondsPer100000"),
  ...nsd.length === 0 ? {} : {
    nsd: summary(nsd),
    ratio: ratioOf({ of: own, to: nsd }, "perSecond"),
    floorRatio: ratioOf({ of: floor, to: nsd }, "perSecond"),
    nsdCpuToSvcdCpu: ratioOf({ of: nsd, to: own }, "cpuSecondsPer100000"),
    nsdCpuToFloorCpu: ratioOf({ of: nsd, to: floor }, "cpuSecondsPer100000")
  }
})

const KINDS = ["hot", "cold", "dnssecCached", "dnssecMissing"] as const satisfies ReadonlyArray<Kind>

interface Contest {
  readonly names: string
  readonly files: Files
  readonly nsd: RunningServer | undefined
}

/** A new process of svcd in each turn, so that its cold set is cold. */
const ownTurn = async ({ files, names }: Contest): Promise<Readonly<Record<Kind, Turn>>> =>
  stopped(
    await startSvcd(names),
    async (server) => ({ ...await bothKinds(server, files), ...await signedKinds(server, files) })
  )

interface AllTurns {
  readonly own: Turns
  readonly nsd: Turns
  readonly floor: Readonly<Record<"hot" | "cold", ReadonlyArray<Turn>>>
}

/** The floor of the hot set without names, and that of the cold set, which reads each name once. */
const floorTurn = async (names: string | undefined, { cold, hot }: Files): Promise<Turn> => {
  const options = names === undefined ? { file: hot, seconds: SECONDS } : { file: cold }
  return stopped(await startFloor(names), async (server) => {
    await warmed(server, { file: hot })
    return measured(server, options, "NOERROR")
  })
}

const inTurns = async (contest: Contest): Promise<AllTurns> => {
  const own = { hot: [], cold: [], dnssecCached: [], dnssecMissing: [] } as Record<Kind, Array<Turn>>
  const nsd = { hot: [], cold: [], dnssecCached: [], dnssecMissing: [] } as Record<Kind, Array<Turn>>
  const floor = { hot: new Array<Turn>(), cold: new Array<Turn>() }
  const turns = [
    async (): Promise<void> => {
      floor.hot.push(await floorTurn(undefined, contest.files))
      floor.cold.push(await floorTurn(contest.names, contest.files))
      const turn = await ownTurn(contest)
      for (const kind of KINDS) own[kind].push(turn[kind])
    },
    async (): Promise<void> => {
      if (contest.nsd === undefined) return
      const turn = await bothKinds(contest.nsd, contest.files)
      nsd.hot.push(turn.hot)
      nsd.cold.push(turn.cold)
    }
  ]
  const pairs = countOf("--pairs", PAIRS)
  for (let n = 0; n < pairs; n++) for (const turn of n % 2 === 0 ? turns : turns.toReversed()) await turn()
  return { own, nsd, floor }
}

/** Questions a second, of the hot set and of missing names, with DO. */
interface Rates {
  readonly cached: number
  readonly missing: number
}

const timesAt = async (server: RunningServer, { hot, missing, otherMissing }: Files, rates: Rates) => {
  const { port } = server
  // Code that runs for the first time takes ten times as long.
  await load({ port, file: otherMissing, dnssec: true })
  await warmed(server, { file: hot, dnssec: true })
  return {
    dnssecMissing: await latencies({ port, file: missing, dnssec: true, rate: rates.missing }),
    dnssecCached: await latencies({ port, file: hot, dnssec: true, seconds: SECONDS, rate: rates.cached })
  }
}

/**
 * Times of answers at these rates, and those of the other servers, which tell how long dnsperf and the machine take:
 * its two threads and the server share the processors.
 */
const atRates = async ({ files, names, nsd }: Contest, rates: Rates) => {
  const own = await stopped(await startSvcd(names), (server) => timesAt(server, files, rates))
  const floor = await stopped(await startFloor(), (server) => timesAt(server, files, rates))
  const other = nsd === undefined ? undefined : await timesAt(nsd, files, rates)
  const of = (kind: keyof typeof own) => ({
    ...own[kind],
    floorP99: floor[kind].p99,
    ...other === undefined ? {} : { nsdP99: other[kind].p99 }
  })
  return { dnssecCached: of("dnssecCached"), dnssecMissing: of("dnssecMissing") }
}

/**
 * The DNS server over many names, beside NSD with the same records unsigned, asked by dnsperf in turns: names that are
 * asked over and over, and each name once. Then what NSD does not do: signing the absence of names while they are asked.
 */
export const benchDns = async ({ names: count }: { readonly names: number }): Promise<object> => {
  if (!hasDnsperf()) return { skipped: "dnsperf is not installed" }
  const names = await keptNames(count)
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-dns-"))
  const known = { name: wireNameOfHost("bit."), type: TYPE_NUMBERS.SOA }
  let nsd: RunningServer | undefined
  try {
    const files = writeQuestions(directory, count)
    nsd = await startNsd({ directory: join(directory, "nsd"), records: recordsOf(count), known })
    const contest = { names, files, nsd }
    const turns = await inTurns(contest)
    const dnssecCached = summary(turns.own.dnssecCached)
    const dnssecMissing = summary(turns.own.dnssecMissing)
    return {
      what: "questions a second; processor seconds of the server for 100,000 of them",
      names: count,
      reference: nsd === undefined ? "NSD is not installed" : "NSD, server-count 1",
      hot: compared({ own: turns.own.hot, nsd: turns.nsd.hot, floor: turns.floor.hot }),
      cold: compared({ own: turns.own.cold, nsd: turns.nsd.cold, floor: turns.floor.cold }),
      dnssecCached,
      dnssecMissing,
      halfLoadMilliseconds: await atRates(contest, {
        cached: dnssecCached.perSecond >> 1,
        missing: dnssecMissing.perSecond >> 1
      })
    }
  } finally {
    await nsd?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
