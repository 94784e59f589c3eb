import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Fiber } from "effect"
import { newSigner } from "../../scripts/dns/memoryNode.ts"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import type { DnsClient, ResponderOptions } from "../../src/dns/Responder.ts"
import { makeSigner } from "../../src/dns/sign/signer.ts"
import { newKeySecret, zoneKeyOf } from "../../src/dns/sign/zoneKey.ts"
import { readMessage } from "../../src/dns/wire/message.ts"
import { WorkBudget } from "../../src/dns/WorkBudget.ts"
import { BIT_ORIGIN } from "../../src/dns/zone/suffix.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { withNewDb } from "../names/blocks.ts"
import { type DnsNode, queryBytes, type QueryOptions, RECURSION, UDP, withDnsNode } from "../support/dnsNode.ts"
import { wire } from "../support/dnsZone.ts"

/** Answers without a fiber are those that fibers make, and there are none where a fiber has to wait or to say more. */

const { A, AAAA, CNAME, DNSKEY, DS, NS, NSEC, RRSIG, SOA, TXT } = TYPE_NUMBERS
const [ANY, AXFR] = [255, 252]

const VALUES = {
  "d/addr": { ip: ["192.0.2.1", "192.0.2.2"], map: { www: { alias: "addr.bit." }, "*": { txt: "wild" } } },
  "d/alias": { alias: "www.addr.bit." },
  "d/imports": { import: [["dd/base"], ["dd/none"], ["d/expired"]], ip6: "2001:db8::1" },
  "dd/base": { ip: "192.0.2.9", map: { deep: { map: { er: { ip: "192.0.2.8" } } } } },
  "d/moved": { translate: "addr.bit." },
  "d/cut": { ns: ["ns.example.org."], map: { sub: { ns: ["ns1.sub.cut.bit."] } } },
  "d/gone": { alias: "none.bit." },
  "d/wrong": "no object"
}

const TEXTS = Object.fromEntries(Object.entries(VALUES).map(([name, value]) => [name, JSON.stringify(value)]))

const test = (options: Partial<ResponderOptions>, use: (node: DnsNode) => Effect.Effect<void, unknown>) =>
  withNewDb((db) =>
    withDnsNode(db, options, (node) =>
      Effect.gen(function*() {
        yield* node.block({ "d/expired": TEXTS["d/addr"] ?? "" })
        // Names of regtest live for 30 blocks.
        for (let i = 0; i < 30; i++) yield* node.block()
        yield* node.block(TEXTS)
        yield* node.settled
        yield* use(node)
      }))
  )

const domain = fc.constantFrom("addr", "alias", "imports", "moved", "cut", "gone", "wrong", "expired", "none", "UPPER")
const label = fc.constantFrom("www", "deep", "er", "sub", "ns1", "*", "\0", "a".repeat(63))

const question = fc.record({
  name: fc.tuple(fc.array(label, { maxLength: 3 }), domain).map(([labels, name]) =>
    [...labels, name, "bit."].join(".")
  ),
  type: fc.constantFrom(A, AAAA, CNAME, DNSKEY, DS, NS, NSEC, SOA, TXT, ANY),
  edns: fc.option(fc.record({ dnssec: fc.boolean(), size: fc.constantFrom(512, 1_232) }), { nil: undefined }),
  transport: fc.constantFrom<DnsClient["transport"]>("udp", "tcp", "https")
})

/** Whether there is an answer at the start of a turn, when no time is spent. */
const isMadeBy = (
  { atOnce }: DnsNode["responder"],
  ...[name, type, options = {}]: readonly [name: string, type: number, options?: QueryOptions]
) => Effect.map(turnOfEventLoop, () => atOnce(queryBytes(wire(name), type, options), UDP) !== undefined)

