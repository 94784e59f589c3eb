import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { FLAGS } from "../../src/dns/wire/codes.ts"
import { TEST_CERTIFICATE } from "../support/certificate.ts"
import { eventually } from "../support/eventually.ts"
import {
  a,
  aliasTo,
  type FakeAnswer,
  fakeDnsServer,
  type FakeServer,
  type Handler,
  nsec,
  soa,
  wireName
} from "./fakeDnsServer.ts"
import { at, failureOf, forwarderTo, lines, question, told, zones } from "./forwarding.ts"

const texts = ({ asked }: FakeServer): ReadonlyArray<string> => asked.map(({ text }) => text)

/** A resolver that knows these names. */
const knowing = (answers: Record<string, FakeAnswer>): Handler => ({ text }) =>
  answers[text.split(" ")[0] ?? ""] ?? { rcode: 3, authority: [soa("com.")] }

describe("forward", () => {
  it.scoped("the forwarder sends names outside the zones to the resolver, with RD, without AD, and with an OPT record", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(() => ({
        flags: FLAGS.AD | FLAGS.RA,
        answer: [a("www.example.com.", "192.0.2.1", "192.0.2.2")]
      }))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const found = yield* told(forwarder, "www.example.com.")
      assert.deepStrictEqual(found, {
        rcode: "NOERROR",
        answer: ["www.example.com. 192.0.2.1", "www.example.com. 192.0.2.2"],
        isForeign: true,
        authoritative: false
      })
      const [asked] = server.asked
      assert.strictEqual(asked?.message.flags, FLAGS.RD)
      assert.deepStrictEqual(asked?.message.additional.map(({ type }) => type), [41])
    }))

  it.scoped("the forwarder passes on DO and CD, and the rcode and SOA of a missing name", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(knowing({}))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const options = { ...zones({}), dnssec: true, checkingDisabled: true }
      const { answer } = yield* forwarder.complete(question("none.com."), options)
      assert.deepStrictEqual([answer.rcode, lines(answer.authority)], ["NXDOMAIN", ["com. type 6"]])
      const [asked] = server.asked
      assert.strictEqual(asked?.message.flags, FLAGS.RD | FLAGS.CD)
      assert.strictEqual(asked?.message.additional[0]?.ttl, 0x8000)
    }))

  it.scoped("a resolver to which no network leads does not answer, and the process goes on", () =>
    Effect.gen(function*() {
      // No socket may connect to this address without asking for broadcasts.
      const forwarder = yield* forwarderTo({ targets: [at({ port: 53 }, "255.255.255.255")] })
      const exit = yield* Effect.exit(forwarder.complete(question("www.example.com."), zones({})))
      assert.strictEqual(failureOf(exit), "resolver silent")
    }))

  it.scoped("each query has another id, port and capitals", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(() => ({ answer: [a("www.example.com.", "192.0.2.1")] }))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      yield* Effect.forEach(Array.from({ length: 40 }), () => told(forwarder, "www.example.com."), { concurrency: 8 })
      const different = (of: (each: FakeServer["asked"][number]) => unknown) => new Set(server.asked.map(of)).size
      assert.isAbove(different(({ message }) => message.id), 30)
      assert.isAbove(different(({ port }) => port), 20)
      assert.isAbove(different(({ message }) => message.questions[0]?.asked), 30)
    }))

  it.scoped("the zones' own answer comes back unchanged, and nothing is sent", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(() => undefined)
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const options = zones({ "known.bit.": { answer: [a("known.bit.", "192.0.2.9")] } })
      const known = yield* told(forwarder, "known.bit.", options)
      assert.deepStrictEqual(known.answer, ["known.bit. 192.0.2.9"])
      assert.deepStrictEqual([known.isForeign, known.authoritative], [false, true])
      assert.strictEqual((yield* told(forwarder, "none.bit.", options)).rcode, "NXDOMAIN")
      assert.deepStrictEqual(texts(server), [])
    }))

  it.scoped("names below .onion do not exist and are not sent, whether asked or alias targets", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(
        knowing({
          "to.example.com.": { answer: [aliasTo("to.example.com.", "hidden.onion."), a("hidden.onion.", "192.0.2.66")] }
        })
      )
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const asked = yield* told(forwarder, "hidden.onion.")
      assert.deepStrictEqual([asked.rcode, asked.answer], ["NXDOMAIN", []])
      const alias = yield* told(forwarder, "to.example.com.")
      assert.deepStrictEqual([alias.rcode, alias.answer], ["NXDOMAIN", ["to.example.com. type 5"]])
      assert.deepStrictEqual(texts(server), ["to.example.com. 1"])
    }))

  it.scoped("an alias that leads out of the zones is followed", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(
        knowing({ "host.example.com.": { answer: [a("host.example.com.", "192.0.2.3")] } })
      )
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const options = zones({
        "away.bit.": { answer: [aliasTo("away.bit.", "host.example.com.")], outside: wireName("host.example.com.") }
      })
      const found = yield* told(forwarder, "away.bit.", options)
      assert.deepStrictEqual(found.answer, ["away.bit. CNAME", "host.example.com. 192.0.2.3"])
      assert.isFalse(found.authoritative)
      assert.deepStrictEqual(texts(server), ["host.example.com. 1"])
    }))

  it.scoped("the proofs of wildcards on the way are kept, each once, with the authority of the end", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(knowing({
        "host.example.com.": { answer: [aliasTo("host.example.com.", "b.wild.bit.")] }
      }))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const wildcard = (owner: string, target: string, ...proofs: ReadonlyArray<string>) => ({
        answer: [{ ...aliasTo(owner, target), signs: true, wildcard: wireName("*.wild.bit.") }],
        authority: proofs.map(nsec),
        outside: wireName(target)
      })
      const options = zones({
        "a.wild.bit.": wildcard("a.wild.bit.", "host.example.com.", "a.wild.bit."),
        "b.wild.bit.": wildcard("b.wild.bit.", "none.example.com.", "a.wild.bit.", "b.wild.bit.")
      })
      const { answer } = yield* forwarder.complete(question("a.wild.bit."), { ...options, dnssec: true })
      assert.deepStrictEqual(lines(answer.authority), ["a.wild.bit. NSEC", "b.wild.bit. NSEC", "com. type 6"])
      assert.deepStrictEqual(answer.authority.map(({ signs }) => signs), [true, true, false])
    }))

  it.scoped("what the resolver says about names of the zones is dropped, and the zones are asked instead", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(knowing({
        "site.example.com.": { answer: [aliasTo("site.example.com.", "known.bit."), a("known.bit.", "192.0.2.66")] }
      }))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const options = zones({ "known.bit.": { answer: [a("known.bit.", "192.0.2.9")] } })
      const found = yield* told(forwarder, "site.example.com.", options)
      assert.deepStrictEqual(found.answer, ["site.example.com. type 5", "known.bit. 192.0.2.9"])
      assert.deepStrictEqual(texts(server), ["site.example.com. 1"])
    }))

  it.scoped("aliases that lead in circles between zones and resolver end", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(
        knowing({ "ring.example.com.": { answer: [aliasTo("ring.example.com.", "ring.bit.")] } })
      )
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      const options = zones({
        "ring.bit.": { answer: [aliasTo("ring.bit.", "ring.example.com.")], outside: wireName("ring.example.com.") }
      })
      const found = yield* told(forwarder, "ring.bit.", options)
      assert.deepStrictEqual([found.rcode, server.asked.length], ["NOERROR", 4])
    }))
})

