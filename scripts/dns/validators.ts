// Random questions to validating resolvers in front of svcd's signed zone: none may be bogus, and each answer must have
// the same records as svcd's own.
// `node build/scripts/dns/validators.js [--questions N] [--seed N] [--only unbound,knot,bind] [--names N]`

import { Effect, Logger, LogLevel } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { makeForwarder } from "../../src/dns/forward.ts"
import { makeServer } from "../../src/dns/serve/DnsServer.ts"
import { FLAGS, RCODES } from "../../src/dns/wire/codes.ts"
import type { DnsMessage, MessageRecord } from "../../src/dns/wire/message.ts"
import {
  isAtOrBelow,
  lowerCaseName,
  wireLabels,
  type WireName,
  wireNameOfHost,
  wireNameText
} from "../../src/dns/wire/name.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { startChild } from "./childServer.ts"
import { DnsAsker } from "./dnsClient.ts"
import { generatedNames, INSECURE_CHILD, type RandomQuestion, randomQuestion } from "./generatedNames.ts"
import { memoryResponder, newSigner } from "./memoryNode.ts"
import { seeded } from "./random.ts"
import { anchorOf, freeDnsPort, type FrontName, FRONTS, isInstalled, startFront } from "./resolvers.ts"

/** Questions under way at each resolver. */
const CONCURRENCY = 32

/** Milliseconds for a resolver to start. */
const STARTING = 20_000

/** Resolvers give up longer chains of aliases than this at different places, and circles with SERVFAIL. */
const MANY_ALIASES = 7

const { CNAME, DNAME, DS, RRSIG, SOA } = TYPE_NUMBERS

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
  readonly faults: Array<string>
  /** What the resolver says about faults. */
  readonly reasons: Array<string>
}

/** Names in data may have any capitals. Bytes of other data differ by one bit then, which has to do. */
const plain = ({ data }: MessageRecord): string =>
  toHex(data.map((byte) => byte >= 65 && byte <= 90 ? byte | 32 : byte))

const dataLines = ({ answer }: DnsMessage): ReadonlyArray<string> =>
  answer.filter(({ type }) => type !== RRSIG)
    .map((record) => `${wireNameText(record.owner)} ${record.type} ${plain(record)}`).toSorted()

const aliases = ({ answer }: DnsMessage): number => answer.filter(({ type }) => type === CNAME).length

/** Whether an answer rests on the insecure delegation. */
const isInsecure = ({ name }: RandomQuestion, message: DnsMessage): boolean =>
  [name.toLowerCase(), ...message.answer.flatMap(({ data, owner }) => [owner, Buffer.from(data).toString("latin1")])]
    .some((each) => each.includes(INSECURE_CHILD))

const textOf = ({ name, type }: RandomQuestion): string => `${wireNameText(name)} ${type}`

interface AskedFront extends RandomQuestion {
  readonly front: FrontName
}

/** What is wrong with a resolver's answer, if anything. */
const faultOf = ({ front, ...question }: AskedFront, own: DnsMessage, found: DnsMessage): string | undefined => {
  if (isInvented(question, own, found)) return undefined
  if (found.rcode !== own.rcode) return `rcode ${found.rcode} instead of ${own.rcode}`
  const [expected, seen] = [dataLines(own), dataLines(found)]
  const isSame = expected.join("\n") === seen.join("\n")
  if (!isSame && !(front === "knot" && lacksDnames(own, found))) {
    return `records ${seen.join(", ")} instead of ${expected.join(", ")}`
  }
  const isSecure = (found.flags & FLAGS.AD) !== 0
  return isSecure || isInsecure(question, own) ? undefined : "not validated"
}

const compare = async (question: RandomQuestion, svcd: DnsAsker, front: DnsAsker, tally: Tally): Promise<void> => {
  const own = await svcd.ask(question)
  if (own === undefined) return void tally.faults.push(`${textOf(question)}: svcd does not answer`)
  if (aliases(own) >= MANY_ALIASES || isCircle(own) || isOdd(question, own, tally.front)) {
    return void (tally.skipped += 1)
  }
  const found = await front.ask(question)
  tally.asked += 1
  const fault = found === undefined ? "no answer" : faultOf({ ...question, front: tally.front }, own, found)
  if (fault !== undefined) tally.faults.push(`${textOf(question)}: ${fault}`)
  else if (found !== undefined && (found.flags & FLAGS.AD) !== 0) tally.secure += 1
  else tally.insecure += 1
}

/**
 * Questions that say nothing about svcd: those that resolvers ask the root, and those that Unbound 1.17 validates in no
 * zone. It asks for DS at a DNAME where a CNAME below it is wanted, and fails on wildcards for names that begin with an
 * asterisk. No resolver takes a question for DNAME below another one.
 */
const isOdd = ({ name, type }: RandomQuestion, own: DnsMessage, front: FrontName): boolean => {
  const asked = lowerCaseName(name)
  if (!isAtOrBelow(asked, BIT) || (asked === BIT && type === DS) || (type === DNAME && aliases(own) > 0)) return true
  const hasDname = own.answer.some((record) => record.type === DNAME && record.owner !== asked)
  return front === "unbound" && ((type === CNAME && hasDname) || name.startsWith("\x01*"))
}

/**
 * RFC 8198: a resolver may answer from the NSEC records that it knows. Those of RFC 4470 have owners that nobody asked for
 * then, made from a missing name, and the record says that they exist without data, even beside a wildcard. A chain of
 * aliases ends there, too. Such owners have byte 255 at the end of a label, which no host has.
 */
