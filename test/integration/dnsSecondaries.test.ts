import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import process from "node:process"
import { plainData } from "../../scripts/dns/compareAnswers.ts"
import { DnsAsker } from "../../scripts/dns/dnsClient.ts"
import { generatedNames, type RandomQuestion, randomQuestion } from "../../scripts/dns/generatedNames.ts"
import { seeded } from "../../scripts/dns/random.ts"
import { domainOf, setsOfTree } from "../../src/dns/transfer/zoneState.ts"
import { FLAGS, META_TYPES } from "../../src/dns/wire/codes.ts"
import type { DnsMessage, MessageRecord } from "../../src/dns/wire/message.ts"
import { wireNameOfHost, wireNameText } from "../../src/dns/wire/name.ts"
import { type Bytes, EMPTY } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { domainZone, zoneFrom } from "../../src/values/zone.ts"
import { freePort, isInstalled, SERVERS, started } from "../dns/transfer/secondaryServers.ts"
import { TSIG, withPrimary } from "../dns/transfer/transferNode.ts"
import { eventually } from "../support/eventually.ts"

/** Random questions to svcd, and to the servers that have its zone by transfer: all answer the same. */

/** With `DNS_QUESTIONS=100000` it takes half a minute. */
const QUESTIONS = Number(process.env["DNS_QUESTIONS"] ?? "10000")
const SEED = Number(process.env["DNS_SEED"] ?? "1")

const NAMES = 500

/** Questions under way at each server. */
const CONCURRENCY = 64

/** A child that nobody asks: referrals to it are what is compared. */
const CHILD = { address: "192.0.2.53", ds: [12_345, 13, 2, Buffer.alloc(32, 5).toString("base64")] } as const

const GENERATED = generatedNames(seeded(SEED), NAMES, CHILD)

const valueOf = (name: string): Bytes | undefined => {
  const value = GENERATED.get(name)
  return value === undefined ? undefined : Buffer.from(value, "latin1")
}

/** A name without records exists for svcd, but a transfer cannot carry it. */
const hasRecords = (name: string): boolean => {
  const domain = domainOf(Buffer.from(name, "latin1"), valueOf(name) ?? EMPTY)
  if (domain === undefined) return false
  const { top } = zoneFrom(domainZone(domain), (imported) => valueOf(Buffer.from(imported).toString("latin1")))
  return setsOfTree(wireNameOfHost(domain.host), top, 600).length > 0
}

const VALUES = Object.fromEntries(
  [...GENERATED].filter(([name]) => hasRecords(name)).map((
    [name, value]
  ): [string, unknown] => [name, JSON.parse(value)])
)

const compared = SERVERS.filter(({ program }) => program !== "named" && isInstalled(program))

const BIT = wireNameOfHost("bit.")

const line = (record: MessageRecord): string =>
  `${wireNameText(record.owner)} ${record.ttl} ${record.type} ${plainData(record)}`

const linesOf = (records: ReadonlyArray<MessageRecord>): ReadonlyArray<string> =>
  records.filter(({ type }) => type !== META_TYPES.OPT).map(line).toSorted()

const hasType = (records: ReadonlyArray<MessageRecord>, wanted: number): boolean =>
  records.some(({ type }) => type === wanted)

/** Additional records are a matter of taste but for the addresses of a referral's servers. */
const needsAdditional = ({ answer, authority }: DnsMessage): boolean =>
  answer.length === 0 && hasType(authority, TYPE_NUMBERS.NS)

/** What servers must agree on. */
const sections = (message: DnsMessage | undefined) =>
  message === undefined ? "no answer" : {
    rcode: message.rcode,
    isAuthoritative: (message.flags & FLAGS.AA) !== 0,
    answer: linesOf(message.answer),
    authority: linesOf(message.authority),
    additional: needsAdditional(message) ? linesOf(message.additional) : []
  }

const asker = (port: number) =>
  Effect.acquireRelease(Effect.sync(() => new DnsAsker(port)), (open) => Effect.sync(() => open.close()))

const ask = (server: DnsAsker, question: RandomQuestion) => Effect.promise(() => server.ask(question))

describe.skipIf(compared.length === 0)("secondaries", () => {
  it.live(`${compared.map(({ program }) => program).join(" and ")} answer random questions as svcd does`, () =>
    withPrimary({ transfer: [{ key: TSIG.name }] }, (primary) =>
      Effect.scoped(Effect.gen(function*() {
        yield* primary.block(VALUES)
        const svcd = yield* asker(primary.port)
        const secondaries = yield* Effect.forEach(compared, (server) =>
          Effect.gen(function*() {
            const port = yield* freePort
            const { said } = yield* started(server, { port, primary: primary.port })
            const secondary = yield* asker(port)
            const hasZone = Effect.map(
              ask(secondary, { name: BIT, type: TYPE_NUMBERS.SOA }),
              (message) => message?.rcode === 0
            )
            yield* eventually(`${server.program} has the zone`, hasZone).pipe(
              Effect.catchAllDefect((defect) => Effect.die(new Error(`${String(defect)}: ${said().slice(-3_000)}`)))
            )
            return { program: server.program, asker: secondary }
          }), { concurrency: "unbounded" })
        const random = seeded(SEED)
        const differences: Array<unknown> = []
        yield* Effect.forEach(
          Array.from({ length: QUESTIONS }, () => randomQuestion(random, NAMES, true)),
          (question) =>
            Effect.gen(function*() {
              const expected = sections(yield* ask(svcd, question))
              for (const { asker: server, program } of secondaries) {
                const seen = sections(yield* ask(server, question))
                if (JSON.stringify(expected) === JSON.stringify(seen)) continue
                const { name, type } = question
                differences.push({ program, question: `${wireNameText(name)} ${type}`, expected, seen })
              }
            }),
          { concurrency: CONCURRENCY, discard: true }
        )
        assert.deepStrictEqual(differences.slice(0, 3), [], `${differences.length} differences`)
      }))).pipe(Effect.orDie))
})
