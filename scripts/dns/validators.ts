// Random questions to validating resolvers in front of svcd's signed zone: none may be bogus, and each answer must have
// the same records as svcd's own.
// `node build/scripts/dns/validators.js [--questions N] [--seed N] [--only unbound,knot,bind] [--names N]`
// SIGINT and SIGTERM end a run early, with the figures so far.

import { Context, Effect, Layer, Logger, LogLevel, Runtime } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setTimeout as pause } from "node:timers/promises"
import { parseArgs } from "node:util"
import { makeForwarder } from "../../src/dns/forward.ts"
import { type DnsClient, Responder } from "../../src/dns/Responder.ts"
import { makeServer } from "../../src/dns/serve/DnsServer.ts"
import { RCODES } from "../../src/dns/wire/codes.ts"
import { type DnsMessage, readMessage } from "../../src/dns/wire/message.ts"
import { wireNameOfHost, wireNameText } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { cpuSecondsOf, ownCpuSeconds } from "../bench/cpuTime.ts"
import { startChild } from "./childServer.ts"
import { bogusCode, faultOf, isNoCase, isSecure } from "./compareAnswers.ts"
import { DnsAsker, queryFor } from "./dnsClient.ts"
import { generatedNames, type RandomQuestion, randomQuestion } from "./generatedNames.ts"
import { memoryResponder, newSigner } from "./memoryNode.ts"
import { seeded } from "./random.ts"
import {
  anchorOf,
  freeDnsPort,
  type FrontName,
  FRONTS,
  isInstalled,
  type RunningFront,
  startFront
} from "./resolvers.ts"

/** Questions under way, each at all resolvers. With more, each waits longer than resolvers do on a busy machine. */
const CONCURRENCY = 8

/** Milliseconds for a resolver to start. */
const STARTING = 60_000

/** Milliseconds between two lines about progress. */
const PROGRESS = 60_000

/** Faults after which a resolver is left alone. */
const MANY_FAULTS = 100

/**
 * On a busy machine, resolvers are silent or give up with SERVFAIL as svcd, another server or they themselves wait for the processor.
 * They are asked again, unless they call the answer bogus. What BIND finds bogus, it keeps for longer than all attempts.
 */
const ATTEMPTS = 4
const RETRY = 2_000

const { values: given } = parseArgs({
  options: {
    questions: { type: "string", default: "10000" },
    names: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "unbound,knot,bind" }
  }
})

const BIT = wireNameOfHost("bit.")

type Ask = (question: RandomQuestion) => Promise<DnsMessage | undefined>

/** A resolver that runs, and what came of its answers so far. */
interface Judge {
  readonly front: FrontName
  readonly running: RunningFront
  readonly asker: DnsAsker
  asked: number
  secure: number
  insecure: number
  skipped: number
  /** Answers that came only after SERVFAIL or silence. */
  retried: number
  readonly faults: Array<string>
}

const textOf = ({ name, type }: RandomQuestion): string => `${wireNameText(name)} ${type}`

const CLIENT: DnsClient = { transport: "tcp", address: "127.0.0.1", port: 5_353 }

/** svcd's own answer, whole: asked in the same process, as resolvers ask it over UDP. */
const ownAsk = ({ atOnce, respond }: typeof Responder.Service, runtime: Runtime.Runtime<never>): Ask => {
  const run = Runtime.runPromise(runtime)
  return async (question) => {
    const query = queryFor(question, 1)
    const kept = atOnce(query, CLIENT)
    if (kept !== undefined) return readMessage(kept)
    const reply = await run(respond(query, CLIENT))
    return reply._tag === "Message" ? readMessage(reply.bytes) : undefined
  }
}

/** An answer, asked for again where the server could give none. */
const patientAsk = async (ask: Ask, question: RandomQuestion, onRetry: () => void): Promise<DnsMessage | undefined> => {
  for (let attempt = 1;; attempt++) {
    const message = await ask(question)
    const isFinal = message !== undefined && (message.rcode !== RCODES.SERVFAIL || bogusCode(message) !== undefined)
    if (isFinal || attempt === ATTEMPTS) return message
    onRetry()
    await pause(RETRY)
  }
}

const noteFault = ({ faults, front }: Judge, fault: string): void => {
  faults.push(fault)
  process.stderr.write(`${front}: ${fault}\n`)
}

const judge = async (question: RandomQuestion, own: DnsMessage, by: Judge): Promise<void> => {
  if (by.faults.length >= MANY_FAULTS) return
  const asked = { ...question, front: by.front }
  if (isNoCase(asked, own)) return void (by.skipped += 1)
  let isRetried = false
  const found = await patientAsk((each) => by.asker.ask(each), question, () => {
    isRetried = true
  })
  by.asked += 1
  if (isRetried) by.retried += 1
  const fault = found === undefined ? "no answer" : faultOf(asked, own, found)
  if (fault !== undefined) noteFault(by, `${textOf(question)}: ${fault}`)
  else if (found !== undefined && isSecure(found)) by.secure += 1
  else by.insecure += 1
}

