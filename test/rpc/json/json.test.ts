import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { runSteps } from "../../../src/protocol/steps.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../../../src/rpc/json/json.ts"
import { readBodySteps } from "../../../src/rpc/json/readBody.ts"
import { parseJson, readJson, readJsonSteps } from "../../../src/rpc/json/readJson.ts"

const parsed = (text: string): Json => {
  const value = parseJson(text)
  if (value === undefined) throw new Error(`not JSON: ${text.slice(0, 80)}`)
  return value
}

const objectOf = (text: string): JsonObject => {
  const value = parsed(text)
  if (!(value instanceof JsonObject)) throw new Error(`no object: ${text}`)
  return value
}

/** A value as `JSON.parse` returns it. */
const plain = (value: Json): unknown => {
  if (value instanceof JsonNumber) return value.value
  if (value instanceof JsonObject) {
    return Object.fromEntries(value.keys.map((key, at) => [key, plain(value.values[at] ?? null)]))
  }
  return Array.isArray(value) ? value.map(plain) : value
}

describe("parseJson", () => {
  it.prop("reads what JSON.stringify writes", { value: FastCheck.jsonValue() }, ({ value }) => {
    const text = JSON.stringify(value)
    assert.deepStrictEqual(plain(parsed(text)), JSON.parse(text))
  })

  it.prop("reads spaced text as well", { value: FastCheck.jsonValue() }, ({ value }) => {
    const text = `\r\n\t ${JSON.stringify(value, null, 3)}\n`
    assert.deepStrictEqual(plain(parsed(text)), JSON.parse(text))
  })

  it.prop("agrees with JSON.parse on damaged text, lone surrogates apart", {
    value: FastCheck.jsonValue(),
    at: FastCheck.nat(),
    char: FastCheck.constantFrom("{", "}", "[", "]", ",", ":", "\"", "\\", "0", "-", ".", "e", "t", " ", "\u0001", "u")
  }, ({ at, char, value }) => {
    const text = JSON.stringify(value)
    const position = at % text.length
    const damaged = text.slice(0, position) + char + text.slice(position + 1)
    if (/\\u[dD][89a-fA-F]/.test(damaged)) return
    let expected: unknown
    try {
      expected = { value: JSON.parse(damaged) }
    } catch {
      expected = undefined
    }
    const value2 = parseJson(damaged)
    // Repeated keys differ on purpose.
    if (value2 instanceof JsonObject && value2.repeatedKey() !== undefined) return
    assert.strictEqual(value2 === undefined, expected === undefined, damaged)
  })

  it.each([
    ["1e3"],
    ["1.10"],
    ["-0"],
    ["12345678901234567890"],
    ["0.00000000"],
    ["1E+05"],
    ["4.656542373906925e-10"]
  ])("keeps the spelling of %s", (text) => {
    const value = parsed(text)
    assert.instanceOf(value, JsonNumber)
    assert.strictEqual(encodeJson(value), text)
  })

  it.each([
    ["", "nothing"],
    [" ", "white space alone"],
    ["{\"a\":1} x", "text behind the value"],
    ["{\"a\":1}{}", "a second value"],
    ["{\"a\":1,}", "a comma at the end of an object"],
    ["[1,]", "a comma at the end of an array"],
    ["[,1]", "a comma at the start"],
    ["[1 2]", "no comma"],
    ["{\"a\" 1}", "no colon"],
    ["{\"a\":}", "no value"],
    ["{a:1}", "a name without quotes"],
    ["{1:1}", "a number as a name"],
    ["['a']", "apostrophes"],
    ["[1", "an open array"],
    ["{\"a\":1", "an open object"],
    ["\"a", "an open string"],
    ["]", "a bracket too many"],
    ["[}", "the wrong bracket"],
    ["01", "a leading zero"],
    ["-01", "a leading zero behind the sign"],
    ["+1", "a plus sign"],
    ["-", "a sign alone"],
    [".5", "no digit before the point"],
    ["1.", "no digit behind the point"],
    ["1e", "no exponent"],
    ["1e+", "no digit in the exponent"],
    ["0x10", "hexadecimal"],
    ["NaN", "NaN"],
    ["Infinity", "Infinity"],
    ["nul", "half a word"],
    ["nulll", "a word and a half"],
    ["True", "a word in capitals"],
    ["\"\u0001\"", "a control character"],
    ["\"\n\"", "a line break in a string"],
    ["\"\\x41\"", "an unknown escape"],
    ["\"\\u12g4\"", "an escape that is not a number"],
    ["\"\\u123\"", "a short escape"],
    ["\"\\ud83d\"", "the first half of a pair"],
    ["\"\\ud83dx\"", "the first half before a letter"],
    ["\"\\ud83d\\n\"", "the first half before another escape"],
    ["\"\\ud83d\\ud83d\"", "two first halves"],
    ["\"\\ude00\"", "the second half of a pair"],
    ["\ufeff1", "a byte order mark"],
    ["\u00a01", "a no-break space"],
    ["/* */ 1", "a comment"]
  ])("does not read %j: %s", (text) => {
    assert.isUndefined(parseJson(text))
  })

  it.each([
    ["\"\\u0041\\u00e4\\u20ac\"", "Aä€"],
    ["\"\\ud83d\\ude00\"", "😀"],
    ["\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\"", "a\"b\\c/d\b\f\n\r\t"],
    ["\"\\u0000\"", "\0"],
    ["\"äöü € 😀\u007f\"", "äöü € 😀\u007f"]
  ])("reads the string %s", (text, expected) => {
    assert.strictEqual(parsed(text), expected)
  })

  it.each([255, 256, 257, 300, 100_000])(
    "reads a string of %d characters, plain or with an escape at its end",
    (length) => {
      assert.strictEqual(parsed(`"${"ab".repeat(length)}"`), "ab".repeat(length))
      assert.strictEqual(parsed(`"${"x".repeat(length)}\\n"`), `${"x".repeat(length)}\n`)
      assert.isUndefined(parseJson(`"${"x".repeat(length)}\u0002"`))
      assert.isUndefined(parseJson(`"${"x".repeat(length)}`))
    }
  )

  it("reads 512 levels and no more", () => {
    assert.isDefined(parseJson("[".repeat(512) + "]".repeat(512)))
    assert.isUndefined(parseJson("[".repeat(513) + "]".repeat(513)))
    assert.isDefined(parseJson("{\"a\":".repeat(512) + "1" + "}".repeat(512)))
    assert.isUndefined(parseJson("{\"a\":".repeat(513) + "1" + "}".repeat(513)))
    assert.isUndefined(parseJson("[".repeat(2_000_000)))
  })

  it("reads up to the permitted number of values", () => {
    assert.isDefined(parseJson("[1,2,{\"a\":3}]", 5))
    assert.isUndefined(parseJson("[1,2,{\"a\":3}]", 4))
  })

  it("finds the first of repeated members, and reports which one is repeated", () => {
    const object = objectOf("{\"a\":1,\"b\":2,\"a\":3}")
    assert.strictEqual(encodeJson(object.get("a") ?? null), "1")
    assert.strictEqual(object.repeatedKey(), "a")
    assert.isUndefined(objectOf("{\"a\":1,\"b\":2}").repeatedKey())
  })

  it("finds members of a large object, the first of repeated ones", () => {
    const members = Array.from({ length: 1_000 }, (_, at) => `"k${at}":${at}`).join(",")
    const object = objectOf(`{${members},"k7":-1}`)
    assert.strictEqual(encodeJson(object.get("k7") ?? null), "7")
    assert.strictEqual(encodeJson(object.get("k999") ?? null), "999")
    assert.isUndefined(object.get("k1000"))
    assert.strictEqual(object.repeatedKey(), "k7")
  })

  it.each([["__proto__"], ["constructor"], ["toString"], ["hasOwnProperty"]])(
    "takes %s for a name like any other",
    (name) => {
      assert.isUndefined(objectOf("{}").get(name))
      assert.strictEqual(objectOf(`{"${name}":"x"}`).get(name), "x")
      assert.isUndefined(Reflect.get({}, "x"))
    }
  )
})

