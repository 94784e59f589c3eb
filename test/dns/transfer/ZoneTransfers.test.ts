import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import type { DnsClient } from "../../../src/dns/Responder.ts"
import { tsigBytes, TsigChain } from "../../../src/dns/transfer/tsig.ts"
import { FLAGS, META_TYPES } from "../../../src/dns/wire/codes.ts"
import { readMessage } from "../../../src/dns/wire/message.ts"
import { MessageWriter } from "../../../src/dns/wire/MessageWriter.ts"
import { wireNameOfHost } from "../../../src/dns/wire/name.ts"
import { readQuery } from "../../../src/dns/wire/readQuery.ts"
import { soaSet } from "../../../src/dns/zone/apex.ts"
import { TYPE_NUMBERS } from "../../../src/values/records.ts"
import { queryBytes } from "../../support/dnsNode.ts"
import { rcodeText } from "../../support/dnsZone.ts"
import { type Primary, TSIG, withPrimary } from "./transferNode.ts"
import { apexAt } from "./zones.ts"

const { AXFR, IXFR } = META_TYPES

const TCP: DnsClient = { transport: "tcp", address: "127.0.0.1", port: 5_353 }

interface Asked {
  /** The serial that the secondary has. */
  readonly serial?: number
  readonly zone?: string
  readonly client?: DnsClient
}

const replyTo = ({ transfers }: Primary, type: number, { client = TCP, serial, zone = "bit." }: Asked = {}) =>
  Effect.suspend(() => {
    const writer = new MessageWriter()
    writer.start({ id: 1, flags: 0, question: { asked: wireNameOfHost(zone), type, class: 1 } })
    if (serial !== undefined) writer.set("authority", soaSet(apexAt(serial)))
    const read = readQuery(writer.bytes())
    if (read._tag !== "Query") return assert.fail(read._tag)
    return transfers.take(read.query, client, Effect.dieMessage("no question"))
  })

/** The response code and the number of records of a transfer. */
const transfer = (primary: Primary, type: number, asked: Asked = {}) =>
  Effect.gen(function*() {
    const reply = yield* replyTo(primary, type, asked)
    if (reply._tag === "Drop") return assert.fail(reply.reason)
    const messages = reply._tag === "Message"
      ? [reply.bytes]
      : Chunk.toReadonlyArray(yield* Stream.runCollect(reply.messages))
    const all = messages.map(readMessage)
    return [
      rcodeText(all.at(-1)?.rcode ?? assert.fail("no message")),
      all.reduce((sum, { answer }) => sum + answer.length, 0)
    ]
  })

describe("zone transfers", () => {
  it.live("count what was sent, which the list of secondaries says, too", () =>
    withPrimary({}, (primary) =>
      Effect.gen(function*() {
        const first = yield* primary.block({ "d/one": { ip: "192.0.2.1" } })
        const last = yield* primary.block({ "d/two": { ip: "192.0.2.2" } })
        const rows = [
          [AXFR, undefined, "axfr", 5],
          [IXFR, first, "ixfr", 5],
          [IXFR, last, "current", 1],
          [IXFR, last + 9, "current", 1],
          // A serial that nobody remembers.
          [IXFR, first - 1_000 >>> 0, "axfr", 5]
        ] as const
        for (const [type, serial, kind, records] of rows) {
          const sent = yield* transfer(primary, type, serial === undefined ? {} : { serial })
          assert.deepStrictEqual([sent, primary.counted.at(-1)], [["NOERROR", records], kind], `${type} ${serial}`)
          const [seen] = primary.transfers.secondaries.all
          assert.deepStrictEqual([seen?.by, seen?.serial], [kind, last])
        }
        assert.lengthOf(primary.counted, rows.length)
      })).pipe(Effect.orDie))

  it.live("count one that the client does not read to its end", () =>
    withPrimary({}, (primary) =>
      Effect.gen(function*() {
        const first = yield* primary.block({ "d/one": { ip: "192.0.2.1" } })
        yield* primary.block()
        for (const [type, asked] of [[AXFR, {}], [IXFR, { serial: first }]] as const) {
          const reply = yield* replyTo(primary, type, asked)
          if (reply._tag !== "Transfer") return assert.fail(reply._tag)
          yield* Stream.runHead(reply.messages)
          assert.strictEqual(primary.counted.at(-1), "cut")
        }
        assert.deepStrictEqual([primary.counted.length, primary.transfers.secondaries.all], [2, []])
      })).pipe(Effect.orDie))

  it.live("of a light node are whole, or SOA alone for a secondary that is up to date", () =>
    withPrimary({}, (primary) =>
      Effect.gen(function*() {
        const last = yield* primary.block()
        primary.world.light = true
        assert.deepStrictEqual(yield* transfer(primary, AXFR), ["NOERROR", 3])
        assert.deepStrictEqual(yield* transfer(primary, IXFR, { serial: last - 1 }), ["NOERROR", 3])
        assert.deepStrictEqual(yield* transfer(primary, IXFR, { serial: last }), ["NOERROR", 1])
        assert.deepStrictEqual(primary.counted, ["axfr", "axfr", "current"])
      })).pipe(Effect.orDie))

  it.live("count refusals and failures", () =>
    withPrimary({}, (primary) =>
      Effect.gen(function*() {
        const rows = [
          ["REFUSED", "refused", AXFR, { client: { ...TCP, transport: "udp" } }],
          ["REFUSED", "refused", AXFR, { client: { ...TCP, address: "192.0.2.1" } }],
          ["NOTAUTH", "refused", AXFR, { zone: "example.org." }],
          ["FORMERR", "failed", IXFR, {}]
        ] as const
        for (const [rcode, kind, type, asked] of rows) {
          assert.deepStrictEqual(yield* transfer(primary, type, asked), [rcode, 0])
          assert.strictEqual(primary.counted.at(-1), kind, rcode)
        }
        primary.world.complete = false
        assert.deepStrictEqual(yield* transfer(primary, AXFR), ["SERVFAIL", 0])
        assert.deepStrictEqual(primary.counted, ["refused", "refused", "refused", "failed", "failed"])
        assert.deepStrictEqual(primary.transfers.secondaries.all, [])
      })).pipe(Effect.orDie))
})

describe("signed answers", () => {
  it.live("over UDP are within what passes every network, with the signature, or ask for TCP", () =>
    withPrimary({}, ({ transfers }) =>
      Effect.gen(function*() {
        const key = { ...TSIG, name: wireNameOfHost(TSIG.name) }
        const now = Math.floor(Date.now() / 1000)
        for (const [size, limit] of [[4_096, 1_232], [1_000, 1_000]] as const) {
          for (const extra of [0, 1]) {
            const question = queryBytes(wireNameOfHost("one.bit."), TYPE_NUMBERS.TXT, { edns: { size } })
            const read = readQuery(new TsigChain(key).sign(question, now))
            if (read._tag !== "Query") return assert.fail(read._tag)
            const answer = new Uint8Array(limit - tsigBytes(key) + extra)
            const reply = yield* transfers.take(
              read.query,
              { ...TCP, transport: "udp" },
              Effect.succeed({ _tag: "Message", bytes: answer })
            )
            if (reply._tag !== "Message") return assert.fail(reply._tag)
            assert.strictEqual(reply.bytes.length === limit, extra === 0, `${size}`)
            if (extra > 0) assert.strictEqual(readMessage(reply.bytes).flags & FLAGS.TC, FLAGS.TC)
          }
        }
      })).pipe(Effect.orDie))
})
