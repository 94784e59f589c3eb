import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { FLAGS, HEADER_BYTES, MAX_MESSAGE_BYTES, META_TYPES } from "../../../src/dns/wire/codes.ts"
import { type DnsMessage, readMessage } from "../../../src/dns/wire/message.ts"
import { MessageWriter } from "../../../src/dns/wire/MessageWriter.ts"
import { lowerCaseName, type WireName } from "../../../src/dns/wire/name.ts"
import { readQuery } from "../../../src/dns/wire/readQuery.ts"
import { canonicalData } from "../../../src/dns/wire/recordData.ts"
import { responseTo, writeResponse } from "../../../src/dns/wire/response.ts"
import { concat, fromBinaryString, toHex } from "../../../src/protocol/bytes.ts"
import { DecodeError } from "../../../src/protocol/Reader.ts"
import { bytesOf, decodeError, everyTruncationFails, hex } from "../../support/bytes.ts"
import { anyName, anySet, wireName } from "../../support/dnsRecords.ts"

/** Random messages of the fuzz tests; more with `FUZZ_FRAMES`. */
const FRAMES = Number(process.env["FUZZ_FRAMES"] ?? 3_000)

const u16 = (value: number): Uint8Array => Uint8Array.of(value >>> 8, value)

interface QueryParts {
  readonly name?: WireName
  readonly type?: number
  readonly class?: number
  readonly flags?: number
  readonly counts?: ReadonlyArray<number>
  readonly question?: Uint8Array
  readonly rest?: Uint8Array
}

/** The bytes of a query; `rest` follows the question. */
const queryOf = (parts: QueryParts = {}): Uint8Array => {
  const { counts = [1, 0, 0, 0], flags = 0, name = wireName("addr.bit"), rest = new Uint8Array(0), type = 1 } = parts
  const question = parts.question ?? concat(fromBinaryString(name), u16(type), u16(parts.class ?? 1))
  return concat(u16(0xabcd), u16(flags), ...counts.map(u16), question, rest)
}

/** An OPT record of 1232 bytes with DO, with these options. */
const optOf = (options = "", version = "00"): Uint8Array =>
  concat(hex(`00 0029 04d0 00 ${version} 8000`), u16(options.replace(/\s/g, "").length / 2), hex(options))

const readRight = (bytes: Uint8Array) => {
  const read = readQuery(bytes)
  return read._tag === "Query" ? read.query : assert.fail(JSON.stringify(read))
}