describe("typeOf", () => {
  it.each([["null", "null"], ["true", "bool"], ["1", "number"], ["\"x\"", "string"], ["[]", "array"], [
    "{}",
    "object"
  ]])(
    "calls %s %s",
    (text, type) => {
      assert.strictEqual(typeOf(parsed(text)), type)
    }
  )
})

describe("integerWithin", () => {
  it.each([
    ["2147483647", 2147483647],
    ["2147483648", undefined],
    ["-2147483648", -2147483648],
    ["-2147483649", undefined],
    ["0", 0],
    ["-0", 0],
    ["1.0", undefined],
    ["1e0", undefined],
    ["99999999999999999999", undefined]
  ])("reads %s as %s", (text, expected) => {
    assert.strictEqual(integerWithin(new JsonNumber(text), -(2 ** 31), 2 ** 31 - 1), expected)
  })
})

describe("a body whose elements are read again", () => {
  const BIG = Number.MAX_SAFE_INTEGER

  /** The body as it is without that; `undefined` if it is not JSON. */
  const whole = (text: string): { readonly read: Json | undefined; readonly values: number } => {
    const seen: Array<Json> = []
    const { elements, read, values } = runSteps(readBodySteps(text, BIG, (element) => void seen.push(element)))
    if (!Array.isArray(read)) {
      assert.isUndefined(elements)
      return { read, values }
    }
    assert.deepStrictEqual(read, [])
    const all = Array.from({ length: elements?.length ?? 0 }, (_, at) => elements?.at(at) ?? null)
    assert.deepStrictEqual(seen, all)
    assert.isUndefined(elements?.at(all.length))
    return { read: all, values }
  }

  it.prop(
    "is the same as read at once, short and long, and broken at any place",
    {
      values: FastCheck.array(FastCheck.oneof(FastCheck.jsonValue(), FastCheck.constantFrom("x".repeat(3_000), [[7]]))),
      space: FastCheck.constantFrom(0, 1, "\t"),
      at: FastCheck.nat(),
      char: FastCheck.constantFrom("", "{", "}", "[", "]", ",", ":", "\"", "1")
    },
    ({ at, char, space, values }) => {
      for (const value of [values, { a: values }, [values], values[0] ?? null]) {
        const text = ` ${JSON.stringify(value, null, space)} `
        assert.deepStrictEqual(whole(text), readJson(text, BIG))
        const place = at % text.length
        const broken = text.slice(0, place) + char + text.slice(place + 1)
        assert.deepStrictEqual(whole(broken), readJson(broken, BIG))
      }
    }
  )
})