describe("atOnce", () => {
  it.effect("gives the answers that fibers make", () =>
    test({ signer: newSigner().signer, cacheBytes: 0 }, ({ responder, world }) =>
      Effect.gen(function*() {
        for (const { edns, name, transport, type } of fc.sample(question, 600)) {
          const query = queryBytes(wire(name), type, edns === undefined ? {} : { edns })
          const client = { ...UDP, transport }
          world.slow = false
          // A signature over NSEC is kept from the second question on, and no two are equal.
          for (let asked = 0; asked < 2; asked++) {
            yield* turnOfEventLoop
            responder.atOnce(query, client)
          }
          yield* turnOfEventLoop
          const made = responder.atOnce(query, client) ?? assert.fail(`${name} needs a fiber`)

          world.slow = true
          assert.deepStrictEqual(yield* responder.respond(query, client), { _tag: "Message", bytes: made }, name)
        }
      })))

  it.effect("refuses what is not of the zone, and nothing else without a look at the names", () =>
    test({}, ({ responder, world }) =>
      Effect.gen(function*() {
        world.slow = true
        const isMade = (name: string, type: number, options?: QueryOptions) => isMadeBy(responder, name, type, options)
        assert.isTrue(yield* isMade("example.org.", A))
        assert.isTrue(yield* isMade("addr.bit.", 41), "a fault")
        assert.isTrue(yield* isMade("bit.", NS), "no name is asked")
        assert.isFalse(yield* isMade("bit.", SOA), "the zone is called whole")
        assert.isFalse(yield* isMade("addr.bit.", A))
        assert.isFalse(yield* isMade("version.bind.", TXT, { class: 3 }))
        assert.isFalse(yield* isMade("bit.", AXFR))
        assert.isFalse(yield* isMade("bit.", SOA, { edns: { version: 1 } }))
      })))

  it.effect("leaves what other servers complete to a fiber", () =>
    test(
      { forwarder: { serves: () => true, complete: () => Effect.dieMessage("not called") } },
      ({ responder }) =>
        Effect.gen(function*() {
          const isMade = (name: string, flags: number) => isMadeBy(responder, name, A, { flags })
          for (const name of ["x.cut.bit.", "example.org."]) {
            assert.deepStrictEqual([yield* isMade(name, 0), yield* isMade(name, RECURSION)], [true, false])
          }
          assert.isTrue(yield* isMade("addr.bit.", RECURSION))
        })
    ))

  for (const [what, change] of Object.entries({ complete: false, broken: true, proof: "headers" as const })) {
    it.effect(`denies no name once the node's ${what} is ${change}`, () =>
      test({}, ({ responder, world }) =>
        Effect.gen(function*() {
          assert.isTrue(yield* isMadeBy(responder, "none.bit.", A))
          Object.assign(world, { [what]: change })
          for (const name of ["another.bit.", "expired.bit.", "imports.bit.", "gone.bit."]) {
            assert.isFalse(yield* isMadeBy(responder, name, A), name)
          }
          assert.strictEqual(yield* isMadeBy(responder, "addr.bit.", A), what === "complete")
        })))
  }

  it.effect("waits for the block that names.db has already", () =>
    test({}, ({ block, responder: { atOnce }, settled }) =>
      Effect.gen(function*() {
        const isMade = (name: string) => atOnce(queryBytes(wire(name), A), UDP) !== undefined
        yield* block({ "d/new": TEXTS["d/addr"] ?? "" })
        assert.isFalse(isMade("none.bit."))
        yield* settled
        assert.isTrue(isMade("none.bit."))
      })))

  it.effect("survives a defect, which a fiber then reports", () =>
    test(
      {
        signer: {
          ...newSigner().signer,
          signatures: () => {
            throw new Error("no signature")
          }
        }
      },
      ({ responder: { atOnce, respond } }) =>
        Effect.gen(function*() {
          const query = queryBytes(wire("addr.bit."), A, { edns: { dnssec: true } })
          assert.isUndefined(atOnce(query, UDP))
          const reply = yield* respond(query, UDP)
          assert.strictEqual(reply._tag === "Message" ? (reply.bytes[3] ?? 0) & 15 : reply._tag, 2)
        })
    ))
})

