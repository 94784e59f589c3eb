import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { JsonValue } from "../../../src/rpc/json/encodeJson.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import { contract } from "../../../src/rpc/method/contract.ts"
import { method } from "../../../src/rpc/method/method.ts"
import { type CallContext, type Method, methodTable } from "../../../src/rpc/method/methodTable.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import { MOST_WORK } from "../../../src/rpc/method/work.ts"
import { SlowLane } from "../../../src/rpc/SlowLane.ts"
import { ANY_RESULT } from "../../support/fakeMethod.ts"

const CONTEXT: CallContext = {
  wallet: undefined,
  peer: "127.0.0.1:1",
  remote: false,
  share: [],
  user: undefined,
  rights: undefined,
  methods: new Map(),
  turns: new SlowLane().open(),
  room: Number.MAX_SAFE_INTEGER,
  work: { bytes: MOST_WORK },
  running: () => []
}

/** Calls a method with params as JSON text; returns the result as JSON text, or code and message of the error. */
const call = (target: Method, params: string): string | ReadonlyArray<number | string> => {
  const given = parseJson(params)
  if (given === undefined || given === null || typeof given !== "object" || "text" in given) {
    throw new Error(`no params: ${params}`)
  }
  return Effect.runSync(Effect.match(target.call(given, CONTEXT), {
    onSuccess: (result) => encodeJson(result),
    onFailure: ({ code, message }) => [code, message]
  }))
}

const echoing = <P extends Param.Params>(name: string, params: P): Method =>
  method(
    contract({ name, group: "Util", summary: "Returns what it got.", params, results: ANY_RESULT, examples: [] }),
    (decoded) => Effect.succeed(Object.values(decoded).map((value) => (value ?? null) as JsonValue))
  )

const getblockhash = echoing("getblockhash", { height: Param.int32("The height.") })

const getblock = echoing("getblock", {
  blockhash: Param.string("The block."),
  verbosity: Param.alias(Param.withDefault(Param.verbosity("How much."), 1), "verbose")
})

const nameScan = echoing("name_scan", {
  start: Param.withDefault(Param.string("Where to start."), ""),
  count: Param.withDefault(Param.int32("How many."), 500),
  options: Param.notNull(Param.orEmpty(Param.object({ prefix: Param.optional(Param.string("")) }, "Options.")))
})

const listunspent = echoing("listunspent", {
  minconf: Param.withDefault(Param.int32(""), 1),
  query_options: Param.orEmpty(
    Param.namedOptions({
      minimumAmount: Param.optional(Param.amount("")),
      includeNames: Param.optional(Param.boolean(""))
    }, "")
  )
})

describe("params by position", () => {
  it.each<readonly [Method, string, string]>([
    [getblockhash, "[7]", "[7]"],
    [getblock, "[\"x\"]", "[\"x\",1]"],
    [getblock, "[\"x\",null]", "[\"x\",1]"],
    [getblock, "[\"x\",true]", "[\"x\",1]"],
    [getblock, "[\"x\",false]", "[\"x\",0]"],
    [nameScan, "[]", "[\"\",500,{}]"],
    [nameScan, "[null,null]", "[\"\",500,{}]"],
    [nameScan, "[\"d/\",5,{\"prefix\":\"d/b\"}]", "[\"d/\",5,{\"prefix\":\"d/b\"}]"]
  ])("case %#: %j", (target, params, result) => {
    assert.strictEqual(call(target, params), result)
  })

  it("answers too few and too many with the usage text, which starts with the synopsis", () => {
    for (const params of ["[]", "[1,2]", "{}"]) {
      const [code, message] = call(getblockhash, params)
      assert.strictEqual(code, -1)
      assert.match(String(message), /^getblockhash height\n\n/)
    }
  })

  it("names every position of the wrong type, as recorded from the reference node", () => {
    assert.deepStrictEqual(call(getblockhash, "[\"abc\"]"), [
      -3,
      "Wrong type passed:\n{\n    \"Position 1 (height)\": \"JSON value of type string is not of expected type number\"\n}"
    ])
    assert.deepStrictEqual(call(nameScan, "[1,\"a\"]"), [
      -3,
      "Wrong type passed:\n{\n    \"Position 1 (start)\": \"JSON value of type number is not of expected type string\",\n" +
      "    \"Position 2 (count)\": \"JSON value of type string is not of expected type number\"\n}"
    ])
  })

  it("treats a null for a required parameter as a wrong type", () => {
    assert.deepStrictEqual(call(getblockhash, "[null]"), [
      -3,
      "Wrong type passed:\n{\n    \"Position 1 (height)\": \"JSON value of type null is not of expected type number\"\n}"
    ])
  })

  it("refuses a null for the options of a name method, by position and by name", () => {
    const error = [-3, "JSON value of type null is not of expected type object"]
    assert.deepStrictEqual(call(nameScan, "[\"\",1,null]"), error)
    assert.deepStrictEqual(call(nameScan, "{\"options\":null}"), error)
  })

  it.each([["99999999999"], ["1.5"], ["1.0"], ["1e2"]])("refuses the integer %s", (text) => {
    assert.deepStrictEqual(call(getblockhash, `[${text}]`), [-1, "JSON integer out of range"])
  })
})

