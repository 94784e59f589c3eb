import { assert, describe, it } from "@effect/vitest"
import { Amount, encodeJson, type JsonValue, RawJson } from "../../../src/rpc/json/encodeJson.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import * as Shape from "../../../src/rpc/method/shape.ts"

const block = Shape.object({
  hash: Shape.hex("The hash"),
  value: Shape.amount("What it pays"),
  tx: Shape.array(Shape.hex("A txid"), "The transactions"),
  next: Shape.optional(Shape.hex("The next block"))
}, "A block")

describe("mismatch", () => {
  const good = { hash: "00", value: new Amount(1), tx: ["aa"] }

  it.each<readonly [JsonValue, string | undefined]>([
    [good, undefined],
    [{ ...good, next: "bb" }, undefined],
    [{ ...good, next: undefined }, undefined],
    [{ ...good, tx: [] }, undefined],
    [{ ...good, value: 1 }, "result.value is no Amount"],
    [{ ...good, hash: 5 }, "result.hash is number, described as string"],
    [{ ...good, tx: ["aa", 5] }, "result.tx[1] is number, described as string"],
    [{ ...good, more: 1 }, "result.more is not described"],
    [{ ...good, toString: "x" }, "result.toString is not described"],
    [{ hash: "00", tx: [] }, "result.value is missing"],
    [[], "result is array, described as object"],
    [null, "result is null, described as object"],
    [new RawJson("{}"), undefined]
  ])("of %j is %s", (value, expected) => {
    assert.strictEqual(Shape.mismatch(block, value), expected)
  })

  it("checks objects whose names are data", () => {
    const map = Shape.map("txid", Shape.integer("Its size"))
    assert.isUndefined(Shape.mismatch(map, new Map([["aa", 1]])))
    assert.isUndefined(Shape.mismatch(map, { aa: 1 }))
    assert.strictEqual(Shape.mismatch(map, new Map([["aa", "x"]])), "result.aa is string, described as number")
    assert.strictEqual(
      Shape.mismatch(map, parseJson("{\"aa\":\"x\"}") ?? null),
      "result.aa is string, described as number"
    )
  })

  it.each<readonly [Shape.Shape, JsonValue]>([
    [Shape.boolean(""), true],
    [Shape.nothing(""), null],
    [Shape.time(""), 1],
    [Shape.number(""), 0.5],
    [Shape.integer(""), 5n],
    [Shape.any(""), []]
  ])("checks scalars: case %#", (shape, value) => {
    assert.isUndefined(Shape.mismatch(shape, value))
  })
})

describe("the lines of the help", () => {
  it("shows one member on each line", () => {
    assert.deepStrictEqual(Shape.describe(block), [
      ["{", "(json object) A block"],
      ["  \"hash\": \"hex\",", "(string) The hash"],
      ["  \"value\": n.nnnnnnnn,", "(numeric) What it pays"],
      ["  \"tx\": [", "(json array) The transactions"],
      ["    \"hex\",", "(string) A txid"],
      ["    ...", ""],
      ["  ],", ""],
      ["  \"next\": \"hex\"", "(string, optional) The next block"],
      ["}", ""]
    ])
  })

  it("shows an object whose names are data", () => {
    assert.deepStrictEqual(Shape.describe(Shape.map("txid", Shape.boolean("In it?"), "All of them")), [
      ["{", "(json object) All of them"],
      ["  \"txid\": true|false,", "(boolean) In it?"],
      ["  ...", ""],
      ["}", ""]
    ])
  })
})

describe("schemaOf", () => {
  it("is JSON Schema", () => {
    assert.deepStrictEqual(JSON.parse(encodeJson(Shape.schemaOf(block))), {
      type: "object",
      properties: {
        hash: { type: "string", pattern: "^([0-9a-f]{2})*$", description: "The hash" },
        value: { type: "number", multipleOf: 1e-8, description: "What it pays" },
        tx: {
          type: "array",
          items: { type: "string", pattern: "^([0-9a-f]{2})*$", description: "A txid" },
          description: "The transactions"
        },
        next: { type: "string", pattern: "^([0-9a-f]{2})*$", description: "The next block" }
      },
      required: ["hash", "value", "tx"],
      description: "A block"
    })
  })
})