describe("questions beyond the time of a turn", () => {
  it.live("are answered in later turns, and let others have theirs", () =>
    test({ signer: newSigner().signer }, ({ responder: { atOnce, respond } }) =>
      Effect.gen(function*() {
        const queries = Array.from(
          { length: 500 },
          (_, i) => queryBytes(wire(`none-${i}.bit.`), A, { edns: { dnssec: true } })
        )
        yield* turnOfEventLoop
        const late = queries.filter((query) => atOnce(query, UDP) === undefined)
        assert.isAbove(late.length, 0)
        assert.isBelow(late.length, queries.length)
        let turns = 0
        const counting = yield* Effect.fork(
          Effect.forever(Effect.tap(turnOfEventLoop, () => Effect.sync(() => turns++)))
        )
        const replies = yield* Effect.forEach(late, (query) => respond(query, UDP), { concurrency: "unbounded" })
        yield* Fiber.interrupt(counting)
        assert.isAbove(turns, 2)
        // NXDOMAIN.
        for (const reply of replies) assert.strictEqual(reply._tag === "Message" ? (reply.bytes[3] ?? 0) & 15 : -1, 3)
      })))
})

describe("signatures after the clock is set back", () => {
  const HOUR = 3_600

  it.effect("are valid: of kept answers, and of the SOA of each denial", () => {
    const keys = [zoneKeyOf(newKeySecret(), 0) ?? assert.fail("no key")]
    let now = 100 * 24 * HOUR
    const signer = makeSigner({ zone: BIT_ORIGIN, keys: () => keys, now: () => now, onSigned: () => {} })
    return test({ signer }, ({ responder: { atOnce } }) =>
      Effect.sync(() => {
        const inceptionsOf = (name: string) => {
          const bytes = atOnce(queryBytes(wire(name), A, { edns: { dnssec: true } }), UDP) ?? assert.fail("no answer")
          const { answer, authority } = readMessage(bytes)
          const signatures = [...answer, ...authority].filter(({ type }) => type === RRSIG)
          // RFC 4034, section 3.1: behind the covered type, the algorithm, the labels, a TTL and the expiration.
          return signatures.map(({ data }) => Buffer.from(data).readUInt32BE(12))
        }
        now += 6 * HOUR
        const before = { addr: inceptionsOf("addr.bit."), none: inceptionsOf("none.bit.") }
        assert.deepStrictEqual([before.addr.length, before.none.length], [1, 3])
        now -= 3 * HOUR
        for (const name of ["addr.bit.", "none.bit.", "other.bit."]) {
          for (const inception of inceptionsOf(name)) assert.strictEqual(inception, now - HOUR, name)
        }
      }))
  })
})

describe("a cached denial that cannot be signed again", () => {
  it.effect("throws into no handler of a socket", () => {
    const { signer } = newSigner()
    let isBroken = false
    let serial = 1
    const breaking = {
      ...signer,
      signatures: (set: Parameters<typeof signer.signatures>[0]) => {
        if (isBroken) throw new Error("no signature")
        return signer.signatures(set)
      }
    }
    return test({ signer: breaking, serial: () => serial }, ({ responder: { atOnce } }) =>
      Effect.sync(() => {
        const query = queryBytes(wire("none.bit."), A, { edns: { dnssec: true } })
        for (let asked = 0; asked < 2; asked++) assert.isDefined(atOnce(query, UDP))
        isBroken = true
        assert.isDefined(atOnce(query, UDP), "from the cache")
        serial = 2
        assert.isUndefined(atOnce(query, UDP))
      }))
  })
})

describe("WorkBudget", () => {
  it.live("is free again in the next turn of the event loop, for one waiting work after the other", () =>
    Effect.gen(function*() {
      const budget = new WorkBudget()
      budget.spend(1_000)
      assert.isFalse(budget.isSpent, "one work counts little, as it may have waited for the processor")
      const spendAll = () => {
        for (let i = 0; i < 4; i++) budget.spend(2)
      }
      spendAll()
      assert.isTrue(budget.isSpent)
      const turns: Array<number> = []
      let turn = 0
      const counting = yield* Effect.fork(Effect.forever(Effect.tap(turnOfEventLoop, () => Effect.sync(() => turn++))))
      const works = yield* Effect.forEach([1, 2, 3], () =>
        Effect.fork(budget.later(() => {
          turns.push(turn)
          spendAll()
        })))
      yield* Effect.forEach(works, Fiber.join)
      yield* Fiber.interrupt(counting)
      assert.strictEqual(new Set(turns).size, 3)
    }))
})
