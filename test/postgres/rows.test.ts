import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import { CopyRows } from "../../src/postgres/CopyRows.ts"
import { postgresFailed } from "../../src/postgres/failures.ts"
import { BlockCollector } from "../../src/postgres/lines.ts"
import { jsonbText, replacedText, RowWriter, storableText } from "../../src/postgres/rows.ts"
import { isSchemaName } from "../../src/postgres/schema.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { text } from "../names/blocks.ts"

describe("jsonbText", () => {
  it("has what PostgreSQL stores, and nothing that it refuses", () => {
    for (
      const good of [
        "{}",
        "1.5e3",
        "\"a\"",
        "null",
        "[1,{\"a\":\"\\u00e9\"}]",
        "{\"e\":\"alice1e99999\"}",
        "1e999",
        "\"\u{1f600}\""
      ]
    ) assert.strictEqual(jsonbText(good), good, good)
    for (
      const bad of [
        "",
        "hello",
        "{a:1}",
        "{\"a\":\"\\u0000\"}",
        "{\"\\u0000\":1}",
        "[\"\\ud800\"]",
        "[\"\\udc00\\ud800\"]",
        "1e131072",
        "1E+0400000",
        "{\"a\":1e-20000}"
      ]
    ) assert.isUndefined(jsonbText(bad), bad)
  })
})

describe("storableText", () => {
  it("is UTF-8 without NUL, of at most 1,024 bytes", () => {
    assert.strictEqual(storableText(text("zürich")), "zürich")
    assert.strictEqual(storableText(new Uint8Array()), "")
    assert.isUndefined(storableText(Uint8Array.of(0x61, 0)))
    assert.isUndefined(storableText(Uint8Array.of(0xff)))
    assert.isUndefined(storableText(new Uint8Array(1_025).fill(0x61)))
    assert.strictEqual(replacedText("a\0b\ud800"), "a\ufffdb\ufffd")
  })
})

/** The columns of the rows, as PostgreSQL reads them; null is NULL. */
const columnsIn = (rows: CopyRows): ReadonlyArray<ReadonlyArray<Buffer | null>> => {
  const bytes = Buffer.concat([...rows.pieces])
  assert.strictEqual(bytes.toString("latin1", 0, 11), "PGCOPY\n\xff\r\n\0")
  const found: Array<ReadonlyArray<Buffer | null>> = []
  let at = 19
  for (;;) {
    const columns = bytes.readInt16BE(at)
    at += 2
    if (columns === -1) break
    found.push(Array.from({ length: columns }, () => {
      const length = bytes.readInt32BE(at)
      at += 4 + Math.max(0, length)
      return length < 0 ? null : bytes.subarray(at - length, at)
    }))
  }
  assert.strictEqual(at, bytes.length)
  return found
}

describe("CopyRows", () => {
  it("has what was written, over the ends of its pieces", () => {
    const column = FastCheck.oneof(
      FastCheck.constant(undefined),
      FastCheck.string({ unit: "binary", maxLength: 40 }),
      FastCheck.nat({ max: 80_000 }).map((length) => "\u20ac".repeat(length))
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(column, { maxLength: 12 }), (texts) => {
        const rows = new CopyRows()
        assert.isTrue(rows.isEmpty)
        for (const each of texts) {
          rows.row(2)
          rows.text(each)
          rows.hex("00ff")
        }
        const expected = texts.map((each) => [
          each === undefined ? null : Buffer.from(each, "utf8"),
          Buffer.from([0, 255])
        ])
        assert.deepStrictEqual(columnsIn(rows), expected)
      }),
      { numRuns: 30 }
    )
  })

  it("has numbers, times and JSON in the form of their types", () => {
    const rows = new CopyRows()
    rows.row(4)
    rows.integer(-2)
    rows.time(946_684_801)
    rows.time(0)
    rows.json("{}")
    const [[integer, time, epoch, json] = []] = columnsIn(rows)
    assert.strictEqual(integer?.readInt32BE(), -2)
    assert.strictEqual(time?.readBigInt64BE(), 1_000_000n)
    assert.strictEqual(epoch?.readBigInt64BE(), -946_684_800_000_000n)
    assert.strictEqual(json?.toString("latin1"), "\u0001{}")
  })
})