/** Changes one byte of a message. */
const with1 = (message: Uint8Array, at1: number, change: (byte: number) => number): Uint8Array =>
  message.map((byte, i) => i === at1 ? change(byte) : byte)

describe("forged and broken answers", () => {
  const forgeries: ReadonlyArray<readonly [string, (message: Uint8Array) => Uint8Array]> = [
    ["another id", (message) => with1(message, 1, (byte) => byte ^ 1)],
    ["a query", (message) => with1(message, 2, (byte) => byte & 0x7f)],
    ["another name", (message) => with1(message, 14, () => 0x31)],
    ["another type", (message) => with1(message, 12 + 17 + 1, () => 28)],
    ["a message that is cut off", (message) => message.subarray(0, 20)],
    ["no header", () => Uint8Array.of(1)]
  ]
  for (const [what, forge] of forgeries) {
    it.scoped(`${what} is not taken for the answer, and the right one behind it is`, () =>
      Effect.gen(function*() {
        const server = yield* fakeDnsServer(() => ({
          answer: [a("www.example.com.", "192.0.2.1")],
          spoilt: (message) => [forge(message), message]
        }))
        const forwarder = yield* forwarderTo({ targets: [at(server)] })
        assert.deepStrictEqual((yield* told(forwarder, "www.example.com.")).answer, ["www.example.com. 192.0.2.1"])
        assert.deepStrictEqual(server.asked.map(({ transport }) => transport), ["udp"])
      }))
  }

  it.scoped("an answer with other capitals is asked for again over TCP", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(({ transport }) => ({
        answer: [a("www.example.com.", transport === "udp" ? "192.0.2.66" : "192.0.2.1")],
        spoilt: (message) => [with1(message, 13, (byte) => byte ^ 0x20)]
      }))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      assert.deepStrictEqual((yield* told(forwarder, "www.example.com.")).answer, ["www.example.com. 192.0.2.1"])
      assert.deepStrictEqual(server.asked.map(({ transport }) => transport), ["udp", "stream"])
    }))

  it.scoped("many wrong datagrams lead to TCP", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(({ transport }) => ({
        answer: [a("www.example.com.", "192.0.2.1")],
        spoilt: (message) =>
          transport === "stream"
            ? [message]
            : Array.from({ length: 8 }, (_, i) => with1(message, 1, (byte) => byte ^ (i + 1)))
      }))
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      assert.deepStrictEqual((yield* told(forwarder, "www.example.com.")).answer, ["www.example.com. 192.0.2.1"])
    }))

  it.scoped("a cut answer is asked for again over TCP", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`)
      const server = yield* fakeDnsServer(({ transport }) =>
        transport === "udp" ? { flags: FLAGS.TC } : { answer: [a("www.example.com.", ...many)] }
      )
      const forwarder = yield* forwarderTo({ targets: [at(server)] })
      assert.lengthOf((yield* told(forwarder, "www.example.com.")).answer, 200)
    }))
})

describe("resolvers", () => {
  it.scoped("another resolver is asked after a second of silence, and first from then on", () =>
    Effect.gen(function*() {
      const silent = yield* fakeDnsServer(() => undefined)
      const good = yield* fakeDnsServer(() => ({ answer: [a("www.example.com.", "192.0.2.1")] }))
      const forwarder = yield* forwarderTo({ targets: [at(silent), at(good)] })
      const asking = yield* Effect.fork(told(forwarder, "www.example.com."))
      yield* eventually("the first is asked", () => silent.asked.length === 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(asking)).rcode, "NOERROR")
      yield* told(forwarder, "www.example.com.")
      assert.deepStrictEqual([silent.asked.length, good.asked.length], [1, 2])
    }))

  it.scoped("a resolver where nothing listens fails at once, as does one that refuses", () =>
    Effect.gen(function*() {
      const refusing = yield* fakeDnsServer(() => ({ rcode: 5 }))
      const good = yield* fakeDnsServer(() => ({ answer: [a("www.example.com.", "192.0.2.1")] }))
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 }), at(refusing), at(good)] })
      assert.strictEqual((yield* told(forwarder, "www.example.com.")).rcode, "NOERROR")
    }))

  it.scoped("SERVFAIL of a resolver is not asked for elsewhere: it may not validate there", () =>
    Effect.gen(function*() {
      const strict = yield* fakeDnsServer(() => ({ rcode: 2 }))
      const other = yield* fakeDnsServer(() => ({ answer: [a("www.example.com.", "192.0.2.1")] }))
      const forwarder = yield* forwarderTo({ targets: [at(strict), at(other)] })
      const exit = yield* Effect.exit(told(forwarder, "www.example.com."))
      assert.strictEqual(failureOf(exit), "resolver failed")
      assert.lengthOf(other.asked, 0)
    }))

  it.scoped("a question without any answer fails, and a caller who leaves ends its queries", () =>
    Effect.gen(function*() {
      const silent = yield* fakeDnsServer(() => undefined)
      const forwarder = yield* forwarderTo({ targets: [at(silent)] })
      const asking = yield* Effect.fork(Effect.exit(told(forwarder, "www.example.com.")))
      yield* eventually("it is asked", () => silent.asked.length === 1)
      yield* TestClock.adjust("1 second")
      yield* eventually("it is asked again", () => silent.asked.length === 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(failureOf(yield* Fiber.join(asking)), "resolver silent")
      const leaving = yield* Effect.fork(told(forwarder, "www.example.com."))
      yield* eventually("it is asked once more", () => silent.asked.length === 3)
      yield* Fiber.interrupt(leaving)
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(silent.asked, 3)
    }))

  it.scoped("at most 512 questions wait at once; the next fails at once", () =>
    Effect.gen(function*() {
      const silent = yield* fakeDnsServer(() => undefined)
      const forwarder = yield* forwarderTo({ targets: [at(silent)] })
      const waiting = yield* Effect.forEach(Array.from({ length: 512 }), () =>
        Effect.fork(told(forwarder, "www.example.com.")))
      yield* Effect.yieldNow()
      assert.strictEqual(failureOf(yield* Effect.exit(told(forwarder, "www.example.com."))), "overloaded")
      yield* Fiber.interruptAll(waiting)
      const fiber = yield* Effect.fork(told(forwarder, "again.example.com."))
      yield* eventually("there is room again", () =>
        texts(silent).includes("again.example.com. 1"))
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("only clients on this machine and in -dnsallow are served", () =>
    Effect.scoped(Effect.gen(function*() {
      const { serves } = yield* forwarderTo({
        allowed: [{ address: "192.0.2.0", prefix: 24 }, { address: "2001:db8::", prefix: 32 }]
      })
      const served = [
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "192.0.2.77",
        "2001:db8::5",
        "192.0.3.1",
        "2001:db9::1",
        "8.8.8.8"
      ]
        .filter((address) => serves({ transport: "udp", address, port: 4000 }))
      assert.deepStrictEqual(served, ["127.0.0.1", "127.9.9.9", "::1", "192.0.2.77", "2001:db8::5"])
    })))
})

describe("a resolver over TLS", () => {
  const answering: Handler = () => ({ answer: [a("www.example.com.", "192.0.2.1")] })
  const over = (server: FakeServer, tlsName: string) => ({ address: { host: "127.0.0.1", port: server.port }, tlsName })

  it.scoped("questions share a connection, are padded, and survive that the server closes it", () =>
    Effect.gen(function*() {
      const server = yield* fakeDnsServer(answering, { tls: true })
      const forwarder = yield* forwarderTo({ targets: [over(server, "localhost")], ca: TEST_CERTIFICATE })
      yield* Effect.forEach(Array.from({ length: 20 }), () => told(forwarder, "www.example.com."), { concurrency: 20 })
      assert.deepStrictEqual([server.asked.length, server.connections()], [20, 1])
      assert.isTrue(server.asked.every(({ bytes }) => bytes.length === 128))
      assert.strictEqual(new Set(server.asked.map(({ message }) => message.id)).size, 20)
      server.hangUp()
      assert.strictEqual((yield* told(forwarder, "www.example.com.")).rcode, "NOERROR")
      assert.strictEqual(server.connections(), 2)
    }))

  for (
    const [what, tlsName, ca] of [["another name", "other.example", TEST_CERTIFICATE], [
      "an unknown issuer",
      "localhost",
      undefined
    ]] as const
  ) {
    it.scoped(`a certificate with ${what} is refused before any question is sent`, () =>
      Effect.gen(function*() {
        const server = yield* fakeDnsServer(answering, { tls: true })
        const forwarder = yield* forwarderTo({ targets: [over(server, tlsName)], ...(ca === undefined ? {} : { ca }) })
        const exit = yield* Effect.exit(told(forwarder, "www.example.com."))
        assert.strictEqual(failureOf(exit), "resolver silent")
        assert.lengthOf(server.asked, 0)
      }))
  }
})