describe("a long text", () => {
  const BIG = Number.MAX_SAFE_INTEGER

  it("has the same string of hundreds of thousands of escapes in parts as in one", () => {
    // Of different lengths, so that parts end before, within and behind escapes and pairs.
    const texts = ["\\n", "\\ud83d\\ude00", "a\\\\b", "plain \\u0041 text\\t"].map((text) =>
      `"${text.repeat(100_001)}"`
    )
    for (const text of [...texts, `{${texts.map((each) => `${each}:${each}`).join(",")}}`]) {
      const steps = readJsonSteps(text, BIG)
      let turns = 0
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) turns++
      assert.isAtLeast(turns, text.length / 40_000)
      const { read } = step.value
      const value: unknown = JSON.parse(text)
      if (read instanceof JsonObject) {
        assert.deepStrictEqual(Object.fromEntries(read.keys.map((key, at) => [key, read.values[at]])), value)
      } else assert.strictEqual(read, value)
    }
  })

  it("is refused for an error after the first part of a string", () => {
    for (const end of ["", "\\", "\\ud800\"", "\\x\"", "\u0001\"", "\" x"]) {
      assert.isUndefined(parseJson(`"${"\\n".repeat(100_000)}${end}`), JSON.stringify(end))
    }
  })

  it("has the same long string without escapes, in parts, wherever it ends or has an escape", () => {
    const part = 0x80000
    for (const length of [part - 1, part, part + 255, part + 256, part + 257, 2 * part + 256, 2 * part + 257]) {
      const plain = "é".repeat(length)
      for (const [text, expected] of [[plain, plain], [`${plain}\\n${plain}`, `${plain}\n${plain}`]] as const) {
        const steps = readJsonSteps(`["${text}",1]`, BIG)
        let turns = 0
        let step = steps.next()
        for (; step.done !== true; step = steps.next()) turns++
        const { read } = step.value
        assert.isTrue(Array.isArray(read) && read[0] === expected && read.length === 2, String(length))
        assert.isAtLeast(turns, Math.floor((length - 256) / (part + 1)))
      }
      for (const end of ["", "\u0001\"", "\\x\""]) {
        assert.isUndefined(parseJson(`["${plain}${end}`), `${length} ${JSON.stringify(end)}`)
      }
    }
  })

  it("yields to other fibers after every thousand values", () => {
    const steps = readJsonSteps(`[${"1,".repeat(99_999)}1]`, BIG)
    let turns = 0
    while (steps.next().done !== true) turns++
    assert.isAtLeast(turns, 97)
  })
})
