import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { DnsAnswer } from "../../src/dns/answer.ts"
import { type Forwarder, ForwardFailed, type Transfers, type ZoneSigner } from "../../src/dns/parts.ts"
import { FLAGS, META_TYPES } from "../../src/dns/wire/codes.ts"
import type { DnsMessage, MessageRecord } from "../../src/dns/wire/message.ts"
import { wireNameText } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { queryBytes, RECURSION, UDP } from "../support/dnsNode.ts"
import { typeText, wire } from "../support/dnsZone.ts"
import { errorOf, lines, rcodeOf, TCP, withNames } from "./responding.ts"

const { A, RRSIG } = TYPE_NUMBERS
const { AXFR } = META_TYPES

describe("the parts of the responder", () => {
  /** Signatures that name their set and the generation of the keys. */
  const fakeSigner = (generation: { now: number }): ZoneSigner => ({
    generation: () => generation.now,
    keys: () => [{ type: "DNSKEY", flags: 257, algorithm: 13, key: new Uint8Array(64) }],
    signatures: ({ owner, ttl, type }) => ({
      owner,
      ttl,
      type: RRSIG,
      signs: false,
      records: [{
        type: "RRSIG",
        covered: type,
        algorithm: 13,
        labels: 1,
        originalTtl: ttl,
        expiration: 2,
        inception: 1,
        keyTag: generation.now,
        signer: wire("bit."),
        signature: new Uint8Array(64)
      }]
    })
  })

  const typesOf = (records: ReadonlyArray<MessageRecord>) =>
    records.map(({ data, type }) =>
      type === RRSIG ? `RRSIG ${typeText((data[0] ?? 0) << 8 | (data[1] ?? 0))}` : typeText(type)
    )

  const DO = { edns: { dnssec: true } }

  it.effect("sign each set where DO is set, with NSEC as proof, and nothing elsewhere", () =>
    withNames(
      { signer: fakeSigner({ now: 1 }), suffixes: [wire("example.org.")] },
      ({ ask }) =>
        Effect.gen(function*() {
          for (const _ of [1, 2]) {
            assert.deepStrictEqual(typesOf((yield* ask("alias.bit.", A, DO)).answer), [
              "CNAME",
              "RRSIG CNAME",
              "A",
              "A",
              "RRSIG A"
            ])
            const missing = yield* ask("none.bit.", A, DO)
            assert.deepStrictEqual(typesOf(missing.authority), [
              "NSEC",
              "RRSIG NSEC",
              "NSEC",
              "RRSIG NSEC",
              "SOA",
              "RRSIG SOA"
            ])
            const referral = yield* ask("x.cut.bit.", A, DO)
            assert.deepStrictEqual(typesOf(referral.authority), ["NS", "NSEC", "RRSIG NSEC"])
            assert.deepStrictEqual(typesOf((yield* ask("none.bit.", A, { edns: {} })).authority), ["SOA"])
            assert.deepStrictEqual(typesOf((yield* ask("none.bit.example.org.", A, DO)).authority), ["SOA"])
          }
        })
    ))

  it.effect("sign again when the keys change", () => {
    const generation = { now: 1 }
    const tagOf = ({ answer: [, , signature] }: DnsMessage) => Buffer.from(signature?.data ?? []).readUInt16BE(16)
    return withNames({ signer: fakeSigner(generation) }, ({ ask }) =>
      Effect.gen(function*() {
        for (const now of [1, 1, 2, 2]) {
          generation.now = now
          assert.strictEqual(tagOf(yield* ask("addr.bit.", A, DO)), now)
        }
      }))
  })

  it.effect("complete for clients with recursion what other servers know", () => {
    const asked: Array<string> = []
    const forwarder: Forwarder = {
      serves: ({ address }) => address === "127.0.0.1",
      complete: (question, { inZone, own }) =>
        Effect.gen(function*() {
          asked.push(wireNameText(question.name))
          const first = inZone(question.name) ? yield* own(question) : undefined
          const host = first?.outside ?? question.name
          const found = { type: "opaque", number: A, data: Uint8Array.of(198, 51, 100, 7) } as const
          const answer: DnsAnswer = {
            rcode: "NOERROR",
            authoritative: false,
            answer: [...first?.answer ?? [], { owner: host, type: A, ttl: 5, records: [found], signs: false }],
            authority: [],
            additional: [],
            sources: [],
            isCut: false,
            outside: undefined
          }
          return { answer, isForeign: true }
        })
    }
    return withNames({ forwarder }, ({ ask, block }) =>
      Effect.gen(function*() {
        yield* block({ "d/outside": JSON.stringify({ alias: "host.example.com." }) })
        const through = (name: string, flags = RECURSION, client = UDP) =>
          Effect.map(ask(name, A, { flags }, client), (found) => [
            found.flags & (FLAGS.RA | FLAGS.AA | FLAGS.AD),
            ...lines(found.answer)
          ])
        assert.deepStrictEqual(yield* through("www.example.com."), [FLAGS.RA, "www.example.com. A 198.51.100.7"])
        for (const _ of [1, 2]) {
          assert.deepStrictEqual(yield* through("outside.bit."), [
            FLAGS.RA,
            "outside.bit. CNAME",
            "host.example.com. A 198.51.100.7"
          ])
          assert.deepStrictEqual(yield* through("outside.bit.", 0), [FLAGS.RA | FLAGS.AA, "outside.bit. CNAME"])
          assert.deepStrictEqual((yield* through("addr.bit."))[0], FLAGS.RA | FLAGS.AA)
        }
        const stranger = { ...UDP, address: "192.0.2.9" }
        assert.deepStrictEqual(yield* through("outside.bit.", RECURSION, stranger), [FLAGS.AA, "outside.bit. CNAME"])
        assert.strictEqual(rcodeOf(yield* ask("www.example.com.", A, { flags: RECURSION }, stranger)), "REFUSED")
        assert.deepStrictEqual(asked, ["www.example.com.", "outside.bit.", "outside.bit."])
      }))
  })

  it.effect("sign what is of bit. in completed answers, and nothing below a suffix", () => {
    const forwarder: Forwarder = {
      serves: () => true,
      complete: (question, { inZone, own }) =>
        Effect.gen(function*() {
          const first = yield* own(inZone(question.name) ? question : { ...question, name: wire("addr.bit.") })
          return { answer: first, isForeign: true }
        })
    }
    const options = { forwarder, signer: fakeSigner({ now: 1 }), suffixes: [wire("example.org.")] }
    return withNames(options, ({ ask, block }) =>
      Effect.gen(function*() {
        yield* block({ "d/outside": JSON.stringify({ alias: "host.example.com." }) })
        const setsOf = (name: string) =>
          Effect.map(ask(name, A, { flags: RECURSION, ...DO }), ({ answer }) => typesOf(answer))
        assert.deepStrictEqual(yield* setsOf("outside.bit."), ["CNAME", "RRSIG CNAME"])
        assert.deepStrictEqual(yield* setsOf("outside.bit.example.org."), ["CNAME"])
        assert.deepStrictEqual(yield* setsOf("www.example.com."), ["A", "A", "RRSIG A"])
      }))
  })

  it.effect("say SERVFAIL where other servers gave no answer", () => {
    const forwarder: Forwarder = {
      serves: () => true,
      complete: () => Effect.fail(new ForwardFailed({ reason: "resolver silent" }))
    }
    return withNames(
      { forwarder },
      ({ ask }) =>
        Effect.map(
          ask("www.example.com.", A, { flags: RECURSION, edns: {} }),
          (found) =>
            assert.deepStrictEqual([rcodeOf(found), errorOf(found)], [
              "SERVFAIL",
              [23, "other servers gave no answer: resolver silent"]
            ])
        )
    )
  })

  it.effect("get zone transfers, with the answer as it is without them", () => {
    const transfers: Transfers = {
      take: ({ question: { type } }, { transport }, answer) =>
        transport === "tcp" && type === AXFR ? Effect.succeed({ _tag: "Transfer", messages: Stream.empty }) : answer
    }
    return withNames({ transfers }, ({ ask, reply }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* reply(queryBytes(wire("bit."), AXFR), TCP))._tag, "Transfer")
        assert.strictEqual(rcodeOf(yield* ask("bit.", AXFR)), "REFUSED")
      }))
  })

  it.effect("count answers and hits", () => {
    const counts = { hits: 0, bytes: 0, rcodes: new Array<string>(), took: 0 }
    const counters = {
      answered: (rcode: string) => void counts.rcodes.push(rcode),
      took: (seconds: number) => void (counts.took += seconds),
      cacheHit: () => void counts.hits++,
      cacheBytes: (bytes: number) => void (counts.bytes = bytes)
    }
    return withNames({ counters }, ({ ask }) =>
      Effect.gen(function*() {
        for (const name of ["addr.bit.", "addr.bit.", "addr.bit.", "none.bit.", "example.com."]) yield* ask(name, A)
        const rcodes = ["NOERROR", "NOERROR", "NOERROR", "NXDOMAIN", "REFUSED"]
        assert.deepStrictEqual([counts.hits, counts.rcodes], [1, rcodes])
        assert.isAbove(counts.bytes, 500)
        assert.isAbove(counts.took, 0)
      }))
  })
})
