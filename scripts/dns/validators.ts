// Random questions to validating resolvers in front of svcd's signed zone: none may be bogus, and each answer must have
// the same records as svcd's own.
// `node build/scripts/dns/validators.js [--questions N] [--seed N] [--only unbound,knot,bind] [--names N]`

import { Context, Effect, Layer, Logger, LogLevel, Runtime } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { makeForwarder } from "../../src/dns/forward.ts"
import { type DnsClient, Responder } from "../../src/dns/Responder.ts"
import { makeServer } from "../../src/dns/serve/DnsServer.ts"
import { type DnsMessage, readMessage } from "../../src/dns/wire/message.ts"
import { wireNameOfHost, wireNameText } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { cpuSecondsOf, ownCpuSeconds } from "../bench/cpuTime.ts"
import { startChild } from "./childServer.ts"
import { faultOf, isNoCase, isSecure } from "./compareAnswers.ts"
import { DnsAsker, queryFor } from "./dnsClient.ts"
import { generatedNames, type RandomQuestion, randomQuestion } from "./generatedNames.ts"
import { memoryResponder, newSigner } from "./memoryNode.ts"
import { seeded } from "./random.ts"
import { anchorOf, freeDnsPort, type FrontName, FRONTS, isInstalled, startFront } from "./resolvers.ts"

/** Questions under way at each resolver. */
const CONCURRENCY = 64

/** Milliseconds for a resolver to start. */
const STARTING = 20_000

/** Milliseconds between two lines about progress. */
const PROGRESS = 60_000

/** Faults after which a run ends. */
const MANY_FAULTS = 100

const { values: given } = parseArgs({
  options: {
    questions: { type: "string", default: "10000" },
    names: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "unbound,knot,bind" }
  }
})

const BIT = wireNameOfHost("bit.")

interface Tally {
  readonly front: FrontName
  asked: number
  secure: number
  insecure: number
  skipped: number
  /** Seconds of processor time of the resolver. */
  cpuSeconds: number
  readonly faults: Array<string>
  /** What the resolver says about faults. */
  readonly reasons: Array<string>
}

const textOf = ({ name, type }: RandomQuestion): string => `${wireNameText(name)} ${type}`

/** svcd's own answer, whole: asked in the same process, as the resolver asks it over UDP. */
type AskSvcd = (question: RandomQuestion) => Promise<DnsMessage | undefined>

const CLIENT: DnsClient = { transport: "tcp", address: "127.0.0.1", port: 5_353 }

const askerOf = ({ cached, respond }: typeof Responder.Service, runtime: Runtime.Runtime<never>): AskSvcd => {
  const run = Runtime.runPromise(runtime)
  return async (question) => {
    const query = queryFor(question, 1)
    const kept = cached(query, CLIENT)
    if (kept !== undefined) return readMessage(kept)
    const reply = await run(respond(query, CLIENT))
    return reply._tag === "Message" ? readMessage(reply.bytes) : undefined
  }
}

interface Judged {
  readonly svcd: AskSvcd
  readonly front: DnsAsker
  readonly tally: Tally
}

const compare = async (question: RandomQuestion, { front, svcd, tally }: Judged): Promise<void> => {
  const own = await svcd(question)
  if (own === undefined) return void tally.faults.push(`${textOf(question)}: svcd does not answer`)
  const asked = { ...question, front: tally.front }
  if (isNoCase(asked, own)) return void (tally.skipped += 1)
  const found = await front.ask(question)
  tally.asked += 1
  const fault = found === undefined ? "no answer" : faultOf(asked, own, found)
  if (fault !== undefined) tally.faults.push(`${textOf(question)}: ${fault}`)
  else if (found !== undefined && isSecure(found)) tally.secure += 1
  else tally.insecure += 1
}

