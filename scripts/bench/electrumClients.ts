// Electrum clients in a process of their own: electrumClients.js PORT KIND COUNT SECONDS, with script hashes on standard
// input, one a line. The kinds:
//   history, proof  COUNT sessions, each asks for one after the other as fast as it is answered, for so many seconds
//   resolve         COUNT names, each in a session of its own with the four calls of clients of Nostr identities
//   poll            COUNT sessions, each asks for a history every second
//   idle            COUNT sessions that say nothing more; then the parent is told, and they stay until it disconnects
//   follow          COUNT sessions share the script hashes; the parent is told when they follow them, and when there was news of all
// The first four print their times as JSON.

import { readFileSync } from "node:fs"
import { type ElectrumSession, request, speakingSession } from "../electrum/session.ts"

const [port = 0, , count = 1, seconds = 1] = process.argv.slice(2).map(Number)
const kind = process.argv[3] ?? ""
const hashes = readFileSync(0, "utf8").split("\n").filter((line) => line !== "")

/** Requests of a session: fewer than its costs allow, so that no answer is slowed down. */
const REQUESTS = 50

/** Sessions that connect at a time. */
const AT_ONCE = 50

/** Milliseconds between two questions of one that polls. */
const BETWEEN = 1_000

const HOST = "127.0.0.1"

const opening = (told?: (message: string) => void): Promise<ElectrumSession> =>
  speakingSession({ host: HOST, port }, "1.4.3", told)

/** The answer to a request. An error ends the measurement. */
const answered = async (session: ElectrumSession, text: string): Promise<string> => {
  const answer = await session.ask(text)
  if (answer === "" || answer.includes("\"error\":{")) throw new Error(`no answer to ${text}${answer}`)
  return answer
}

const now = (): number => performance.timeOrigin + performance.now()

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

const started = performance.now()
const until = started + seconds * 1_000
const times: Array<number> = []
let bytes = 0
let next = 0

const timed = async (work: () => Promise<string>): Promise<void> => {
  const began = performance.now()
  const answer = await work()
  bytes += answer.length
  times.push(performance.now() - began)
}

const method = kind === "proof" ? "blockchain.name.get_value_proof" : "blockchain.scripthash.get_history"

const question = (): string => request(method, hashes[next++ % hashes.length])

const asking = async (): Promise<void> => {
  while (performance.now() < until) {
    const session = await opening()
    for (let n = 0; n < REQUESTS && performance.now() < until; n++) {
      const text = question()
      await timed(() => answered(session, text))
    }
    session.close()
  }
}

const polling = async (session: ElectrumSession): Promise<void> => {
  await pause(Math.random() * BETWEEN)
  while (performance.now() < until) {
    const text = question()
    await timed(() => answered(session, text))
    await pause(BETWEEN)
  }
  session.close()
}

/** Version, history, transaction, tip. */
const resolveOne = async (hash: string): Promise<string> => {
  const session = await opening()
  const history = await answered(session, request("blockchain.scripthash.get_history", hash))
  const txid = [...history.matchAll(/"tx_hash":"([0-9a-f]{64})"/gu)].at(-1)?.[1]
  const transaction = await answered(session, request("blockchain.transaction.get", txid, true))
  const tip = await answered(session, request("blockchain.headers.subscribe"))
  session.close()
  return history + transaction + tip
}

/** Opens all sessions, some at a time. */
const opened = async (told?: (message: string) => void): Promise<ReadonlyArray<ElectrumSession>> => {
  const sessions: Array<ElectrumSession> = []
  while (sessions.length < count) {
    const lot = Math.min(AT_ONCE, count - sessions.length)
    sessions.push(...await Promise.all(Array.from({ length: lot }, () => opening(told))))
  }
  return sessions
}

const follow = async (): Promise<void> => {
  let left = hashes.length
  const sessions = await opened(() => {
    if (--left > 0) return
    left = hashes.length
    process.send?.({ at: now() })
  })
  const each = Math.ceil(hashes.length / count)
  await Promise.all(sessions.map(async (session, n) => {
    for (const hash of hashes.slice(n * each, (n + 1) * each)) {
      await answered(session, request("blockchain.scripthash.subscribe", hash))
    }
  }))
}

const print = (): void => {
  const took = (performance.now() - started) / 1_000
  times.sort((a, b) => a - b)
  const quantile = (part: number): number => times[Math.floor(part * (times.length - 1))] ?? 0
  const sizes = { requests: times.length, perSecond: times.length / took, bytesEach: Math.round(bytes / times.length) }
  process.stdout.write(JSON.stringify({ ...sizes, p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) }))
}

process.on("disconnect", () => process.exit())

if (kind === "idle" || kind === "follow") {
  await (kind === "idle" ? opened() : follow())
  process.send?.({ at: now() })
} else {
  if (kind === "resolve") {
    for (let n = 0; n < count; n++) await timed(() => resolveOne(hashes[n % hashes.length] ?? ""))
  } else if (kind === "poll") await Promise.all((await opened()).map(polling))
  else await Promise.all(Array.from({ length: count }, asking))
  print()
}
