import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
import type { Json } from "../../../src/rpc/json/json.ts"
import { layer } from "../../support/layer.ts"
import { type Calls, MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedText, stringAt } from "../../support/recordedJson.ts"
import { IN_HEX, names, rowsText, scanned, SYNCING, textOf } from "./recordedNames.ts"

/** A name in printable ASCII, expired or not, and its record in hex. */
const find = (expired: boolean): { readonly name: string; readonly hex: string; readonly show: Json } => {
  const found =
    names.find((each) =>
      at(each, "show", "expired") === expired && /^d\/[a-z0-9]+$/.test(textOf(stringAt(each, "nameHex"))) &&
      stringAt(each, "show", "value") !== ""
    ) ?? assert.fail("no such name")
  return { name: textOf(stringAt(found, "nameHex")), hex: stringAt(found, "nameHex"), show: at(found, "show") }
}
const alive = find(false)
const expired = find(true)

layer(methodNode())("name_show and name_history", (it) => {
  it.effect("return the same result as the reference node, for every name", () =>
    Effect.gen(function*() {
      const { call, names: nameDb } = yield* MethodNode
      assert.lengthOf(names, 391)
      for (const name of names) {
        const hex = stringAt(name, "nameHex")
        const show = yield* call("name_show", hex, { ...IN_HEX, allowExpired: true })
        assert.strictEqual(show.text, recordedText(at(name, "show")))
        // Now the record is in memory, and so is its text.
        for (let again = 0; again < 2; again++) {
          const { text } = yield* call("name_show", hex, { ...IN_HEX, allowExpired: true })
          assert.strictEqual(text, show.text)
        }
        assert.isDefined(nameDb.atOnce(nameKey(fromHex(hex) ?? assert.fail()))?.record)
        assert.strictEqual((yield* call("name_history", hex, IN_HEX)).text, rowsText(items(at(name, "history"))))
      }
    }))

  it.effect("return every name in plain text, or refuse it with the same words", () =>
    Effect.gen(function*() {
      const { callText } = yield* MethodNode
      for (const name of names) {
        const { showPlain } = JSON.parse(recordedText(name))
        if (showPlain === undefined) continue
        const answer = yield* callText("name_show", JSON.stringify([textOf(stringAt(name, "nameHex"))])).pipe(
          Effect.match({
            onSuccess: ({ value }) => value,
            onFailure: ({ code, message }) => ({ error: { code, message } })
          })
        )
        assert.deepStrictEqual(answer, showPlain)
      }
    }))

  it.effect("rest on the whole chain, and say so to a call that asks", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const { name } = alive
      assert.notProperty((yield* call("name_show", name)).value, "proof")
      for (const requireProof of ["work", "signatures", "full"]) {
        assert.propertyVal((yield* call("name_show", name, { requireProof })).value, "proof", "full")
      }
      const { value } = yield* call("name_scan", name, 1, { requireProof: "full" })
      assert.propertyVal(Array.isArray(value) ? value[0] : undefined, "proof", "full")
      assert.deepStrictEqual(yield* refusal("name_show", name, { requireProof: "some" }), {
        code: -8,
        message: "Invalid value for requireProof: some"
      })
      assert.deepStrictEqual((yield* call("getsyncstatus")).value, {
        phase: "ready",
        proof: "full",
        offline: true,
        height: 600,
        headers: 600,
        synced: true,
        percent: 100,
        secondsleft: 0,
        window: null
      })
    }))

  it.effect("refuse names that never existed, ascii ones by name and others in hex", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const absent = { code: -4, message: "name never existed: 'd/absent'" }
      assert.deepStrictEqual(yield* refusal("name_show", "d/absent"), absent)
      assert.deepStrictEqual(yield* refusal("name_show", "d/absent", { allowExpired: true }), absent)
      assert.deepStrictEqual(yield* refusal("name_show", ""), { code: -4, message: "name never existed: ''" })
      assert.deepStrictEqual(yield* refusal("name_show", "00FF", { nameEncoding: "hex" }), {
        code: -4,
        message: "name never existed: 0x00ff"
      })
      assert.deepStrictEqual(yield* refusal("name_history", "d/absent"), {
        code: -4,
        message: "name not found: 'd/absent'"
      })
      // An error shows no more than this of a name.
      for (const length of [10_000, 100_000]) {
        assert.deepStrictEqual(yield* refusal("name_show", "x".repeat(length)), {
          code: -4,
          message: `name never existed: '${"x".repeat(10_000)}'`
        })
      }
    }))

  it.effect("return expired names on request", () =>
    Effect.gen(function*() {
      const { call, refusal, withOptions } = yield* MethodNode
      const gone = { code: -4, message: `name expired: '${expired.name}'` }
      assert.deepStrictEqual(yield* refusal("name_show", expired.name), gone)
      assert.deepStrictEqual(yield* refusal("name_show", expired.name, { allowExpired: false }), gone)
      assert.include((yield* call("name_show", expired.name, { allowExpired: true })).value, { expired: true })
      assert.deepStrictEqual(yield* refusal("name_show", expired.name, { allowExpired: null }), gone)
      const lenient = yield* withOptions({ allowExpired: true })
      assert.include((yield* lenient.call("name_show", expired.name)).value, { expired: true })
      assert.deepStrictEqual(yield* lenient.refusal("name_show", expired.name, { allowExpired: false }), gone)
      assert.strictEqual((yield* lenient.refusal("name_show", "d/absent")).code, -4)
    }))

  it.effect("encode names and values as the call, else the node, specifies (reference/rpc.md 5.1)", () =>
    Effect.gen(function*() {
      const { call, withOptions } = yield* MethodNode
      const value = stringAt(alive.show, "value")
      const encodings = (calls: Calls, name: string, options: object) =>
        Effect.map(calls.call("name_show", name, options), ({ json }) => [
          stringAt(json, "name"),
          stringAt(json, "name_encoding"),
          stringAt(json, "value"),
          stringAt(json, "value_encoding")
        ])
      const node = yield* MethodNode
      const plain = [alive.name, "ascii", textOf(value), "ascii"]
      assert.deepStrictEqual(yield* encodings(node, alive.name, {}), plain)
      assert.deepStrictEqual(yield* encodings(node, alive.name, { nameEncoding: "latin1", valueEncoding: "" }), plain)
      assert.deepStrictEqual(yield* encodings(node, alive.name, { streamID: "abc", nameEncoding: null }), plain)
      assert.deepStrictEqual(yield* encodings(node, alive.name, { valueEncoding: "hex" }), [
        alive.name,
        "ascii",
        value,
        "hex"
      ])
      assert.deepStrictEqual(
        yield* encodings(node, alive.hex.toUpperCase(), { nameEncoding: "hex", valueEncoding: "utf8" }),
        [
          alive.hex,
          "hex",
          textOf(value),
          "utf8"
        ]
      )
      const inHex = yield* withOptions({ nameEncoding: "hex", valueEncoding: "hex" })
      assert.deepStrictEqual(yield* encodings(inHex, alive.hex, { valueEncoding: "ascii" }), [
        alive.hex,
        "hex",
        textOf(value),
        "ascii"
      ])
      const binary = names.find((each) => stringAt(each, "nameHex") === "6a8c") ?? assert.fail()
      const shown = yield* call("name_show", "6a8c", {
        nameEncoding: "hex",
        valueEncoding: "ascii",
        allowExpired: true
      })
      assert.include(shown.value, { name: "6a8c", value: textOf(stringAt(binary, "show", "value")) })
    }))

  it.effect("omit names that an encoding cannot represent, and report that", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const binary = names.find((each) => /^(8|f)/.test(stringAt(each, "show", "value"))) ?? assert.fail()
      const { value } = yield* call("name_show", stringAt(binary, "nameHex"), {
        nameEncoding: "hex",
        allowExpired: true
      })
      assert.include(value, { value_error: "invalid data for ascii", value_encoding: "ascii" })
      assert.notProperty(value, "value")
    }))

  it.effect("refuse text that is not valid in its encoding", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const invalid = (encoding: string) => ({ code: -1000, message: `Name/value is invalid for encoding ${encoding}` })
      for (const method of ["name_show", "name_history", "name_scan"]) {
        for (const name of ["d/äö", "a\u0001b", "\0"]) {
          assert.deepStrictEqual(
            yield* refusal(method, ...(method === "name_scan" ? [name, 1] : [name])),
            invalid("ascii")
          )
        }
        for (const name of ["abc", "zz", "0x00"]) {
          const params = method === "name_scan" ? [name, 1] : [name]
          assert.deepStrictEqual(yield* refusal(method, ...params, { nameEncoding: "hex" }), invalid("hex"))
        }
      }
    }))

  it.effect("refuse invalid options", () =>
    Effect.gen(function*() {
      const { call, refusal, refusalOfText } = yield* MethodNode
      const type = (given: string, expected: string, field?: string) => ({
        code: -3,
        message: `JSON value of type ${given}${
          field === undefined ? "" : ` for field ${field}`
        } is not of expected type ${expected}`
      })
      for (const method of ["name_show", "name_history"]) {
        assert.deepStrictEqual(yield* refusal(method, alive.name, null), type("null", "object"))
        assert.deepStrictEqual(
          yield* refusal(method, alive.name, { nameEncoding: 42 }),
          type("number", "string", "nameEncoding")
        )
        assert.deepStrictEqual(yield* refusal(method, alive.name, { byHash: 5 }), type("number", "string", "byHash"))
        assert.strictEqual((yield* refusal(method, alive.name, [])).code, -3)
        assert.strictEqual((yield* refusal(method, alive.name, "x")).code, -3)
        assert.strictEqual((yield* refusal(method, 5)).code, -3)
        assert.strictEqual((yield* refusal(method)).code, -1)
        assert.deepStrictEqual(yield* refusalOfText(method, `{"name":"d/b","valueEncoding":"hex"}`), {
          code: -8,
          message: "Unknown named parameter valueEncoding"
        })
      }
      assert.deepStrictEqual(
        yield* refusal("name_show", alive.name, { allowExpired: "yes" }),
        type("string", "bool", "allowExpired")
      )
      assert.deepStrictEqual(yield* refusal("name_scan", "", 1, null), type("null", "object"))
      assert.strictEqual((yield* call("name_show", alive.name)).text, (yield* call("name_show", alive.name, {})).text)
    }))

  it.effect("find names by their hash", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const hashOf = (hex: string): string => toHex(hash256(fromHex(hex) ?? assert.fail()))
      const options = { ...IN_HEX, byHash: "sha256d", allowExpired: true }
      for (const name of names) {
        const hash = hashOf(stringAt(name, "nameHex"))
        assert.strictEqual((yield* call("name_show", hash, options)).text, recordedText(at(name, "show")))
      }
      assert.strictEqual(
        (yield* call("name_history", hashOf(alive.hex), { nameEncoding: "hex", byHash: "sha256d" })).text,
        (yield* call("name_history", alive.hex, { nameEncoding: "hex", byHash: "direct" })).text
      )
      for (const method of ["name_show", "name_history"]) {
        assert.deepStrictEqual(yield* refusal(method, `01${"42".repeat(31)}`, options), {
          code: -4,
          message: `name hash not found: ${"42".repeat(31)}01`
        })
        assert.deepStrictEqual(yield* refusal(method, "abcd", options), {
          code: -8,
          message: "SHA-256d hash must be 32 bytes long"
        })
        assert.deepStrictEqual(yield* refusal(method, alive.name, { byHash: "foo" }), {
          code: -8,
          message: "Invalid value for byHash: foo"
        })
      }
      assert.deepStrictEqual(
        yield* refusal("name_show", hashOf(expired.hex), { nameEncoding: "hex", byHash: "sha256d" }),
        {
          code: -4,
          message: `name expired: '${expired.name}'`
        }
      )
    }))

  it.effect("refuse only lookups that the operator disabled", () =>
    Effect.gen(function*() {
      const { withOptions } = yield* MethodNode
      const { call, refusal } = yield* withOptions({ nameHistory: false, nameHashIndex: false })
      const noHistory = { code: -1, message: "-namehistory is not enabled" }
      assert.deepStrictEqual(yield* refusal("name_history", alive.name), noHistory)
      assert.deepStrictEqual(yield* refusal("name_history", "d/äö"), noHistory)
      for (const kind of ["sha256d", "foo"]) {
        assert.deepStrictEqual(yield* refusal("name_show", alive.name, { byHash: kind }), {
          code: -1,
          message: "-namehashindex is not enabled"
        })
      }
      assert.include((yield* call("name_show", alive.name, { byHash: "direct" })).value, { name: alive.name })
    }))
})

