import { assert, describe, it } from "@effect/vitest"
import { Either, ParseResult, Schema } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { Json } from "../../../src/rpc/json/json.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import { RpcError } from "../../../src/rpc/method/RpcError.ts"

const json = (text: string): Json => {
  const value = parseJson(text)
  if (value === undefined) throw new Error(`not JSON: ${text}`)
  return value
}

/** The result of a parameter for a JSON text: its value, or code and message of the error. */
const read = (param: Param.Param<unknown>, text: string): unknown => {
  const outcome = Param.decodedValue(param, json(text), "label")
  return Either.isRight(outcome) ? outcome.right : [outcome.left.code, outcome.left.message]
}

const OUT_OF_RANGE = [-1, "JSON integer out of range"]
const HASH = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"

describe("integers", () => {
  it.each([
    ["int32", "2147483647", 2147483647],
    ["int32", "2147483648", OUT_OF_RANGE],
    ["int32", "-2147483648", -2147483648],
    ["int32", "-2147483649", OUT_OF_RANGE],
    ["int32", "99999999999", OUT_OF_RANGE],
    ["int32", "1.5", OUT_OF_RANGE],
    ["int32", "1.0", OUT_OF_RANGE],
    ["int32", "1e2", OUT_OF_RANGE],
    ["uint32", "0", 0],
    ["uint32", "-1", OUT_OF_RANGE],
    ["uint32", "4294967295", 4294967295],
    ["uint32", "4294967296", OUT_OF_RANGE],
    ["int64", "9007199254740991", 9007199254740991],
    ["int64", "99999999999999999999", OUT_OF_RANGE],
    ["int64", "-99999999999999999999", OUT_OF_RANGE],
    ["verbosity", "true", 1],
    ["verbosity", "false", 0],
    ["verbosity", "3", 3],
    ["verbosity", "1.0", OUT_OF_RANGE],
    ["verbosity", "\"1\"", [-3, "JSON value of type string is not of expected type number"]]
  ])("%s reads %s as %s", (kind, text, expected) => {
    const params = { int32: Param.int32, uint32: Param.uint32, int64: Param.int64, verbosity: Param.verbosity }
    const make = new Map(Object.entries(params)).get(kind)
    assert.isDefined(make)
    assert.deepStrictEqual(read(make?.("") ?? Param.json(""), text), expected)
  })
})

describe("the schema of a parameter", () => {
  const options = Param.object({
    txids: Param.array(Param.hash("A txid."), "The txids."),
    verbosity: Param.withDefault(Param.verbosity("The detail."), 1)
  }, "Options.")

  it("decodes what a call decodes", () => {
    const given = json(`{"txids":["${HASH}"]}`)
    const decoded = Schema.decodeUnknownSync(options.schema)(given)
    assert.deepStrictEqual(decoded, Either.getOrThrow(Param.decodedValue(options, given, "options")))
    assert.deepStrictEqual(decoded.verbosity, 1)
  })

  it.each([
    ["{\"txids\":[\"x\"]}", ["txids", 0]],
    ["{\"txids\":{}}", ["txids"]],
    ["{\"txids\":[],\"verbosity\":[]}", ["verbosity"]],
    ["{}", ["txids"]],
    ["[]", []]
  ])("names the place of what it refuses: %s", (text, path) => {
    const outcome = Schema.decodeUnknownEither(options.schema)(json(text))
    assert.isTrue(Either.isLeft(outcome))
    const [issue] = Either.isLeft(outcome) ? ParseResult.ArrayFormatter.formatErrorSync(outcome.left) : []
    assert.deepStrictEqual(issue?.path, path)
  })

  it("refuses what no JSON reader returns", () => {
    assert.isTrue(Either.isLeft(Schema.decodeUnknownEither(options.schema)({ txids: [] })))
    assert.isTrue(Either.isLeft(Schema.decodeUnknownEither(Param.json("").schema)(5)))
  })
})

describe("hash", () => {
  it("reads 64 digits in either case into wire order", () => {
    for (const text of [HASH, HASH.toUpperCase()]) {
      assert.strictEqual(displayHash(Either.getOrThrow(Param.decodedValue(Param.hash(""), text, "blockhash"))), HASH)
    }
  })

  it.each([
    ["\"abc\"", "label must be of length 64 (not 3, for 'abc')"],
    ["\"\"", "label must be of length 64 (not 0, for '')"],
    [`"${HASH}00"`, `label must be of length 64 (not 66, for '${HASH}00')`],
    [`"${HASH.slice(1)}g"`, `label must be hexadecimal string (not '${HASH.slice(1)}g')`],
    [`"0x${HASH.slice(2)}"`, `label must be hexadecimal string (not '0x${HASH.slice(2)}')`],
    ["\"ä\"", "label must be of length 64 (not 2, for 'ä')"]
  ])("refuses %s", (text, message) => {
    assert.deepStrictEqual(read(Param.hash(""), text), [-8, message])
  })

  it("uses a label in messages if it has one", () => {
    assert.deepStrictEqual(read(Param.hash("", { label: "parameter 1" }), "\"\""), [
      -8,
      "parameter 1 must be of length 64 (not 0, for '')"
    ])
  })
})

