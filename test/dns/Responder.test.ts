import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { FLAGS, META_TYPES } from "../../src/dns/wire/codes.ts"
import { readMessage } from "../../src/dns/wire/message.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { type DnsNode, queryBytes, type QueryOptions, RECURSION, UDP } from "../support/dnsNode.ts"
import { wire } from "../support/dnsZone.ts"
import { errorOf, ipOf, lines, optionOf, optOf, rcodeOf, TCP, withNames } from "./responding.ts"

const { A, HINFO, SOA, TXT } = TYPE_NUMBERS
const { ANY, AXFR } = META_TYPES

describe("answers", () => {
  it.effect("come whole, with id, letters and RD of the question", () =>
    withNames({}, ({ ask, reply }) =>
      Effect.gen(function*() {
        for (const id of [1, 65_535]) {
          const found = yield* ask("addr.bit.", A, { id, flags: RECURSION })
          assert.deepStrictEqual([found.id, rcodeOf(found), lines(found.answer)], [
            id,
            "NOERROR",
            ["addr.bit. A 192.0.2.1", "addr.bit. A 192.0.2.2"]
          ])
          assert.strictEqual(found.flags, FLAGS.QR | FLAGS.AA | FLAGS.RD)
        }
        const letters = queryBytes(wire("addr.bit."), A)
        letters.write("AdDr", 13, "latin1")
        const answer = yield* reply(letters)
        if (answer._tag !== "Message") assert.fail(answer._tag)
        assert.strictEqual(Buffer.from(answer.bytes).toString("latin1", 13, 17), "AdDr")
        assert.strictEqual(readMessage(answer.bytes).answer.length, 2)
      })))

  it.effect("are the same from the cache, byte for byte", () =>
    withNames({}, ({ isCached, responder }) =>
      Effect.gen(function*() {
        for (const name of ["addr.bit.", "alias.bit.", "none.bit.", "x.cut.bit.", "bit."]) {
          for (const options of [{}, { edns: {} }, { edns: { dnssec: true, size: 600 } }]) {
            const query = queryBytes(wire(name), A, options)
            yield* responder.respond(query, UDP)
            const made = yield* responder.respond(query, UDP)
            assert.isTrue(isCached(name, A, options), name)
            assert.deepStrictEqual(made._tag === "Message" ? made.bytes : made, responder.atOnce(query, UDP))
          }
        }
      })))

  it.effect("have an OPT record where the question has one", () =>
    withNames({ serverId: "here" }, ({ ask }) =>
      Effect.gen(function*() {
        assert.isUndefined(optOf(yield* ask("addr.bit.", A)))
        const plain = yield* ask("addr.bit.", A, { edns: { size: 4_096, options: [[65_312, Uint8Array.of(1)]] } })
        assert.deepStrictEqual([optOf(plain)?.class, optOf(plain)?.ttl, optOf(plain)?.data.length], [1_232, 0, 0])
        assert.strictEqual(optOf(yield* ask("addr.bit.", A, { edns: { dnssec: true } }))?.ttl, 0x8000)
        const named = yield* ask("addr.bit.", A, { edns: { options: [[3, new Uint8Array(0)]] } })
        assert.strictEqual(Buffer.from(optionOf(named, 3) ?? []).toString(), "here")
      })))

  it.effect("give the client's cookie back with one of the server", () =>
    withNames({}, ({ ask }) =>
      Effect.gen(function*() {
        const mine = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
        const first = optionOf(yield* ask("addr.bit.", A, { edns: { options: [[10, mine]] } }), 10)
        assert.deepStrictEqual([first?.length, [...first?.subarray(0, 8) ?? []]], [24, [...mine]])
        const other = optionOf(
          yield* ask("addr.bit.", A, { edns: { options: [[10, mine]] } }, { ...UDP, address: "::1" }),
          10
        )
        assert.notDeepEqual(other, first)
        assert.strictEqual(
          rcodeOf(yield* ask("addr.bit.", A, { edns: { options: [[10, mine.subarray(1)]] } })),
          "FORMERR"
        )
      })))

  it.effect("are BADCOOKIE under load for a client that is not proved yet", () =>
    withNames({}, ({ responder: { badCookie, isProved } }) =>
      Effect.sync(() => {
        const query = (cookie: Bytes) => queryBytes(wire("addr.bit."), A, { edns: { options: [[10, cookie]] } })
        const refusal = badCookie(query(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)), UDP)
        const message = readMessage(refusal ?? assert.fail("no refusal"))
        assert.deepStrictEqual([message.rcode & 15, (optOf(message)?.ttl ?? 0) >>> 24], [7, 1])
        assert.deepStrictEqual([message.questions.length, message.answer.length], [1, 0])
        const proved = query(optionOf(message, 10) ?? assert.fail("no cookie"))
        assert.isTrue(isProved(proved, UDP))
        assert.isUndefined(badCookie(proved, UDP))
        assert.isFalse(isProved(proved, { ...UDP, address: "192.0.2.1" }))
        assert.isUndefined(badCookie(queryBytes(wire("addr.bit."), A, { edns: {} }), UDP))
      })))

  it.effect("are neither cookies nor proofs of an address where a defect is in the way", () =>
    withNames({}, ({ responder: { badCookie, isProved } }) =>
      Effect.sync(() => {
        const client = {
          ...UDP,
          get address(): string {
            throw new Error("no address")
          }
        }
        const query = queryBytes(wire("addr.bit."), A, { edns: { options: [[10, new Uint8Array(24)]] } })
        assert.isUndefined(badCookie(query, client))
        assert.isFalse(isProved(query, client))
      })))

  it.effect("are cut to the smaller of both sizes, over UDP alone", () =>
    withNames({}, ({ ask }) =>
      Effect.gen(function*() {
        for (const options of [{}, { edns: { size: 512 } }, { edns: { size: 100 } }]) {
          const cut = yield* ask("many.bit.", A, options)
          assert.deepStrictEqual([cut.flags & FLAGS.TC, cut.answer.length, rcodeOf(cut)], [FLAGS.TC, 0, "NOERROR"])
          assert.strictEqual(optOf(cut) !== undefined, "edns" in options)
          assert.strictEqual((yield* ask("many.bit.", A, options, TCP)).answer.length, 40)
        }
        const whole = yield* ask("many.bit.", A, { edns: { size: 4_096 } })
        assert.deepStrictEqual([whole.flags & FLAGS.TC, whole.answer.length], [0, 40])
      })))

  it.effect("are padded over TLS where the client pads, and not elsewhere", () =>
    withNames({}, ({ reply }) =>
      Effect.gen(function*() {
        const query = queryBytes(wire("addr.bit."), A, { edns: { options: [[12, new Uint8Array(20)]] } })
        for (const [transport, isPadded] of [["tls", true], ["https", true], ["tcp", false]] as const) {
          const found = yield* reply(query, { ...UDP, transport })
          assert.strictEqual(found._tag === "Message" && found.bytes.length === 468, isPadded, transport)
        }
      })))

  it.effect("are short for ANY over UDP, and whole over TCP", () =>
    withNames({}, ({ ask }) =>
      Effect.gen(function*() {
        for (const _ of [1, 2]) {
          assert.deepStrictEqual((yield* ask("addr.bit.", ANY)).answer.map(({ type }) => type), [HINFO])
          assert.strictEqual((yield* ask("addr.bit.", ANY, {}, TCP)).answer.length, 2)
        }
      })))

  it.effect("have the zone under a suffix, too", () =>
    withNames(
      { suffixes: [wire("example.org.")], servers: [wire("ns1.example.net.")] },
      ({ ask }) =>
        Effect.gen(function*() {
          const found = yield* ask("alias.bit.example.org.", A)
          assert.deepStrictEqual(lines(found.answer), [
            "alias.bit.example.org. CNAME",
            "addr.bit.example.org. A 192.0.2.1",
            "addr.bit.example.org. A 192.0.2.2"
          ])
          assert.strictEqual(rcodeOf(yield* ask("none.bit.example.org.", A)), "NXDOMAIN")
          assert.strictEqual(rcodeOf(yield* ask("example.org.", A)), "REFUSED")
          assert.strictEqual(rcodeOf(yield* ask("this.x--nmc.bit.", A)), "NXDOMAIN")
        })
    ))

  it.effect("say in class CH what the server is, and to this machine how far it is", () =>
    withNames({ serverId: "here" }, ({ ask }) =>
      Effect.gen(function*() {
        const textOf = (name: string, client = UDP) =>
          Effect.map(ask(name, TXT, { class: 3 }, client), (found) =>
            found.answer[0] === undefined ? rcodeOf(found) : Buffer.from(found.answer[0].data).toString("utf8", 1))
        assert.strictEqual(yield* textOf("version.bind."), "svcd 1.2.3")
        assert.strictEqual(yield* textOf("id.server."), "here")
        assert.strictEqual(yield* textOf("sync.svcd."), "phase=blocks; height=1; proof=full")
        assert.strictEqual(yield* textOf("sync.svcd.", { ...UDP, address: "192.0.2.9" }), "REFUSED")
        assert.strictEqual(yield* textOf("other.bind."), "REFUSED")
      })))
})

