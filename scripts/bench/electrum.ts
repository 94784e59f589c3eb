import { type ChildProcess, execFile, fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { displayHash } from "../../src/protocol/bytes.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import { type Load as CallerLoad, load as callerLoad } from "./callerLoad.ts"
import { cpuSecondsOf } from "./cpuTime.ts"
import { nameOf } from "./nameDb.ts"
import { freePort, nextMessage, NodeProcess, pause } from "./nodeProcess.ts"

/** Sessions that ask without a pause, and seconds for which they do. */
const CONNECTIONS = 16
const SECONDS = 4

const RESOLVES = 500

/** Rounds of RPC calls, alone and beside clients that poll once a second. */
const ROUNDS = 5
const POLLING = 1_000

const IDLE = 10_000

/** Names that each block of the small server changes, and the sessions that share them. */
const FOLLOWED = 2_000
const FOLLOWERS = 20
const BLOCKS = 20

const CLIENTS = fileURLToPath(new URL("./electrumClients.js", import.meta.url))

interface Clients {
  readonly port: number
  readonly kind: "history" | "poll" | "proof" | "resolve"
  readonly count: number
  readonly seconds?: number
  readonly hashes: ReadonlyArray<string>
}

/** Milliseconds. */
interface Answers {
  readonly requests: number
  readonly perSecond: number
  readonly bytesEach: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const hashOf = (name: Uint8Array): string => displayHash(nameIndexHash(name))

/** Clients in a process of their own, until they have printed their times. */
const clients = ({ count, hashes, kind, port, seconds = SECONDS }: Clients): Promise<Answers> =>
  new Promise((resolve, reject) => {
    const args = [CLIENTS, port, kind, count, seconds].map(String)
    const child = execFile(process.execPath, args, (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout))
      else reject(error)
    })
    child.stdin?.end(hashes.join("\n"))
  })

/** Answers a second, of processor time of the node too: the clients take the other core. */
const rateOf = async (node: NodeProcess, asked: Clients): Promise<object> => {
  await clients({ ...asked, seconds: 1 })
  const before = cpuSecondsOf(node.child.pid)
  const { bytesEach, p99, perSecond, requests } = await clients(asked)
  const cpuSeconds = cpuSecondsOf(node.child.pid) - before
  return { perSecond: Math.round(perSecond), perCpuSecond: Math.round(requests / cpuSeconds), bytesEach, p99 }
}

interface Beside {
  readonly name: string
  /** Port of an Electrum server whose node gets no calls: what clients cost the machine. */
  readonly other: number
}

const middle = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** `name_show` over HTTP, in turns alone, while clients poll the node, and while they poll another one. */
const besidePolls = async (node: NodeProcess, polls: Clients, { name, other }: Beside): Promise<object> => {
  const body = JSON.stringify({ id: 1, method: "name_show", params: [name] })
  const round = (): Promise<CallerLoad> => callerLoad(node.rpcPort, body, SECONDS)
  const whilePolled = async (port: number): Promise<number> => {
    // The sessions are open before the calls begin, and stay until they have ended.
    const polling = clients({ ...polls, port, seconds: SECONDS + 4 })
    await pause(2_000)
    const { p99 } = await round()
    await polling
    return p99
  }
  await round()
  const turns: Array<{ readonly alone: number; readonly beside: number; readonly elsewhere: number }> = []
  for (let n = 0; n < ROUNDS; n++) {
    const { p99: alone } = await round()
    turns.push({ alone, beside: await whilePolled(polls.port), elsewhere: await whilePolled(other) })
  }
  return {
    alone: middle(turns.map(({ alone }) => alone)),
    beside: middle(turns.map(({ beside }) => beside)),
    elsewhere: middle(turns.map(({ elsewhere }) => elsewhere)),
    ratio: middle(turns.map(({ alone, beside }) => beside / alone)),
    toElsewhere: middle(turns.map(({ beside, elsewhere }) => beside / elsewhere))
  }
}

const namesOf = (scan: unknown): ReadonlyArray<string> =>
  (Array.isArray(scan) ? scan : []).flatMap(({ name }: { readonly name?: string }) => name === undefined ? [] : [name])

interface Chain {
  readonly file: string
  readonly tip: string
}