const untilReady = async ({ asker, running }: Judge): Promise<boolean> => {
  const end = Date.now() + STARTING
  while (Date.now() < end && running.process.exitCode === null) {
    const message = await asker.ask({ name: BIT, type: TYPE_NUMBERS.SOA })
    if (message?.rcode === RCODES.NOERROR && message.answer.length > 0) return true
    await pause(100)
  }
  return false
}

interface Zone {
  readonly ask: Ask
  readonly port: number
  readonly directory: string
  readonly anchor: ReturnType<typeof anchorOf>
  readonly hasChildren: boolean
}

const startJudge = async (front: FrontName, { anchor, directory, port: zonePort }: Zone): Promise<Judge> => {
  const port = await freeDnsPort()
  const running = startFront(front, { directory: join(directory, front), port, zonePort, anchor })
  const judged = { asked: 0, secure: 0, insecure: 0, skipped: 0, retried: 0, faults: [] }
  const started: Judge = { front, running, asker: new DnsAsker(port), ...judged }
  if (!await untilReady(started)) started.faults.push(`does not start: ${running.output().slice(-2_000)}`)
  return started
}

const millisecondsEach = (cpuSeconds: number, count: number): string =>
  `${(1000 * cpuSeconds / Math.max(1, count)).toFixed(2)} ms of processor time each`

const summaryOf = (by: Judge): string =>
  `${by.front}: ${by.asked} questions, seed ${given.seed}: ${by.secure} secure, ${by.insecure} insecure, ` +
  `${by.skipped} left out (circles of aliases and the like), ${by.retried} asked again, ${by.faults.length} faults; ` +
  millisecondsEach(cpuSecondsOf(by.running.process.pid), by.asked)

/** What a resolver says about its faults. */
const reasonsOf = ({ faults, running }: Judge): ReadonlyArray<string> =>
  faults.length === 0
    ? []
    : running.output().split("\n").filter((line) => /validation failure|bogus|resolving/.test(line)).slice(-10)

/** Asks until enough questions are answered, or the process is told to end. */
const askAll = async ({ ask, hasChildren }: Zone, judges: ReadonlyArray<Judge>): Promise<void> => {
  const random = seeded(Number(given.seed))
  const begun = performance.now()
  const cpuBegun = ownCpuSeconds()
  let left = Number(given.questions)
  let done = 0
  const stop = (): void => {
    left = 0
  }
  process.once("SIGINT", stop).once("SIGTERM", stop)
  const lines = (): string => {
    const seconds = (performance.now() - begun) / 1000
    const svcd = `svcd and the comparison: ${done} questions in ${Math.round(seconds)} s; ` +
      millisecondsEach(ownCpuSeconds() - cpuBegun, done)
    return [svcd, ...judges.map(summaryOf)].map((line) => `${line}${hasChildren ? "" : "; without delegations"}\n`)
      .join("")
  }
  const progress = setInterval(() => process.stderr.write(lines()), PROGRESS)
  const worker = async (): Promise<void> => {
    while (left-- > 0 && judges.some(({ faults }) => faults.length < MANY_FAULTS)) {
      const question = randomQuestion(random, Number(given.names), hasChildren)
      const own = await patientAsk(ask, question, () => {})
      if (own === undefined) throw new Error(`svcd gives no answer to ${textOf(question)}`)
      await Promise.all(judges.map((by) => judge(question, own, by)))
      done += 1
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  clearInterval(progress)
  process.stdout.write(lines())
}

const frontsGiven = (): ReadonlyArray<FrontName> =>
  given.only.split(",").flatMap((name) => {
    const front = (Object.keys(FRONTS) as Array<FrontName>).find((each) => each === name)
    if (front === undefined) throw new Error(`${name} is not one of ${Object.keys(FRONTS).join(", ")}`)
    if (isInstalled(front)) return [front]
    process.stdout.write(`${name}: skipped, as it is not installed\n`)
    return []
  })

const run = async (zone: Zone): Promise<void> => {
  const judges = await Promise.all(frontsGiven().map((front) => startJudge(front, zone)))
  try {
    await askAll(zone, judges)
    for (const by of judges) {
      const said = [...by.faults.slice(0, 10), ...reasonsOf(by)]
      process.stdout.write(said.map((line) => `  ${by.front}: ${line}\n`).join(""))
      if (by.faults.length > 0) process.exitCode = 1
    }
  } finally {
    for (const { asker, running } of judges) {
      running.process.kill()
      asker.close()
    }
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
  const ask = ownAsk(Context.get(node, Responder), yield* Effect.runtime<never>())
  const zone = { ask, port, directory, anchor: anchorOf(key), hasChildren: child !== undefined }
  yield* Effect.promise(() => run(zone))
})

await Effect.runPromise(Effect.scoped(program).pipe(Logger.withMinimumLogLevel(LogLevel.Error)))
process.exit()