describe("refusals", () => {
  const rows: ReadonlyArray<readonly [string, string, QueryOptions & { readonly type?: number }, string]> = [
    ["a name outside", "example.com.", {}, "REFUSED"],
    ["the root", ".", {}, "REFUSED"],
    ["class HS", "addr.bit.", { class: 4 }, "REFUSED"],
    ["a zone transfer", "bit.", { type: AXFR }, "REFUSED"],
    ["type 0", "bit.", { type: 0 }, "FORMERR"],
    ["EDNS version 1", "addr.bit.", { edns: { version: 1 } }, "BADVERS"],
    ["bytes behind the question", "addr.bit.", { extra: Uint8Array.of(1) }, "FORMERR"],
    ["NOTIFY", "bit.", { flags: 4 << 11 }, "REFUSED"],
    ["UPDATE", "bit.", { flags: 5 << 11 }, "REFUSED"],
    ["STATUS", "bit.", { flags: 2 << 11 }, "NOTIMP"]
  ]
  it.effect("of questions and messages", () =>
    withNames(
      {},
      ({ ask }) =>
        Effect.forEach(rows, ([what, name, { type = A, ...options }, rcode]) =>
          Effect.map(ask(name, type, options), (found) => {
            assert.deepStrictEqual([rcodeOf(found), found.answer.length, found.questions.length], [rcode, 0, 1], what)
          }), { discard: true })
    ))

  it.effect("drop what is not a question", () =>
    withNames({}, ({ reply }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* reply(new Uint8Array(11)), { _tag: "Drop", reason: "short" })
        const response = queryBytes(wire("addr.bit."), A, { flags: FLAGS.QR })
        assert.deepStrictEqual(yield* reply(response), { _tag: "Drop", reason: "answer" })
      })))

  it.effect("say SERVFAIL while names are missing, and never that a name does not exist", () =>
    withNames({}, ({ ask, isCached, world }) =>
      Effect.gen(function*() {
        const unknown = () => ask("unknown.bit.", A, { edns: {} })
        assert.strictEqual(rcodeOf(yield* unknown()), "NXDOMAIN")
        world.complete = false
        yield* turnOfEventLoop
        const found = yield* ask("another.bit.", A, { edns: {} })
        assert.deepStrictEqual([rcodeOf(found), errorOf(found)], ["SERVFAIL", [14, "syncing, 63 %, 4 min"]])
        assert.isFalse(isCached("another.bit.", A))
        assert.strictEqual(rcodeOf(yield* ask("addr.bit.", A)), "NOERROR")
        assert.strictEqual(rcodeOf(yield* ask("x.bit.example.", A)), "REFUSED")
        world.complete = true
        assert.strictEqual(rcodeOf(yield* unknown()), "NXDOMAIN")
      })))

  it.effect("say SERVFAIL of SOA while names are missing, and give all else at the apex", () =>
    withNames({}, ({ ask, world }) =>
      Effect.gen(function*() {
        const about = (type: number) =>
          Effect.map(ask("bit.", type, { edns: {} }), (found) => [rcodeOf(found), found.answer.length, errorOf(found)])
        assert.deepStrictEqual(yield* about(SOA), ["NOERROR", 1, undefined])
        world.complete = false
        yield* turnOfEventLoop
        assert.deepStrictEqual(yield* about(SOA), ["SERVFAIL", 0, [14, "syncing, 63 %, 4 min"]])
        assert.deepStrictEqual(yield* about(TYPE_NUMBERS.NS), ["NOERROR", 1, undefined])
        assert.deepStrictEqual(yield* about(A), ["NOERROR", 0, undefined])
        assert.strictEqual(rcodeOf(yield* ask("bit.", ANY, {}, { ...UDP, transport: "tcp" })), "SERVFAIL")
        assert.strictEqual(rcodeOf(yield* ask("bit.", ANY)), "NOERROR")
      })))

  it.effect("say SERVFAIL, and not that the node syncs, while stored data are in doubt", () =>
    withNames({}, ({ ask, world }) =>
      Effect.gen(function*() {
        world.complete = false
        world.doubted = true
        yield* turnOfEventLoop
        const found = yield* ask("another.bit.", A, { edns: {} })
        assert.deepStrictEqual([rcodeOf(found), errorOf(found)], [
          "SERVFAIL",
          [0, "stored data are damaged and under repair"]
        ])
      })))

  it.effect("say SERVFAIL below the required proof", () =>
    withNames({ requireProof: "full" }, ({ ask, world }) =>
      Effect.gen(function*() {
        world.proof = "work"
        for (const name of ["addr.bit.", "unknown.bit."]) {
          const found = yield* ask(name, A, { edns: {} })
          assert.deepStrictEqual([rcodeOf(found), errorOf(found)], [
            "SERVFAIL",
            [14, "syncing, 63 %, 4 min: the proof is work, and full is required"]
          ])
        }
      })))

  it.effect("say SERVFAIL without the path of a file that cannot be read", () =>
    withNames({}, ({ ask, world }) =>
      Effect.gen(function*() {
        world.broken = true
        const found = yield* ask("addr.bit.", A, { edns: {} })
        assert.deepStrictEqual([rcodeOf(found), errorOf(found)], ["SERVFAIL", [0, "names cannot be read now"]])
      })))
})

