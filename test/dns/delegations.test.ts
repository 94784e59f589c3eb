import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import type { DnsAnswer } from "../../src/dns/answer.ts"
import { FLAGS } from "../../src/dns/wire/codes.ts"
import { eventually } from "../support/eventually.ts"
import { a, aliasTo, fakeDnsServer, type Handler, ns, nsec, soa, wireName } from "./fakeDnsServer.ts"
import { at, failureOf, forwarderTo, lines, question, told, zones } from "./forwarding.ts"

/** The zones' answer for every name at or below a delegated one. */
const delegated = (
  cut: string,
  servers: ReadonlyArray<string>,
  glue: DnsAnswer["additional"] = []
): Partial<DnsAnswer> => ({
  authoritative: false,
  authority: [ns(cut, ...servers)],
  additional: glue
})

/** `cut.bit`, with one server at an address of this machine. */
const CUT = delegated("cut.bit.", ["ns1.cut.bit."], [a("ns1.cut.bit.", "127.0.0.2")])

const cutAnd = (more: Record<string, Partial<DnsAnswer>> = {}) =>
  zones({ "cut.bit.": CUT, "www.cut.bit.": CUT, ...more })

/** The port of both servers: no other program of this machine answers at those addresses. */
const servers = (handlers: Record<string, Handler>) =>
  Effect.gen(function*() {
    const entries = Object.entries(handlers)
    const opened = []
    let port = 0
    for (const [host, handler] of entries) {
      const server = yield* fakeDnsServer(handler, { host, port })
      port = server.port
      opened.push(server)
    }
    return { port, opened }
  })

const authoritative = (...answer: ReadonlyArray<ReturnType<typeof a>>): Handler => () => ({ flags: FLAGS.AA, answer })