/** A whole node on the chain of the import; returns it with the port of its Electrum server. */
const startNode = async ({ file, tip }: Chain): Promise<readonly [NodeProcess, number]> => {
  const port = await freePort()
  const electrum = ["-electrum", `127.0.0.1:${port}`, "-disablewallet"]
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-allowexpired", "-loadblock", file, ...electrum] })
  try {
    await node.untilTip(tip)
    return [node, port]
  } catch (error) {
    await node.stop()
    throw error
  }
}

const answers = async (chain: Chain): Promise<object> => {
  const [node, port] = await startNode(chain)
  try {
    const names = namesOf(await node.call("name_scan", "", 1_000))
    const [name] = names
    if (name === undefined) throw new Error("the chain has no names")
    const hashes = names.map((text) => hashOf(Buffer.from(text)))
    const asked = { port, hashes, count: CONNECTIONS }
    await clients({ ...asked, kind: "resolve", count: RESOLVES / 5 })
    const { max, p50, p99 } = await clients({ ...asked, kind: "resolve", count: RESOLVES })
    const rates = {
      histories: await rateOf(node, { ...asked, kind: "history" }),
      proofs: await rateOf(node, { ...asked, kind: "proof" })
    }
    const [polled, other] = await startNode(chain)
    try {
      const nameShowP99 = await besidePolls(node, { ...asked, kind: "poll", count: POLLING }, { name, other })
      return { resolveMilliseconds: { p50, p99, max }, ...rates, nameShowP99 }
    } finally {
      await polled.stop()
    }
  } finally {
    await node.stop()
  }
}

/** Clients that stay until their process is killed; resolves when all are there. */
const staying = async (
  { count, hashes = [], kind, port }: {
    readonly port: number
    readonly kind: "follow" | "idle"
    readonly count: number
    readonly hashes?: ReadonlyArray<string>
  }
): Promise<ChildProcess> => {
  const child = fork(CLIENTS, [port, kind, count].map(String), { stdio: ["pipe", "inherit", "inherit", "ipc"] })
  child.stdin?.end(hashes.join("\n"))
  await nextMessage(child, "the process of the clients")
  return child
}

interface Said {
  readonly port: number
  readonly bytes: number
  readonly committed: number
  readonly at: number
}

const server = (): Promise<readonly [ChildProcess, () => void, number]> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-electrum-"))
  const script = fileURLToPath(new URL("./electrumServer.js", import.meta.url))
  const child = fork(script, [join(directory, "names.db"), String(FOLLOWED)], { execArgv: ["--expose-gc"] })
  const stop = (): void => {
    child.kill()
    rmSync(directory, { recursive: true, force: true })
  }
  return nextMessage<Said>(child, "the Electrum server").then(
    ({ port }) => [child, stop, port] as const,
    (error: unknown) => {
      stop()
      throw error
    }
  )
}

const ask = (child: ChildProcess, asked: "block" | "memory"): Promise<Said> => {
  child.send(asked)
  return nextMessage<Said>(child, "the Electrum server")
}

/** A server alone: what sessions take, and how soon those that follow names hear of a block. */
const sessions = async (): Promise<object> => {
  const [child, stop, port] = await server()
  const started: Array<ChildProcess> = []
  const begin = async (clients: Parameters<typeof staying>[0]): Promise<ChildProcess> => {
    const begun = await staying(clients)
    started.push(begun)
    return begun
  }
  try {
    // What the first sessions make is not theirs.
    ;(await begin({ port, kind: "idle", count: 100 })).kill()
    await pause(1_000)
    const before = (await ask(child, "memory")).bytes
    const idle = await begin({ port, kind: "idle", count: IDLE })
    const after = (await ask(child, "memory")).bytes
    idle.kill()
    const hashes = Array.from({ length: FOLLOWED }, (_, i) => hashOf(nameOf(i)))
    const readers = await begin({ port, kind: "follow", count: FOLLOWERS, hashes })
    const took: Array<number> = []
    for (let n = 0; n < BLOCKS; n++) {
      const told = nextMessage<Said>(readers, "the process of the clients")
      const { committed } = await ask(child, "block")
      took.push((await told).at - committed)
    }
    took.sort((a, b) => a - b)
    return {
      idle: { sessions: IDLE, megabytes: Math.round((after - before) / 1e6) },
      followed: { statuses: FOLLOWED, p50Milliseconds: middle(took), maxMilliseconds: took.at(-1) }
    }
  } finally {
    for (const each of started) each.kill()
    stop()
  }
}

/** The Electrum server, as its clients see it. */
export const benchElectrum = async (chain: Chain): Promise<object> => ({
  ...await answers(chain),
  ...await sessions()
})