describe("other kinds", () => {
  it.each([
    [Param.hex(""), "\"00fF\"", new Uint8Array([0, 255])],
    [Param.hex(""), "\"0\"", [-8, "label must be hexadecimal string (not '0')"]],
    [Param.hex(""), "\"zz\"", [-8, "label must be hexadecimal string (not 'zz')"]],
    [Param.hexText(""), "\"zz\"", "zz"],
    [Param.boolean(""), "true", true],
    [Param.boolean(""), "1", [-3, "JSON value of type number is not of expected type bool"]],
    [Param.string(""), "5", [-3, "JSON value of type number is not of expected type string"]],
    [Param.double(""), "1.5e3", 1500],
    [Param.double(""), "1e999", [-1, "JSON double out of range"]],
    [Param.amount(""), "0.1", 10_000_000],
    [Param.amount(""), "\"0.1\"", 10_000_000],
    [Param.amount(""), "-1", [-3, "Amount out of range"]],
    [Param.array(Param.int32(""), ""), "[1,2]", [1, 2]],
    [Param.array(Param.int32(""), ""), "[1,\"2\"]", [-3, "JSON value of type string is not of expected type number"]],
    [Param.array(Param.hash(""), ""), "[\"x\"]", [-8, "label must be of length 64 (not 1, for 'x')"]],
    [Param.array(Param.hash(""), ""), "{}", [-3, "JSON value of type object is not of expected type array"]]
  ])("case %#", (param: Param.Param<unknown>, text, expected) => {
    assert.deepStrictEqual(read(param, text), expected)
  })

  it("refines the values of another kind", () => {
    const even = Param.refined(Param.int32(""), (value) => {
      if (value % 2 === 0) return value / 2
      return RpcError.invalidParameter("odd")
    })
    assert.strictEqual(read(even, "4"), 2)
    assert.deepStrictEqual(read(even, "3"), [-8, "odd"])
    assert.deepStrictEqual(read(even, "\"4\""), [-3, "JSON value of type string is not of expected type number"])
  })

  it("reads values with a custom rule", () => {
    const heightOrHash = Param.custom({
      words: "string or numeric",
      description: "",
      read: (value, label) => typeof value === "string" ? Param.readHash(value, { label }) : "height"
    })
    assert.instanceOf(read(heightOrHash, `"${HASH}"`), Uint8Array)
    assert.strictEqual(read(heightOrHash, "7"), "height")
  })
})

describe("object", () => {
  const options = Param.object({
    nameEncoding: Param.optional(Param.string("")),
    minConf: Param.withDefault(Param.int32(""), 1),
    allowExpired: Param.optional(Param.boolean(""))
  }, "")

  it("reads known members, defaults for missing ones, and ignores unknown ones", () => {
    assert.deepStrictEqual(read(options, "{\"nameEncoding\":\"hex\",\"streamID\":\"abc\"}"), {
      nameEncoding: "hex",
      minConf: 1,
      allowExpired: undefined
    })
  })

  it("treats a null as a missing member", () => {
    assert.deepStrictEqual(read(options, "{\"minConf\":null}"), {
      nameEncoding: undefined,
      minConf: 1,
      allowExpired: undefined
    })
  })

  it.each([
    ["{\"nameEncoding\":42}", "JSON value of type number for field nameEncoding is not of expected type string"],
    ["{\"allowExpired\":\"yes\"}", "JSON value of type string for field allowExpired is not of expected type bool"],
    [
      "{\"minConf\":\"1\",\"allowExpired\":1}",
      "JSON value of type number for field allowExpired is not of expected type bool"
    ]
  ])("refuses %s", (text, message) => {
    assert.deepStrictEqual(read(options, text), [-3, message])
  })

  it("checks types before it reads values", () => {
    assert.deepStrictEqual(read(options, "{\"minConf\":1.5}"), OUT_OF_RANGE)
    assert.deepStrictEqual(read(options, "{\"minConf\":1.5,\"nameEncoding\":1}"), [
      -3,
      "JSON value of type number for field nameEncoding is not of expected type string"
    ])
  })

  it("names a required member that is missing", () => {
    const outpoint = Param.object({ txid: Param.hash(""), vout: Param.uint32("") }, "")
    assert.deepStrictEqual(read(outpoint, `{"txid":"${HASH}"}`), [-3, "Missing vout"])
    assert.deepStrictEqual(read(outpoint, `{"txid":"x","vout":0}`), [-8, "txid must be of length 64 (not 1, for 'x')"])
  })

  it("refuses unknown members in strict mode", () => {
    const strict = Param.object({ a: Param.optional(Param.int32("")) }, "", "refuse")
    assert.deepStrictEqual(read(strict, "{\"a\":1,\"b\":2}"), [-3, "Unexpected key b"])
    assert.deepStrictEqual(read(strict, "{\"__proto__\":2}"), [-3, "Unexpected key __proto__"])
    assert.deepStrictEqual(read(strict, "{\"a\":1}"), { a: 1 })
  })

  it("defaults to an empty object if it is optional", () => {
    assert.deepStrictEqual(Param.orEmpty(options).fallback?.value, {
      nameEncoding: undefined,
      minConf: 1,
      allowExpired: undefined
    })
  })

  it("passes typed values to the handler", () => {
    const readRecord = Param.recordReader({ height: Param.int32(""), tip: Param.optional(Param.hash("")) })
    const decoded = Either.getOrThrow(readRecord((_, position) => [json("7")][position]))
    const height: number = decoded.height
    const tip: Uint8Array | undefined = decoded.tip
    assert.deepStrictEqual([height, tip], [7, undefined])
  })
})