describe("RowWriter", () => {
  it("writes rows with as many columns as the tables", () => {
    const writer = new RowWriter(regtestParams)
    FastCheck.assert(FastCheck.property(
      FastCheck.uint8Array({ maxLength: 300 }),
      FastCheck.uint8Array({ maxLength: 1_100 }),
      (name, value) => {
        const operation = {
          type: "updated",
          number: 3,
          name: toHex(name),
          value: toHex(value),
          script: "76a914" + "07".repeat(20) + "88ac",
          txid: "00".repeat(32),
          vout: 1
        } as const
        const [operations, names] = [new CopyRows(), new CopyRows()]
        const block = { height: 7, hash: "11".repeat(32), time: 0, cursor: "a", operations: [operation] }
        writer.operations(operations, block)
        const [[height, , type, , bytes, , address] = []] = columnsIn(operations)
        assert.strictEqual(height?.readInt32BE(), 7)
        assert.strictEqual(type?.toString(), "updated")
        assert.deepStrictEqual(bytes, Buffer.from(value))
        assert.strictEqual(address?.toString(), "mgA7SfyBBrVGVSpQ7oqGHPhxpp2gUZWtfc")
        writer.name(names, { ...operation, height: 7 })
        const [columns = []] = columnsIn(names)
        assert.strictEqual(columns.length, 14)
        assert.strictEqual(columns[5]?.readInt32BE(), 37)
      }
    ))
  })
})

describe("BlockCollector", () => {
  const hash = "11".repeat(32)
  const line = (event: object) => ({ cursor: "a0000005.01048578.1111111111111111", event: { ...event }, text: "" })
  const operation = {
    type: "updated",
    height: 5,
    hash,
    name: "642f61",
    value: "",
    script: "51",
    txid: "22".repeat(32),
    vout: 0
  }
  const end = { type: "block", height: 5, hash, time: 1_300_000_000 }

  it("has whole blocks, and forgets what left the chain", () => {
    const collector = new BlockCollector()
    assert.deepStrictEqual(collector.take(line({ type: "position" })), [])
    assert.deepStrictEqual(collector.take(line(operation)), [])
    assert.deepStrictEqual(collector.take(line({ type: "undone", height: 5, hash, names: [] })), [
      { type: "undo", height: 5, cursor: "a0000005.01048578.1111111111111111" }
    ])
    collector.take(line(operation))
    const [step] = collector.take(line(end)) ?? []
    assert.strictEqual(step?.type === "block" ? step.block.operations.length : 0, 1)
    assert.strictEqual(step?.type === "block" ? step.block.operations[0]?.number : 0, 2)
    assert.strictEqual(step?.type === "block" ? step.beginning : 0, undefined)
  })

  it("takes no line of another program, and counts names that are too long", () => {
    const collector = new BlockCollector()
    for (
      const wrong of [
        { ...operation, name: "xyz" },
        { ...operation, txid: "22" },
        { ...operation, vout: "0" },
        { ...operation, vout: 2 ** 31 },
        { ...end, time: 2 ** 32 },
        { ...end, hash: "11" },
        { ...end, time: undefined },
        { type: "other" }
      ]
    ) assert.isUndefined(collector.take(line(wrong)), JSON.stringify(wrong))
    collector.take(line({ ...operation, name: "61".repeat(1_025) }))
    assert.strictEqual(collector.tooLong, 1)
  })
})

describe("postgresFailed", () => {
  it("tells what may pass from what needs the operator", () => {
    const failed = (code: string, message = "words") =>
      postgresFailed("db", Object.assign(new Error(message), { code }))
    for (const code of ["25006", "53100", "57014", "57P01", "08006", "40001", "ECONNREFUSED", "EPIPE", "ENOENT"]) {
      assert.isTrue(failed(code).mayPass, code)
    }
    for (const code of ["3D000", "28P01", "42501", "42P01", "23505"]) assert.isFalse(failed(code).mayPass, code)
    assert.isTrue(postgresFailed("db", new Error("Connection terminated unexpectedly")).mayPass)
    assert.isFalse(postgresFailed("db", new Error("The server does not support SSL connections")).mayPass)
    assert.strictEqual(
      failed("3D000", "database \"x\" does not exist").message,
      "PostgreSQL at db: database \"x\" does not exist (3D000); make the database first: createdb -E UTF8 -T template0 NAME"
    )
  })
})

describe("isSchemaName", () => {
  it("needs no quotes", () => {
    for (const good of ["svcd", "names_2", "_a"]) assert.isTrue(isSchemaName(good))
    for (const bad of ["", "Names", "a-b", "1a", "pg_names", "a;drop", "a".repeat(49)]) {
      assert.isFalse(isSchemaName(bad))
    }
  })
})