const untilReady = async (front: DnsAsker, isRunning: () => boolean): Promise<boolean> => {
  const end = Date.now() + STARTING
  while (Date.now() < end && isRunning()) {
    const message = await front.ask({ name: BIT, type: TYPE_NUMBERS.SOA })
    if (message?.rcode === 0 && message.answer.length > 0) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

interface Zone {
  readonly svcd: AskSvcd
  readonly port: number
  readonly directory: string
  readonly anchor: ReturnType<typeof anchorOf>
  readonly hasChildren: boolean
}

const summaryOf = (
  { asked, cpuSeconds, faults, front, insecure, secure, skipped }: Tally,
  { begun, cpuBegun }: { readonly begun: number; readonly cpuBegun: number }
): string => {
  const seconds = (performance.now() - begun) / 1000
  const milliseconds = (cpu: number): string => (1000 * cpu / Math.max(1, asked)).toFixed(2)
  return `${front}: ${asked} questions, seed ${given.seed}, ${Math.round(asked / seconds)}/s, ` +
    `${milliseconds(ownCpuSeconds() - cpuBegun)} ms of processor time each here and ${
      milliseconds(cpuSeconds)
    } there: ` +
    `${secure} secure, ${insecure} insecure, ${skipped} left out (circles of aliases and the like), ${faults.length} faults`
}

const run = async (name: FrontName, zone: Zone): Promise<Tally> => {
  const { anchor, directory, hasChildren, port: zonePort, svcd } = zone
  const port = await freeDnsPort()
  const running = startFront(name, { directory: join(directory, name), port, zonePort, anchor })
  const tally: Tally = {
    front: name,
    asked: 0,
    secure: 0,
    insecure: 0,
    skipped: 0,
    cpuSeconds: 0,
    faults: [],
    reasons: []
  }
  const front = new DnsAsker(port)
  const start = { begun: performance.now(), cpuBegun: ownCpuSeconds() }
  const summary = (): string => {
    tally.cpuSeconds = cpuSecondsOf(running.process.pid)
    return summaryOf(tally, start)
  }
  const progress = setInterval(() => process.stderr.write(`${summary()} so far\n`), PROGRESS)
  try {
    if (!await untilReady(front, () => running.process.exitCode === null)) {
      tally.faults.push(`does not start: ${running.output().slice(-2_000)}`)
      return tally
    }
    const random = seeded(Number(given.seed))
    let left = Number(given.questions)
    const worker = async (): Promise<void> => {
      while (left-- > 0 && tally.faults.length < MANY_FAULTS) {
        await compare(randomQuestion(random, Number(given.names), hasChildren), { svcd, front, tally })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    const reasons = running.output().split("\n").filter((line) => /validation failure|bogus|resolving/.test(line))
    tally.reasons.push(...reasons.slice(-10))
    return tally
  } finally {
    process.stdout.write(`${summary()}${hasChildren ? "" : "; without delegations"}\n`)
    clearInterval(progress)
    running.process.kill()
    front.close()
  }
}

const program = Effect.gen(function*() {
  const directory = mkdtempSync(join(tmpdir(), "validators-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  const child = startChild(join(directory, "child"))
  yield* Effect.addFinalizer(() => Effect.sync(() => child?.stop()))
  const names = generatedNames(seeded(Number(given.seed)), Number(given.names), child)
  const { key, signer } = newSigner()
  // No resolver for other names listens there.
  const nobody = { address: { host: "127.0.0.1", port: 9 }, tlsName: undefined }
  const forwarder = yield* makeForwarder({ targets: [nobody], allowed: [], mayAsk: () => true })
  const node = yield* Layer.build(memoryResponder({ valueOf: (name) => names.get(name), signer, forwarder }))
  const listen = [{ host: "127.0.0.1", port: yield* Effect.promise(freeDnsPort) }]
  const off = { tls: [], https: [], http: [], certificate: undefined, key: undefined, rate: 0 }
  const { addresses } = yield* Effect.provide(makeServer({ ...off, listen }), node)
  const port = addresses.dns[0]?.port ?? 0
  const svcd = askerOf(Context.get(node, Responder), yield* Effect.runtime<never>())
  const zone = { svcd, port, directory, anchor: anchorOf(key), hasChildren: child !== undefined }
  let faults = 0
  for (const name of given.only.split(",")) {
    const wanted = (Object.keys(FRONTS) as Array<FrontName>).find((each) => each === name)
    if (wanted === undefined) return yield* Effect.dieMessage(`${name} is not one of ${Object.keys(FRONTS).join(", ")}`)
    if (!isInstalled(wanted)) {
      process.stdout.write(`${name}: skipped, as it is not installed\n`)
      continue
    }
    const tally = yield* Effect.promise(() => run(wanted, zone))
    faults += tally.faults.length
    for (const fault of tally.faults.slice(0, 10)) process.stdout.write(`  ${fault}\n`)
    if (tally.faults.length > 0) process.stdout.write(tally.reasons.map((line) => `  ${line}\n`).join(""))
  }
  if (faults > 0) process.exitCode = 1
})

await Effect.runPromise(Effect.scoped(program).pipe(Logger.withMinimumLogLevel(LogLevel.Warning)))
process.exit()