describe("a query", () => {
  it("is read with its question in lower case and its flags", () => {
    const bytes = queryOf({ name: "\x04AdDr\x03BIT\0" as WireName, type: 28, flags: FLAGS.RD | FLAGS.CD })
    const query = readRight(bytes)
    assert.deepStrictEqual(query.question, { name: wireName("addr.bit"), type: 28, class: 1 })
    assert.deepStrictEqual([query.id, query.wantsRecursion, query.checkingDisabled, query.questionEnd], [
      0xabcd,
      true,
      true,
      26
    ])
    assert.isUndefined(query.edns)
  })

  it.each([
    ["nothing but DO", optOf(), {
      dnssec: true,
      size: 1232,
      version: 0,
      wantsNsid: false,
      pads: false,
      cookie: undefined
    }],
    ["NSID and padding", optOf("0003 0000 000c 0002 0000"), { wantsNsid: true, pads: true }],
    ["a cookie of the client", optOf("000a 0008 0011223344556677"), { cookie: hex("0011223344556677") }],
    ["unknown options", optOf("ff20 0001 78 fde9 0001 79"), { dnssec: true }],
    ["another version", optOf("", "01"), { version: 1 }],
    ["a size below 512", hex("00 0029 0064 00000000 0000"), { size: 512, dnssec: false }]
  ])("with %s in OPT is read", (_, rest, expected) => {
    const { edns } = readRight(queryOf({ counts: [1, 0, 0, 1], rest }))
    assert.deepInclude(edns, expected)
  })

  it("with TSIG says where that begins, and its other sections are passed over", () => {
    const soa = concat(hex("c00c 0006 0001 00000000 0000"))
    const tsig = hex("0161 00 00fa 00ff 00000000 0000")
    const query = readRight(queryOf({ counts: [1, 0, 1, 2], rest: concat(soa, optOf(), tsig) }))
    assert.strictEqual(query.tsigAt, query.bytes.length - tsig.length)
  })

  const label = (length: number) => `${length.toString(16).padStart(2, "0")}${"61".repeat(length)}`
  it.each<[string, "FORMERR" | "NOTIMP" | "REFUSED", QueryParts]>([
    ["two questions", "FORMERR", { counts: [2, 0, 0, 0] }],
    ["no question", "FORMERR", { counts: [0, 0, 0, 0], question: new Uint8Array(0) }],
    ["a question that is cut off", "FORMERR", { question: hex("0461646472") }],
    ["a question without a class", "FORMERR", { question: hex("0461646472 00 0001") }],
    ["a pointer in the question", "FORMERR", { question: hex("0461646472c00c00010001") }],
    ["a pointer that ends the message", "FORMERR", { question: hex("c0") }],
    ["a label of a reserved kind", "FORMERR", { question: hex("8461646472000010001".padEnd(20, "0")) }],
    ["a name of 256 bytes", "FORMERR", { question: hex(`${label(63).repeat(3)}${label(62)}00 0001 0001`) }],
    ["bytes behind the question", "FORMERR", { rest: hex("6a756e6b") }],
    ["bytes behind OPT", "FORMERR", { counts: [1, 0, 0, 1], rest: concat(optOf(), hex("00")) }],
    ["two OPT records", "FORMERR", { counts: [1, 0, 0, 2], rest: concat(optOf(), optOf()) }],
    ["OPT with a name", "FORMERR", { counts: [1, 0, 0, 1], rest: concat(hex("0161"), optOf()) }],
    ["counts that promise more", "FORMERR", { counts: [1, 0, 0, 1] }],
    ["65,535 records that are not there", "FORMERR", { counts: [1, 0xffff, 0xffff, 0xffff], rest: optOf() }],
    ["an option that is cut off", "FORMERR", { counts: [1, 0, 0, 1], rest: optOf("000a 0009 0011223344556677") }],
    ["a cookie of 7 bytes", "FORMERR", { counts: [1, 0, 0, 1], rest: optOf("000a 0007 00112233445566") }],
    ["a cookie of 41 bytes", "FORMERR", { counts: [1, 0, 0, 1], rest: optOf(`000a 0029 ${"00".repeat(41)}`) }],
    ["a record behind TSIG", "FORMERR", {
      counts: [1, 0, 0, 2],
      rest: concat(hex("00 00fa 00ff 00000000 0000"), optOf())
    }],
    ["the type 0", "FORMERR", { type: 0 }],
    ["the type OPT", "FORMERR", { type: META_TYPES.OPT }],
    ["the type TSIG", "FORMERR", { type: META_TYPES.TSIG }],
    ["the class HS", "REFUSED", { class: 4 }],
    ["the opcode NOTIFY", "REFUSED", { flags: 4 << 11 }],
    ["the opcode UPDATE", "REFUSED", { flags: 5 << 11 }],
    ["the opcode STATUS", "NOTIMP", { flags: 2 << 11 }],
    ["an unknown opcode", "NOTIMP", { flags: 15 << 11 }]
  ])("with %s is %s", (_, rcode, parts) => {
    const read = readQuery(queryOf(parts))
    assert.deepInclude(read, { _tag: "Fault" as const, rcode, id: 0xabcd, flags: parts.flags ?? 0 })
  })

  it.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "short"],
    ["11 bytes", queryOf().subarray(0, 11), "short"],
    ["an answer", queryOf({ flags: FLAGS.QR }), "response"]
  ])("%s is dropped", (_, bytes, reason) => {
    assert.deepStrictEqual(readQuery(bytes), { _tag: "Drop", reason: reason as never })
  })

  it("that is cut off anywhere is a fault or dropped, and the question of a fault is whole", () => {
    const whole = queryOf({ counts: [1, 0, 0, 1], rest: optOf("000a 0008 0011223344556677") })
    for (let length = 0; length < whole.length; length++) {
      const read = readQuery(whole.subarray(0, length))
      assert.strictEqual(read._tag, length < HEADER_BYTES ? "Drop" : "Fault")
      if (read._tag === "Fault") assert.strictEqual(read.questionEnd, length < 26 ? HEADER_BYTES : 26)
    }
  })
})

interface Sections {
  readonly answer: ReadonlyArray<unknown>
  readonly authority: ReadonlyArray<unknown>
  readonly additional: ReadonlyArray<unknown>
}

const shown = ({ additional, answer, authority }: DnsMessage): Sections => {
  const section = (records: DnsMessage["answer"]) =>
    records.map(({ class: number, data, owner, ttl, type }) => [owner, type, number, ttl, toHex(data)])
  return { answer: section(answer), authority: section(authority), additional: section(additional) }
}

const sections = fc.record({
  answer: fc.array(anySet, { maxLength: 4 }),
  authority: fc.array(anySet, { maxLength: 2 }),
  additional: fc.array(anySet, { maxLength: 2 })
})

const noSections = { answer: [], authority: [], additional: [] }