layer(methodNode({ loading: true }))("while blocks are missing", (it) => {
  it.effect("a known name is returned, and an unknown one fails with -10", () =>
    Effect.gen(function*() {
      const { call, refusal, status } = yield* MethodNode
      assert.include((yield* call("name_show", alive.name)).value, { name: alive.name })
      assert.include((yield* call("name_show", expired.name, { allowExpired: true })).value, { expired: true })
      assert.strictEqual((yield* call("name_history", alive.hex, IN_HEX)).json !== null, true)
      assert.lengthOf(items((yield* call("name_scan", "", 5)).json), 5)
      assert.strictEqual((yield* call("name_scan", "", 0)).text, "[]")

      const unknownHash = ["42".repeat(32), { nameEncoding: "hex", byHash: "sha256d" }]
      const questions: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
        ["name_show", ["d/absent"]],
        ["name_show", [expired.name]],
        ["name_show", unknownHash],
        ["name_history", ["d/absent"]],
        ["name_history", unknownHash],
        ["name_scan", ["", 10, { prefix: "absent/" }]]
      ]
      for (const [method, params] of questions) assert.deepStrictEqual(yield* refusal(method, ...params), SYNCING)
      assert.strictEqual((yield* refusal("name_show", "d/äö")).code, -1000)

      yield* status.loaded
      for (const [method, params] of questions.slice(0, -1)) {
        assert.strictEqual((yield* refusal(method, ...params)).code, -4)
      }
      assert.strictEqual((yield* call("name_scan", "", 10, { prefix: "absent/" })).text, "[]")
    }))
})

layer(methodNode())("name_checkdb", (it) => {
  it.effect("finds names, claims and coins in agreement, even after a reorg", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual((yield* call("name_checkdb")).text, "true")
      const hash = (yield* call("getblockhash", 560)).value
      yield* call("invalidateblock", hash)
      assert.strictEqual((yield* call("getblockcount")).value, 559)
      assert.strictEqual((yield* call("name_checkdb")).text, "true")
      yield* call("reconsiderblock", hash)
      assert.strictEqual((yield* call("getblockcount")).value, 600)
      assert.strictEqual((yield* call("name_scan", "", 1_000_000, IN_HEX)).text, rowsText(scanned))
      assert.strictEqual((yield* call("name_checkdb")).text, "true")
    }))
})