describe("the cache", () => {
  const addressOf = (node: DnsNode, name: string) =>
    Effect.map(node.ask(name, A), (found) => lines(found.answer)[0]?.split(" ")[2] ?? rcodeOf(found))

  it.effect("forgets what a block changes at once, and what imports it, and keeps the rest", () =>
    withNames({}, (node) =>
      Effect.gen(function*() {
        for (let asked = 0; asked < 2; asked++) {
          assert.strictEqual(yield* addressOf(node, "imports.bit."), "192.0.2.9")
          assert.strictEqual(yield* addressOf(node, "new.bit."), "NXDOMAIN")
          yield* addressOf(node, "addr.bit.")
        }
        yield* node.block({ "dd/base": ipOf(10), "d/new": ipOf(11) })
        yield* node.settled
        assert.deepStrictEqual(["addr.bit.", "imports.bit.", "new.bit."].map((name) => node.isCached(name, A)), [
          true,
          false,
          false
        ])
        assert.strictEqual(yield* addressOf(node, "imports.bit."), "192.0.2.10")
        assert.strictEqual(yield* addressOf(node, "new.bit."), "192.0.2.11")
      })))

  it.effect("forgets an answer when a name in it expires, and when a reorg brings it back", () =>
    withNames({}, (node) =>
      Effect.gen(function*() {
        for (let i = 0; i < 29; i++) yield* node.block()
        yield* node.settled
        for (let asked = 0; asked < 2; asked++) {
          assert.strictEqual(yield* addressOf(node, "addr.bit."), "192.0.2.1")
          assert.strictEqual(node.isCached("addr.bit.", A), asked > 0, "an answer is kept for the second who asks")
        }
        yield* node.block()
        assert.isFalse(node.isCached("addr.bit.", A))
        for (let asked = 0; asked < 2; asked++) {
          assert.strictEqual(yield* addressOf(node, "addr.bit."), "NXDOMAIN")
          yield* node.settled
        }
        assert.isTrue(node.isCached("addr.bit.", A))
        yield* node.undo
        assert.strictEqual(yield* addressOf(node, "addr.bit."), "192.0.2.1")
      })))

  it.effect("renews the serial of negative answers", () => {
    let serial = 7
    const serialOf = (node: DnsNode, name: string, type: number) =>
      Effect.map(node.ask(name, type), ({ answer, authority }) => {
        const soa = [...answer, ...authority].find((record) => record.type === SOA)
        return Buffer.from(soa?.data ?? []).readUInt32BE((soa?.data.length ?? 0) - 20)
      })
    return withNames({ serial: () => serial }, (node) =>
      Effect.gen(function*() {
        for (const now of [7, 8, 9]) {
          serial = now
          for (const [name, type] of [["none.bit.", A], ["addr.bit.", TXT], ["bit.", SOA]] as const) {
            assert.strictEqual(yield* serialOf(node, name, type), now, name)
          }
        }
        assert.isTrue(node.isCached("none.bit.", A))
      }))
  })
})