describe("delegations", () => {
  it.scoped("the servers of a delegated name are asked, without RD", () =>
    Effect.gen(function*() {
      const { opened: [child], port } = yield* servers({ "127.0.0.2": authoritative(a("www.cut.bit.", "192.0.2.4")) })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const found = yield* told(forwarder, "www.cut.bit.", cutAnd())
      assert.deepStrictEqual(found.answer, ["www.cut.bit. 192.0.2.4"])
      assert.deepStrictEqual([found.authoritative, child?.asked[0]?.message.flags], [false, 0])
    }))

  it.scoped("the proof of a wildcard that leads to a delegated name is kept, and the servers' part has none", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({
        "127.0.0.2": () => ({ flags: FLAGS.AA, rcode: 3, authority: [soa("cut.bit.")] })
      })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const alias = { ...aliasTo("a.wild.bit.", "www.cut.bit."), signs: true, wildcard: wireName("*.wild.bit.") }
      const cut = { ...CUT, authority: [ns("cut.bit.", "ns1.cut.bit."), nsec("cut.bit.")] }
      const options = zones({
        "a.wild.bit.": { ...CUT, answer: [alias], authority: [nsec("a.wild.bit."), ns("cut.bit.", "ns1.cut.bit.")] },
        "www.cut.bit.": cut
      })
      const authorityOf = (name: string) =>
        Effect.map(
          forwarder.complete(question(name), { ...options, dnssec: true }),
          ({ answer }) => lines(answer.authority)
        )
      assert.deepStrictEqual(yield* authorityOf("a.wild.bit."), ["a.wild.bit. NSEC", "cut.bit. type 6"])
      assert.deepStrictEqual(yield* authorityOf("www.cut.bit."), ["cut.bit. type 6"])
    }))

  it.scoped("NXDOMAIN of the servers has their SOA", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({
        "127.0.0.2": () => ({ flags: FLAGS.AA, rcode: 3, authority: [soa("cut.bit."), soa("bit.")] })
      })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      assert.deepStrictEqual((yield* told(forwarder, "www.cut.bit.", cutAnd())).rcode, "NXDOMAIN")
    }))

  it.scoped("a server has no say about names that were not delegated to it", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({
        "127.0.0.2": authoritative(
          aliasTo("www.cut.bit.", "bank.bit."),
          a("bank.bit.", "192.0.2.66"),
          a("other.example.com.", "192.0.2.66")
        )
      })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const own = cutAnd({ "bank.bit.": { answer: [a("bank.bit.", "192.0.2.5")] } })
      assert.deepStrictEqual((yield* told(forwarder, "www.cut.bit.", own)).answer, [
        "www.cut.bit. type 5",
        "bank.bit. 192.0.2.5"
      ])
    }))

  it.scoped("an alias of the delegated name that leads out of the zones goes to the resolver", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({ "127.0.0.2": authoritative(aliasTo("www.cut.bit.", "host.example.com.")) })
      const resolver = yield* fakeDnsServer(() => ({ answer: [a("host.example.com.", "192.0.2.6")] }))
      const forwarder = yield* forwarderTo({ targets: [at(resolver)], port })
      const found = yield* told(forwarder, "www.cut.bit.", cutAnd())
      assert.deepStrictEqual(found.answer, ["www.cut.bit. type 5", "host.example.com. 192.0.2.6"])
      assert.deepStrictEqual(resolver.asked.map(({ text }) => text), ["host.example.com. 1"])
    }))

  it.scoped("an alias of the zones into a delegated part is followed there", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({ "127.0.0.2": authoritative(a("www.cut.bit.", "192.0.2.4")) })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const own = zones({
        "to.bit.": {
          answer: [aliasTo("to.bit.", "www.cut.bit.")],
          authority: CUT.authority ?? [],
          additional: CUT.additional ?? []
        }
      })
      assert.deepStrictEqual((yield* told(forwarder, "to.bit.", own)).answer, [
        "to.bit. CNAME",
        "www.cut.bit. 192.0.2.4"
      ])
    }))

  it.scoped("referrals further down are followed, those up or aside are not", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({
        "127.0.0.2": () => ({
          authority: [ns("www.cut.bit.", "ns.www.cut.bit.")],
          additional: [a("ns.www.cut.bit.", "127.0.0.3")]
        }),
        "127.0.0.3": authoritative(a("www.cut.bit.", "192.0.2.7"))
      })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      assert.deepStrictEqual((yield* told(forwarder, "www.cut.bit.", cutAnd())).answer, ["www.cut.bit. 192.0.2.7"])

      for (const upwards of ["bit.", "cut.bit.", "other.bit."]) {
        const circling = yield* servers({
          "127.0.0.2": () => ({
            authority: [ns(upwards, "ns.other.bit.")],
            additional: [a("ns.other.bit.", "127.0.0.2")]
          })
        })
        const other = yield* forwarderTo({ targets: [at({ port: 9 })], port: circling.port })
        assert.strictEqual(failureOf(yield* Effect.exit(told(other, "www.cut.bit.", cutAnd()))), "delegation silent")
        assert.lengthOf(circling.opened[0]?.asked ?? [], 1)
      }
    }))

  it.scoped("the next server is asked where one is silent, refuses, or does not serve the name", () =>
    Effect.gen(function*() {
      const { opened, port } = yield* servers({
        "127.0.0.2": () => ({ rcode: 5 }),
        "127.0.0.3": () => ({ flags: FLAGS.RA, answer: [a("www.cut.bit.", "192.0.2.66")] }),
        "127.0.0.4": () => undefined,
        "127.0.0.5": authoritative(a("www.cut.bit.", "192.0.2.4"))
      })
      const glue = [
        a("ns1.cut.bit.", "127.0.0.2", "127.0.0.3"),
        a("ns2.cut.bit.", "127.0.0.4"),
        a("ns3.cut.bit.", "127.0.0.5")
      ]
      const cut = delegated("cut.bit.", ["ns1.cut.bit.", "ns2.cut.bit.", "ns3.cut.bit."], glue)
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const asking = yield* Effect.fork(told(forwarder, "www.cut.bit.", zones({ "www.cut.bit.": cut })))
      yield* eventually("the silent one is asked", () => opened[2]?.asked.length === 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* Fiber.join(asking)).answer, ["www.cut.bit. 192.0.2.4"])
    }))

  it.scoped("a server that is silent once is asked again", () =>
    Effect.gen(function*() {
      let queries = 0
      const { port } = yield* servers({
        "127.0.0.2": (asked) => ++queries === 1 ? undefined : authoritative(a("www.cut.bit.", "192.0.2.4"))(asked)
      })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const asking = yield* Effect.fork(told(forwarder, "www.cut.bit.", cutAnd()))
      yield* eventually("it is asked", () => queries === 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* Fiber.join(asking)).answer, ["www.cut.bit. 192.0.2.4"])
    }))

  it.scoped("servers without glue are found in the zones or by the resolver", () =>
    Effect.gen(function*() {
      const { port } = yield* servers({ "127.0.0.2": authoritative(a("www.cut.bit.", "192.0.2.4")) })
      const resolver = yield* fakeDnsServer(({ text }) =>
        text === "ns.example.org. 1" ? { answer: [a("ns.example.org.", "127.0.0.2")] } : { rcode: 3 }
      )
      const forwarder = yield* forwarderTo({ targets: [at(resolver)], port })
      const far = zones({ "www.cut.bit.": delegated("cut.bit.", ["ns.example.org."]) })
      assert.deepStrictEqual((yield* told(forwarder, "www.cut.bit.", far)).answer, ["www.cut.bit. 192.0.2.4"])
      const near = zones({
        "www.cut.bit.": delegated("cut.bit.", ["ns.host.bit."]),
        "ns.host.bit.": { answer: [a("ns.host.bit.", "127.0.0.2")] }
      })
      assert.deepStrictEqual((yield* told(forwarder, "www.cut.bit.", near)).answer, ["www.cut.bit. 192.0.2.4"])
    }))
})

