import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Json } from "../../../src/rpc/json/json.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedText, stringAt } from "../../support/recordedJson.ts"
import { IN_HEX, rowsText, scanned, textOf, tip } from "./recordedNames.ts"

const namesIn = (json: Json): ReadonlyArray<string> => items(json).map((row) => stringAt(row, "name"))

layer(methodNode())("name_scan", (it) => {
  const ALL = 1_000_000

  it.effect("lists all names in the reference node's order, in hex and as text", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual((yield* call("name_scan", "", ALL, IN_HEX)).text, rowsText(scanned))
      assert.strictEqual((yield* call("name_scan", "", ALL)).text, rowsText(items(at(tip, "nameScanAscii"))))
      assert.strictEqual((yield* call("name_scan")).text, rowsText(items(at(tip, "nameScanAscii"))))
      assert.strictEqual((yield* call("name_scan", null, null)).text, rowsText(items(at(tip, "nameScanAscii"))))
    }))

  it.effect("accepts any count", () =>
    Effect.gen(function*() {
      const { call, refusalOfText } = yield* MethodNode
      for (const count of [0, -1, -(2 ** 31)]) assert.strictEqual((yield* call("name_scan", "", count)).text, "[]")
      for (const count of [1, 7, 390, 391, 392, 2 ** 31 - 1]) {
        const { text } = yield* call("name_scan", "", count, IN_HEX)
        assert.strictEqual(text, rowsText(scanned.slice(0, count)))
      }
      for (const count of ["2147483648", "99999999999", "1.0", "1e2"]) {
        assert.deepStrictEqual(yield* refusalOfText("name_scan", `["",${count}]`), {
          code: -1,
          message: "JSON integer out of range"
        })
      }
      assert.deepStrictEqual(yield* refusalOfText("name_scan", "[1,\"a\"]"), {
        code: -3,
        message:
          "Wrong type passed:\n{\n    \"Position 1 (start)\": \"JSON value of type number is not of expected type " +
          "string\",\n    \"Position 2 (count)\": \"JSON value of type string is not of expected type number\"\n}"
      })
    }))

  it.effect("returns all pages, each beginning with the last name of the one before", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      for (const size of [2, 7, 50]) {
        const rows: Array<Json> = []
        for (let start = "";;) {
          const page = items((yield* call("name_scan", start, size, IN_HEX)).json)
          const fresh = page.filter((row) => rows.length === 0 || stringAt(row, "name") !== start)
          if (fresh.length === 0) break
          rows.push(...fresh)
          start = stringAt(fresh.at(-1) ?? null, "name")
        }
        assert.strictEqual(rowsText(rows), rowsText(scanned))
      }
    }))

  it.effect("begins with start names that need not exist", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const all = scanned.map((row) => stringAt(row, "name"))
      const isBefore = (a: string, b: string): boolean => a.length < b.length || (a.length === b.length && a < b)
      for (
        const start of ["", "00", "642f", "642f62", "ff".repeat(9), "ff".repeat(255), "00".repeat(300), all[100] ?? ""]
      ) {
        const { json } = yield* call("name_scan", start, ALL, IN_HEX)
        assert.deepStrictEqual(namesIn(json), all.filter((name) => !isBefore(name, start)), start)
      }
    }))

  it.effect("filters by prefix, expression and depth, all at once", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const wanted = (choose: (row: Json) => boolean, count = ALL) => rowsText(scanned.filter(choose).slice(0, count))
      const scan = (options: object, count = ALL, start = "") =>
        Effect.map(call("name_scan", start, count, { ...IN_HEX, ...options }), ({ text }) => text)
      const nameOf = (row: Json) => stringAt(row, "name")
      const isText = (row: Json) => Buffer.from(textOf(nameOf(row)), "utf8").toString("hex") === nameOf(row)
      const depthOf = (row: Json) => 601 - Number(recordedText(at(row, "height")))

      assert.strictEqual(yield* scan({ prefix: "642f" }), wanted((row) => nameOf(row).startsWith("642f")))
      assert.strictEqual(yield* scan({ prefix: "" }), rowsText(scanned))
      assert.strictEqual(yield* scan({ prefix: "ff".repeat(20) }), "[]")
      for (const expression of ["^d/", "[0-9]$", "e", "^(d|id)/[a-z]+", "\\d\\d", "", "^$", "ü"]) {
        const pattern = new RegExp(expression, "u")
        const matches = (row: Json) => isText(row) && pattern.test(textOf(nameOf(row)))
        assert.strictEqual(yield* scan({ regexp: expression }), wanted(matches), expression)
        assert.strictEqual(yield* scan({ regexp: expression }, 3), wanted(matches, 3), expression)
        assert.strictEqual(
          yield* scan({ regexp: expression, prefix: "69642f", minConf: 10, maxConf: 300 }, 20),
          wanted(
            (row) => matches(row) && nameOf(row).startsWith("69642f") && depthOf(row) >= 10 && depthOf(row) <= 300,
            20
          )
        )
      }
      for (
        const [minConf, maxConf] of [[1, 1], [30, 31], [1, 0], [2 ** 31 - 1, 1], [1, 2 ** 31 - 1], [601, 601]] as const
      ) {
        const inside = (row: Json) => depthOf(row) >= minConf && depthOf(row) <= maxConf
        assert.strictEqual(yield* scan({ minConf, maxConf }), wanted(inside), `${minConf} to ${maxConf}`)
      }
    }))

  it.effect("refuses invalid filters", () =>
    Effect.gen(function*() {
      const { refusal, refusalOfText } = yield* MethodNode
      const scan = (options: object) => refusal("name_scan", "", 10, options)
      for (const minConf of [0, -1]) {
        assert.deepStrictEqual(yield* scan({ minConf }), { code: -8, message: "minConf must be >= 1" })
      }
      assert.deepStrictEqual(yield* scan({ maxConf: -1 }), { code: -8, message: "maxConf must not be negative" })
      for (
        const [field, value, given, expected] of [
          ["minConf", "1", "string", "number"],
          ["maxConf", true, "bool", "number"],
          ["prefix", 1, "number", "string"],
          ["regexp", {}, "object", "string"]
        ] as const
      ) {
        assert.deepStrictEqual(yield* scan({ [field]: value }), {
          code: -3,
          message: `JSON value of type ${given} for field ${field} is not of expected type ${expected}`
        })
      }
      assert.deepStrictEqual(yield* scan({ prefix: "ä" }), {
        code: -1000,
        message: "Name/value is invalid for encoding ascii"
      })
      for (const expression of ["(", "[", "*", "a{2,1}", "\\", "(?!a)", "(a)\\1"]) {
        const { code, message } = yield* scan({ regexp: expression })
        assert.strictEqual(code, -1, expression)
        assert.notInclude(message, "\n")
      }
      // The options are checked even where no row is requested.
      assert.strictEqual((yield* refusal("name_scan", "", 0, { regexp: "(" })).code, -1)
      assert.strictEqual((yield* refusalOfText("name_scan", "[\"\",10,{\"minConf\":1.5}]")).code, -1)
    }))

  it.effect("stays fast for any expression", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const began = performance.now()
      for (
        const expression of [
          "(a+)+$",
          "(x+x+)+y",
          "(.*)*(.*)*(.*)*!",
          "^(([a-z])+.)+[A-Z]([a-z])+$",
          "(a?){200}a{200}",
          "(.{0,400}){2}!"
        ]
      ) {
        assert.strictEqual((yield* call("name_scan", "", ALL, { regexp: `${expression}\\x00` })).text, "[]")
      }
      const tooLarge = { code: -1, message: "the regular expression is too large" }
      for (const expression of ["a".repeat(513), "a{1000}".repeat(70), "(a?){1000}".repeat(10), "(".repeat(100_000)]) {
        assert.deepStrictEqual(yield* refusal("name_scan", "", 1, { regexp: expression }), tooLarge)
      }
      assert.isBelow(performance.now() - began, 10_000)
      assert.strictEqual((yield* call("name_scan", "", 1, { regexp: "a".repeat(512) })).text, "[]")
    }))
})