describe("a message of record sets", () => {
  it("is read as it was written, with names in full", () => {
    fc.assert(
      fc.property(anyName, sections, (name, sets) => {
        const query = readRight(queryOf({ name }))
        const { bytes, isCut } = writeResponse({ query, flags: FLAGS.AA, rcode: 0, ...sets, limit: MAX_MESSAGE_BYTES })
        assert.isFalse(isCut)
        const message = readMessage(bytes)
        assert.deepStrictEqual(message.questions, [{ asked: name, type: 1, class: 1 }])
        const expected = (list: typeof sets.answer) =>
          list.flatMap(({ owner, records, ttl, type }) =>
            records.map((record) => [owner, type, 1, ttl, toHex(canonicalData(record))])
          )
        assert.deepStrictEqual(shown(message), {
          answer: expected(sets.answer),
          authority: expected(sets.authority),
          additional: expected(sets.additional)
        })
      }),
      { numRuns: 200 }
    )
  })

  it("refuses types of NSEC that are out of order", () => {
    for (const types of [[47, 1], [1, 257, 2], [1, 16, 15]]) {
      assert.throws(
        () => canonicalData({ type: "NSEC", next: wireName("bit"), types }),
        RangeError,
        `types of NSEC out of order: ${types.join()}`
      )
    }
  })

  it("points to names that are written already", () => {
    const set = (owner: string, target: string) => ({
      owner: wireName(owner),
      type: 2,
      ttl: 60,
      records: [{ type: "NS" as const, target }],
      signs: true
    })
    const { bytes } = writeResponse({
      query: readRight(queryOf({ name: "\x04ADDR\x03bit\0" as WireName })),
      flags: 0,
      rcode: 0,
      ...noSections,
      answer: [set("addr.bit", "ns.addr.bit."), set("x.bit", "ns.addr.bit.")],
      limit: 512
    })
    const answer = "c00c 0002 0001 0000003c 0005 026e73 c00c  0178 c011 0002 0001 0000003c 0002 c026"
    assert.strictEqual(toHex(bytes.subarray(26)), toHex(hex(answer)))
  })

  it("above the limit has TC and the question alone, and at the limit all records", () => {
    const query = readRight(queryOf())
    const records = Array.from({ length: 40 }, (_, i) => ({ type: "A" as const, address: Uint8Array.of(10, 0, 0, i) }))
    const parts = {
      query,
      flags: 0,
      rcode: 0,
      ...noSections,
      answer: [{ owner: query.question.name, type: 1, ttl: 1, records, signs: true }]
    }
    const whole = 26 + 40 * 16
    assert.strictEqual(writeResponse({ ...parts, limit: whole }).bytes.length, whole)
    const cut = writeResponse({ ...parts, limit: whole - 1 })
    const message = readMessage(cut.bytes)
    assert.isTrue(cut.isCut)
    assert.deepStrictEqual([message.flags & FLAGS.TC, message.answer.length, cut.bytes.length], [FLAGS.TC, 0, 26])
  })

  it("a record that does not fit leaves nothing, nor a name that others point to", () => {
    const writer = new MessageWriter().start({ id: 1, flags: 0, question: undefined }, 80)
    const head = (owner: string) => ({ owner: wireName(owner), type: 16, ttl: 1 })
    const text = (length: number) => ({ type: "TXT" as const, strings: [new Uint8Array(length)] })
    assert.isTrue(writer.record("answer", head("a.bit"), text(3)))
    const { size } = writer
    assert.isFalse(writer.record("answer", head("long.example"), text(60)))
    assert.strictEqual(writer.size, size)
    assert.isTrue(writer.record("answer", head("long.example"), text(1)))
    assert.deepStrictEqual(readMessage(writer.bytes()).answer.map(({ owner }) => owner), [
      wireName("a.bit"),
      wireName("long.example")
    ])
  })

  it("is copied for another query with its id, letters, flags and OPT", () => {
    const body = writeResponse({ query: queryFor("addr.bit", 0), flags: FLAGS.AA, rcode: 3, ...noSections, limit: 512 })
    const other = queryFor("addr.bit", FLAGS.RD)
    const asked = {
      ...other,
      bytes: Uint8Array.from(other.bytes, (byte, i) => i === 13 ? 0x41 : i === 0 ? 0x12 : byte)
    }
    const opt = { size: 1232, extendedRcode: 1, dnssec: true, options: [{ code: 10, data: hex("0102") }], padTo: 128 }
    const bytes = responseTo(asked, body, opt)
    const message = readMessage(bytes)
    assert.deepStrictEqual([message.id, message.rcode, bytes.length], [0x12cd, 19, 128])
    assert.strictEqual(message.flags, FLAGS.QR | FLAGS.AA | FLAGS.RD | 3)
    assert.strictEqual(message.questions[0]?.asked, "\x04Addr\x03bit\0")
    assert.deepStrictEqual(message.additional.map(({ class: size, type }) => [type, size]), [[META_TYPES.OPT, 1232]])
    assert.strictEqual(toHex(body.bytes.subarray(0, 2)), "abcd")
  })
})