describe("what owners of names can make a node send", () => {
  it.scoped("an address that must not be asked gets nothing", () =>
    Effect.gen(function*() {
      const { opened: [child], port } = yield* servers({ "127.0.0.2": authoritative(a("www.cut.bit.", "192.0.2.4")) })
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port, mayAsk: () => false })
      assert.strictEqual(failureOf(yield* Effect.exit(told(forwarder, "www.cut.bit.", cutAnd()))), "delegation silent")
      assert.lengthOf(child?.asked ?? [], 0)
    }))

  it.scoped("at most 16 queries for one question, however many servers and addresses a delegation has", () =>
    Effect.gen(function*() {
      const { opened: [child], port } = yield* servers({ "127.0.0.2": () => ({ rcode: 5 }) })
      const hosts = Array.from({ length: 30 }, (_, i) => `ns${i}.cut.bit.`)
      const glue = hosts.map((host) => a(host, ...Array.from({ length: 9 }, () => "127.0.0.2")))
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const options = zones({ "www.cut.bit.": delegated("cut.bit.", hosts, glue) })
      assert.strictEqual(failureOf(yield* Effect.exit(told(forwarder, "www.cut.bit.", options))), "too many steps")
      assert.lengthOf(child?.asked ?? [], 16)
    }))

  it.scoped("at most 16 queries to the resolver for servers that do not exist", () =>
    Effect.gen(function*() {
      const resolver = yield* fakeDnsServer(() => ({ rcode: 3 }))
      const hosts = Array.from({ length: 30 }, (_, i) => `ns${i}.victim.example.`)
      const forwarder = yield* forwarderTo({ targets: [at(resolver)] })
      const options = zones({ "www.cut.bit.": delegated("cut.bit.", hosts) })
      assert.isTrue((yield* Effect.exit(told(forwarder, "www.cut.bit.", options)))._tag === "Failure")
      assert.isAtMost(resolver.asked.length, 16)
    }))

  it.scoped("delegations that need each other's addresses end", () =>
    Effect.gen(function*() {
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })] })
      const options = zones({
        "www.one.bit.": delegated("one.bit.", ["ns.two.bit."]),
        "ns.two.bit.": delegated("two.bit.", ["ns.one.bit."]),
        "ns.one.bit.": delegated("one.bit.", ["ns.two.bit."])
      })
      assert.isTrue((yield* Effect.exit(told(forwarder, "www.one.bit.", options)))._tag === "Failure")
    }))

  it.scoped("a delegation takes three seconds at most", () =>
    Effect.gen(function*() {
      const { opened: [child], port } = yield* servers({ "127.0.0.2": () => undefined })
      const cut = delegated("cut.bit.", ["ns1.cut.bit."], [
        a("ns1.cut.bit.", ...Array.from({ length: 4 }, () => "127.0.0.2"))
      ])
      const forwarder = yield* forwarderTo({ targets: [at({ port: 9 })], port })
      const asking = yield* Effect.fork(Effect.exit(told(forwarder, "www.cut.bit.", zones({ "www.cut.bit.": cut }))))
      for (let i = 1; i <= 3; i++) {
        yield* eventually("it is asked", () => child?.asked.length === i)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(failureOf(yield* Fiber.join(asking)), "delegation silent")
    }))
})