describe("params by name", () => {
  it.each<readonly [Method, string, string]>([
    [getblockhash, "{\"height\":7}", "[7]"],
    [getblock, "{\"verbosity\":2,\"blockhash\":\"x\"}", "[\"x\",2]"],
    [getblock, "{\"verbose\":false,\"blockhash\":\"x\"}", "[\"x\",0]"],
    [getblock, "{\"args\":[\"x\"],\"verbosity\":2}", "[\"x\",2]"],
    [getblock, "{\"args\":[\"x\",3]}", "[\"x\",3]"],
    [getblock, "{\"args\":5,\"blockhash\":\"x\"}", "[\"x\",1]"],
    [nameScan, "{\"count\":5}", "[\"\",5,{}]"],
    [nameScan, "{\"args\":[\"d/\"],\"options\":{\"prefix\":\"d/b\"}}", "[\"d/\",500,{\"prefix\":\"d/b\"}]"],
    [listunspent, "{\"minimumAmount\":1}", "[1,{\"minimumAmount\":100000000}]"],
    [listunspent, "{\"query_options\":{\"minimumAmount\":1}}", "[1,{\"minimumAmount\":100000000}]"],
    [listunspent, "{\"args\":[6],\"includeNames\":true}", "[6,{\"includeNames\":true}]"]
  ])("case %#: %j", (target, params, result) => {
    assert.strictEqual(call(target, params), result)
  })

  it.each<readonly [Method, string, string]>([
    [getblockhash, "{\"height\":0,\"foo\":1}", "Unknown named parameter foo"],
    [getblockhash, "{\"height\":0,\"height\":1}", "Parameter height specified multiple times"],
    [getblockhash, "{\"__proto__\":0}", "Unknown named parameter __proto__"],
    [getblock, "{\"blockhash\":\"x\",\"verbose\":1,\"verbosity\":1}", "Unknown named parameter verbose"],
    [
      nameScan,
      "{\"args\":[\"d/\",2],\"count\":1}",
      "Parameter count specified twice both as positional and named argument"
    ],
    [
      getblock,
      "{\"args\":[\"x\",2],\"verbose\":1}",
      "Parameter verbosity|verbose specified twice both as positional and named argument"
    ],
    [nameScan, "{\"prefix\":\"d/\"}", "Unknown named parameter prefix"],
    [
      listunspent,
      "{\"minimumAmount\":1,\"query_options\":{}}",
      "Parameter query_options conflicts with parameter minimumAmount"
    ]
  ])("case %#: %j is -8", (target, params, message) => {
    assert.deepStrictEqual(call(target, params), [-8, message])
  })

  it("fills holes with nulls, and leaves the end open", () => {
    assert.deepStrictEqual(call(getblock, "{\"verbosity\":2}"), [
      -3,
      "Wrong type passed:\n{\n    \"Position 1 (blockhash)\": \"JSON value of type null is not of expected type string\"\n}"
    ])
  })
})

describe("methodTable", () => {
  it("joins groups, and refuses two methods with one name", () => {
    assert.deepStrictEqual([...methodTable([getblock], [nameScan]).keys()], ["getblock", "name_scan"])
    assert.throws(() => methodTable([getblock], [getblock]), /two methods have the name getblock/)
  })
})