const isInvented = ({ name }: RandomQuestion, own: DnsMessage, found: DnsMessage): boolean => {
  const [expected, seen] = [dataLines(own), dataLines(found)]
  const isShorter = seen.length < expected.length || own.rcode === RCODES.NXDOMAIN
  if (found.rcode !== RCODES.NOERROR || !isShorter || seen.some((line) => !expected.includes(line))) return false
  return wireLabels(endOf(name, found)).some((label) => label.endsWith("\xff"))
}

/**
 * Knot Resolver 5 remembers the CNAME that svcd made from a DNAME, if that type was asked for, and gives it without the
 * DNAME to later questions for other types. RFC 6672, section 3.1, wants both in each answer, as svcd's have them.
 */
const lacksDnames = (own: DnsMessage, found: DnsMessage): boolean => {
  const [expected, seen] = [dataLines(own), dataLines(found)]
  const needed = dataLines({ ...own, answer: own.answer.filter(({ type }) => type !== DNAME) })
  return aliases(found) > 0 && needed.every((line) => seen.includes(line)) &&
    seen.every((line) => expected.includes(line))
}

/** Where each alias of an answer leads. */
const targetsOf = ({ answer }: DnsMessage): ReadonlyMap<WireName, WireName> =>
  new Map(
    answer.filter(({ type }) => type === CNAME).map((
      { data, owner }
    ) => [lowerCaseName(owner), lowerCaseName(Buffer.from(data).toString("latin1") as WireName)])
  )

/** The last name of an answer without circles. */
const endOf = (name: WireName, message: DnsMessage): WireName => {
  const targets = targetsOf(message)
  let end = lowerCaseName(name)
  for (let left = targets.size; left > 0; left--) end = targets.get(end) ?? end
  return end
}

/** Whether the aliases of an answer end where they have been. */
const isCircle = (message: DnsMessage): boolean => {
  const targets = targetsOf(message)
  return [...targets].some(([start]) => {
    const seen = new Set<WireName>()
    for (let at: WireName | undefined = start; at !== undefined; at = targets.get(at)) {
      if (seen.has(at)) return true
      seen.add(at)
    }
    return false
  })
}

const untilReady = async (front: DnsAsker, isRunning: () => boolean): Promise<boolean> => {
  const end = Date.now() + STARTING
  while (Date.now() < end && isRunning()) {
    const message = await front.ask({ name: BIT, type: SOA })
    if (message?.rcode === 0 && message.answer.length > 0) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

interface Zone {
  readonly port: number
  readonly directory: string
  readonly anchor: ReturnType<typeof anchorOf>
  readonly hasChildren: boolean
}

const run = async (name: FrontName, { anchor, directory, hasChildren, port: zonePort }: Zone): Promise<Tally> => {
  const port = await freeDnsPort()
  const running = startFront(name, { directory: join(directory, name), port, zonePort, anchor })
  const tally: Tally = { front: name, asked: 0, secure: 0, insecure: 0, skipped: 0, faults: [], reasons: [] }
  const [svcd, front] = [new DnsAsker(zonePort), new DnsAsker(port)]
  try {
    if (!await untilReady(front, () => running.process.exitCode === null)) {
      tally.faults.push(`does not start: ${running.output().slice(-2_000)}`)
      return tally
    }
    const random = seeded(Number(given.seed))
    let left = Number(given.questions)
    const worker = async (): Promise<void> => {
      while (left-- > 0 && tally.faults.length < 100) {
        await compare(randomQuestion(random, Number(given.names), hasChildren), svcd, front, tally)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    const reasons = running.output().split("\n").filter((line) => /validation failure|bogus|resolving/.test(line))
    tally.reasons.push(...reasons.slice(-10))
    return tally
  } finally {
    running.process.kill()
    svcd.close()
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
  const node = memoryResponder({ valueOf: (name) => names.get(name), signer, forwarder })
  const listen = [{ host: "127.0.0.1", port: yield* Effect.promise(freeDnsPort) }]
  const off = { tls: [], https: [], http: [], certificate: undefined, key: undefined, rate: 0 }
  const { addresses } = yield* Effect.provide(makeServer({ ...off, listen }), node)
  const port = addresses.dns[0]?.port ?? 0
  const zone = { port, directory, anchor: anchorOf(key), hasChildren: child !== undefined }
  let faults = 0
  for (const name of given.only.split(",")) {
    const wanted = (Object.keys(FRONTS) as Array<FrontName>).find((each) => each === name)
    if (wanted === undefined) return yield* Effect.dieMessage(`${name} is not one of ${Object.keys(FRONTS).join(", ")}`)
    if (!isInstalled(wanted)) {
      process.stdout.write(`${name}: skipped, as it is not installed\n`)
      continue
    }
    const begun = performance.now()
    const tally = yield* Effect.promise(() => run(wanted, zone))
    faults += tally.faults.length
    const rate = Math.round(tally.asked / (performance.now() - begun) * 1000)
    process.stdout.write(
      `${name}: ${tally.asked} questions, seed ${given.seed}, ${rate}/s: ${tally.secure} secure, ${tally.insecure} insecure, ` +
        `${tally.skipped} left out (circles of aliases and the like), ${tally.faults.length} faults${
          child === undefined ? "; without delegations" : ""
        }\n`
    )
    for (const fault of tally.faults.slice(0, 10)) process.stdout.write(`  ${fault}\n`)
    if (tally.faults.length > 0) process.stdout.write(tally.reasons.map((line) => `  ${line}\n`).join(""))
  }
  if (faults > 0) process.exitCode = 1
})

await Effect.runPromise(Effect.scoped(program).pipe(Logger.withMinimumLogLevel(LogLevel.Warning)))
process.exit()