const queryFor = (name: string, flags: number) => readRight(queryOf({ name: wireName(name), flags }))

describe("bytes of others", () => {
  const answerWith = (records: string, count = 1): Uint8Array =>
    queryOf({ flags: FLAGS.QR, counts: [1, count, 0, 0], rest: hex(records) })

  it.each([
    ["a pointer to itself", "c01a 0001 0001 00000000 0000"],
    ["a pointer forwards", "c0ff 0001 0001 00000000 0000"],
    ["a label of a reserved kind", "40 0001 0001 00000000 0000"],
    ["data that ends too late", "00 0001 0001 00000000 0005 00"],
    ["a name that goes beyond its data", "00 0002 0001 00000000 0001 c00c"],
    ["no name in its data", "00 0002 0001 00000000 0000"],
    ["an SOA with one name", "00 0006 0001 00000000 0002 c00c"]
  ])("a record with %s is malformed", (_, record) => {
    decodeError(() => readMessage(answerWith(record)))
  })

  it.each([[127, true], [128, false]])("a chain of %s pointers is followed: %s", (count, isFollowed) => {
    // In the data of a record of type NULL, from byte 37 on: each pointer leads to the one before, the first to the question.
    const chain = Array.from({ length: count - 1 }, (_, i) => u16(0xc000 | (i === 0 ? HEADER_BYTES : 35 + 2 * i)))
    const data = concat(...chain)
    const first = concat(hex("00 000a 0001 00000000"), u16(data.length), data)
    const second = concat(u16(0xc000 | (35 + 2 * chain.length)), hex("0001 0001 00000000 0000"))
    const bytes = queryOf({ flags: FLAGS.QR, counts: [1, 2, 0, 0], rest: concat(first, second) })
    if (isFollowed) assert.strictEqual(readMessage(bytes).answer[1]?.owner, wireName("addr.bit"))
    else decodeError(() => readMessage(bytes))
  })

  it("names in data are in full, and the TTL is not negative", () => {
    const message = readMessage(answerWith("c00c 0005 0001 ffffffff 0006 03777777 c00c"))
    const [record] = message.answer
    assert.strictEqual(toHex(record?.data ?? hex("")), toHex(fromBinaryString(wireName("www.addr.bit"))))
    assert.strictEqual(record?.ttl, 0)
  })

  it("a message that is cut off anywhere is malformed", () => {
    everyTruncationFails(answerWith("c00c 000f 0001 0000003c 0008 000a 03777777 c00c"), readMessage)
  })

  const noisy = fc.oneof(
    bytesOf(0, 80),
    fc.tuple(
      fc.constantFrom(queryOf({ counts: [1, 0, 0, 1], rest: optOf("000a 0008 0011223344556677") })),
      fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 0, max: 255 })), { maxLength: 4 })
    )
      .map(([bytes, changes]) =>
        changes.reduce((noise, [at, byte]) => noise.with(Math.min(at, noise.length - 1), byte), bytes)
      ),
    fc.tuple(anySet, fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 4 })).map(
      ([set, changes]) => {
        const { bytes } = writeResponse({
          query: queryFor("addr.bit", 0),
          flags: 0,
          rcode: 0,
          ...noSections,
          answer: [set],
          limit: 4096
        })
        return changes.reduce((noise, [at, byte]) => noise.with(at % noise.length, byte), bytes)
      }
    )
  )

  it("any bytes are a query, a fault or dropped, and a fault can be answered", () => {
    fc.assert(
      fc.property(noisy, (bytes) => {
        const read = readQuery(bytes)
        if (read._tag === "Drop") return
        const asked = read._tag === "Query" ? read.query : { bytes, questionEnd: read.questionEnd }
        const { bytes: answer } = writeResponse({ query: asked, flags: 0, rcode: 1, ...noSections, limit: 512 })
        assert.deepStrictEqual([...answer.subarray(0, 2)], [...bytes.subarray(0, 2)])
        assert.strictEqual((answer[3] ?? 0) & 15, 1)
        if (read._tag === "Query") {
          assert.strictEqual(
            lowerCaseName(readMessage(answer).questions[0]?.asked ?? wireName(".")),
            read.query.question.name
          )
        }
      }),
      { numRuns: FRAMES }
    )
  })

  it("any bytes are a message or malformed", () => {
    fc.assert(
      fc.property(noisy, (bytes) => {
        try {
          readMessage(bytes)
        } catch (cause) {
          assert.instanceOf(cause, DecodeError)
        }
      }),
      { numRuns: FRAMES }
    )
  })
})
