import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import { Amount, encodeJson, LazyArray, LazyMap, RawJson } from "../../../src/rpc/json/encodeJson.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import { contract } from "../../../src/rpc/method/contract.ts"
import type { Result as MethodResult } from "../../../src/rpc/method/contract.ts"
import { type AnswerOf, method } from "../../../src/rpc/method/method.ts"
import * as Result from "../../../src/rpc/method/results.ts"

const block = Schema.Struct({
  hash: Result.hex("The hash"),
  value: Result.amount("What it pays"),
  tx: Schema.Array(Result.hex("A txid")).annotations({ description: "The transactions" }),
  next: Schema.optional(Result.hex("The next block"))
}).annotations({ description: "A block" })

const decoded = (schema: Result.AnyResult, text: string) =>
  Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(Result.plainAnswer(parseJson(text) ?? null))

describe("an answer", () => {
  it.each([
    ["{\"hash\":\"00\",\"value\":0.00000001,\"tx\":[\"aa\"]}", { hash: "00", value: new Amount(1), tx: ["aa"] }],
    [
      "{\"hash\":\"00\",\"value\":-1.00000000,\"tx\":[],\"next\":\"bb\"}",
      { hash: "00", value: new Amount(-100_000_000), tx: [], next: "bb" }
    ]
  ])("%s is decoded by its schema", (text, expected) => {
    assert.deepStrictEqual(Either.getOrThrow(decoded(block, text)), expected)
  })

  it.each([
    "{\"hash\":\"00\",\"value\":1,\"tx\":[]}",
    "{\"hash\":\"0\",\"value\":0.00000001,\"tx\":[]}",
    "{\"hash\":5,\"value\":0.00000001,\"tx\":[]}",
    "{\"hash\":\"00\",\"value\":0.00000001,\"tx\":[\"aa\",5]}",
    "{\"hash\":\"00\",\"value\":0.00000001,\"tx\":[],\"more\":1}",
    "{\"hash\":\"00\",\"value\":0.00000001,\"tx\":[],\"toString\":\"x\"}",
    "{\"hash\":\"00\",\"tx\":[]}",
    "[]",
    "null"
  ])("%s is not what the schema describes", (text) => {
    assert.isTrue(Either.isLeft(decoded(block, text)))
  })

  it("may be an object whose names are data", () => {
    const sizes = Result.map("txid", Result.integer("Its size"))
    assert.deepStrictEqual(Either.getOrThrow(decoded(sizes, "{\"aa\":1}")), { aa: 1 })
    assert.isTrue(Either.isLeft(decoded(sizes, "{\"aa\":1.5}")))
  })

  it.each([
    [Result.boolean(""), "true", true],
    [Result.nothing(""), "null", null],
    [Result.time(""), "1", 1],
    [Result.number(""), "0.5", 0.5],
    [Result.integer(""), "5", 5],
    [Result.any(""), "[]", []]
  ])("may be a scalar: case %#", (schema, text, value) => {
    assert.deepStrictEqual(Either.getOrThrow(decoded(schema, text)), value)
  })

  it("is encoded by its schema as it was decoded", () => {
    const text = "{\"hash\":\"00\",\"value\":12.30000000,\"tx\":[\"aa\"]}"
    const encoded = Schema.encodeUnknownSync(block)(Either.getOrThrow(decoded(block, text)))
    assert.strictEqual(encodeJson(encoded), text)
  })
})

describe("the lines of the help", () => {
  it("shows one member on each line", () => {
    assert.deepStrictEqual(Result.describe(block), [
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
    assert.deepStrictEqual(Result.describe(Result.map("txid", Result.boolean("In it?"), "All of them")), [
      ["{", "(json object) All of them"],
      ["  \"txid\": true|false,", "(boolean) In it?"],
      ["  ...", ""],
      ["}", ""]
    ])
  })
})

describe("jsonSchemaOf", () => {
  it("is JSON Schema", () => {
    assert.deepStrictEqual(JSON.parse(encodeJson(Result.jsonSchemaOf(block))), {
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

/** The compiler runs this test: without an error where one is expected, the types of answers say nothing. */
describe("the value of a handler", () => {
  const define = <const R extends ReadonlyArray<MethodResult>>(
    results: R,
    value: AnswerOf<R>
  ): string =>
    encodeJson(value) +
    method(contract({ name: "x", group: "Hidden", summary: "", params: {}, results, examples: [] }), () =>
      Effect.succeed(value)).name

  const count = Result.integer("A count")
  const structure = Schema.Struct({ count, note: Schema.optional(Result.string("A note")) })

  it("has the form of a result, in any way that the encoder writes", () => {
    const text = new RawJson<Schema.Schema.Type<typeof structure>>("{\"count\":1}")
    assert.strictEqual(define([{ schema: structure }], { count: 1, note: undefined }), "{\"count\":1}x")
    assert.strictEqual(define([{ schema: structure }], text), "{\"count\":1}x")
    assert.strictEqual(define([{ schema: count }, { schema: structure }], 1), "1x")
    assert.strictEqual(define([{ schema: Schema.Array(count) }], new LazyArray([1])), "[1]x")
    assert.strictEqual(define([{ schema: Result.map("n", count) }], new LazyMap([["n", 1]])), "{\"n\":1}x")
    assert.strictEqual(define([{ schema: Result.map("n", count) }], new Map([["n", 1]])), "{\"n\":1}x")
    assert.strictEqual(define([{ schema: Result.any("") }], [1, "a"]), "[1,\"a\"]x")
  })

  it("does not compile in another form", () => {
    // @ts-expect-error -- another type
    define([{ schema: count }], "1")
    // @ts-expect-error -- a required member may be missing
    define([{ schema: structure }], { count: [1][0] })
    // @ts-expect-error -- text of another value
    define([{ schema: structure }], new RawJson<number>("1"))
    // @ts-expect-error -- a class where all members are optional
    define([{ schema: Schema.Struct({ note: Schema.optional(Result.string("")) }) }], new Amount(1))
    // @ts-expect-error -- items of another type
    define([{ schema: Schema.Array(Result.amount("")) }], new LazyArray([1]))
    // @ts-expect-error -- values of another type
    define([{ schema: Result.map("n", count) }], new Map([["n", "1"]]))
  })
})
