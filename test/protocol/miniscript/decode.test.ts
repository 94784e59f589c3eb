import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { toHex } from "../../../src/protocol/bytes.ts"
import { decodeMiniscript, miniscriptText } from "../../../src/protocol/miniscript/decode.ts"
import { bytesOf, hex } from "../../support/bytes.ts"
import { compileMiniscript } from "../../support/miniscript.ts"

const key = (n: number): string => `02${n.toString(16).padStart(64, "0")}`
const A = key(1)
const B = key(2)
const C = key(3)
const DIGEST = "dd".repeat(32)
const SHORT_DIGEST = "ee".repeat(20)

const sane = (text: string): string | undefined => miniscriptText(compileMiniscript(text))
const understood = (text: string): string | undefined => decodeMiniscript(compileMiniscript(text))?.expression.text

/** Text without key and digests, for test names. */
const short = (text: string): string => text.replace(/(02)?0{62}(..)/g, "key$2").replace(/(dd|ee){20,}/g, "hash")
const cases = (...texts: ReadonlyArray<string>) => texts.map((text) => [short(text), text] as const)

describe("scripts of a safe miniscript", () => {
  it.each(cases(
    `pk(${A})`,
    `multi(2,${A},${B},${C})`,
    `and_v(v:pk(${A}),pk(${B}))`,
    `and_v(v:pk(${A}),older(144))`,
    `and_v(v:multi(1,${A}),after(500000))`,
    `and_v(and_v(v:hash160(${SHORT_DIGEST}),v:pk(${A})),older(1))`,
    `and_b(pk(${A}),s:pk(${B}))`,
    `and_b(pk(${A}),a:multi(1,${B}))`,
    `or_b(pk(${A}),s:pk(${B}))`,
    `or_d(pk(${A}),pk(${B}))`,
    `or_d(multi(1,${A},${B}),and_v(v:older(4032),multi(1,${C})))`,
    `or_i(pk(${A}),and_v(v:pk(${B}),older(1000)))`,
    `andor(pk(${A}),older(1008),pk(${B}))`,
    `and_n(pk(${A}),and_v(v:pk(${B}),sha256(${DIGEST})))`,
    `andor(pk(${A}),or_i(and_v(v:pk(${B}),hash256(${DIGEST})),older(12960)),pk(${C}))`,
    `thresh(1,pk(${A}),s:pk(${B}))`,
    `thresh(2,pk(${A}),s:pk(${B}),s:pk(${C}))`,
    `thresh(2,pk(${A}),s:pk(${B}),sln:older(12960))`,
    `thresh(2,multi(1,${A}),a:multi(1,${B}),a:multi(1,${C}))`,
    `tv:pk(${A})`,
    `and_v(or_c(pk(${A}),v:ripemd160(${SHORT_DIGEST})),pk(${B}))`,
    `j:and_v(v:pk(${A}),older(16))`,
    `or_i(and_v(v:pk(${A}),older(1)),and_v(v:pk(${B}),older(4194305)))`,
    `and_v(and_v(v:pk(${A}),v:older(1)),after(500000000))`,
    `and_v(v:pk(${A}),after(2147483647))`,
    `and_v(v:pk(${A}),older(2147483647))`
  ))("%s", (_, text) => assert.strictEqual(sane(text), text))

  it.each([
    ["c:pk_k is pk", `c:pk_k(${A})`, `pk(${A})`],
    ["and_v and c: commute", `c:and_v(v:pk(${A}),pk_k(${B}))`, `and_v(v:pk(${A}),pk(${B}))`],
    ["an or_i with 0 is a wrapper", `and_v(v:pk(${A}),or_i(0,n:older(1)))`, `and_v(v:pk(${A}),ln:older(1))`],
    ["on either side", `and_v(v:pk(${A}),or_i(n:older(1),0))`, `and_v(v:pk(${A}),un:older(1))`],
    ["an and_v with 1 too", `and_v(v:pk(${A}),1)`, `tv:pk(${A})`],
    ["an andor with 0 is and_n", `andor(pk(${A}),pk(${B}),0)`, `and_n(pk(${A}),pk(${B}))`],
    [
      "and_v leans to the left",
      `and_v(v:pk(${A}),and_v(v:pk(${B}),pk(${C})))`,
      `and_v(and_v(v:pk(${A}),v:pk(${B})),pk(${C}))`
    ]
  ])("%s", (_, text, expected) => assert.strictEqual(sane(text), expected))
})

describe("scripts of a miniscript that is not safe", () => {
  it.each(cases(
    // Without a signature.
    "1",
    "older(144)",
    `sha256(${DIGEST})`,
    `or_d(pk(${A}),older(144))`,
    // Malleable.
    `and_v(v:pk(${A}),or_i(1,1))`,
    `and_v(v:pk(${A}),or_d(sha256(${DIGEST}),older(1)))`,
    // A key twice.
    `and_v(v:pk(${A}),pk(${A}))`,
    `and_v(v:pk(${A}),multi(1,${B},${A}))`,
    // Locks by time and by height.
    `and_v(and_v(v:pk(${A}),v:older(1)),older(4194305))`,
    `and_v(and_v(v:pk(${A}),v:after(499999999)),after(500000000))`,
    `thresh(3,pk(${A}),sln:older(1),sln:older(4194305))`
  ))("%s", (_, text) => {
    assert.isUndefined(sane(text))
    assert.strictEqual(understood(text), text)
  })
})

describe("scripts without a miniscript", () => {
  it.each(cases(
    "and_v(1,1)",
    `and_v(pk(${A}),1)`,
    "and_b(1,1)",
    `and_b(a:pk(${A}),a:pk(${B}))`,
    "or_b(1,a:0)",
    "or_d(1,1)",
    "or_d(0,v:1)",
    "t:or_c(0,1)",
    "or_i(1,v:1)",
    "andor(1,1,1)",
    "andor(0,1,v:1)",
    "v:1",
    `pk_k(${A})`,
    `a:pk(${A})`,
    `thresh(1,pk(${A}),pk(${B}))`,
    `thresh(3,pk(${A}),s:pk(${B}))`,
    `thresh(2,pk(${A}),s:1)`,
    "older(0)",
    "after(0)",
    "older(2147483648)",
    `pkh(${SHORT_DIGEST})`,
    `pk(${"03" + "11".repeat(31)})`,
    `pk(04${"11".repeat(32)})`,
    `multi(0,${A})`,
    `multi(2,${A})`,
    `multi(1,04${"11".repeat(64)})`,
    `sha256(${SHORT_DIGEST})`,
    `hash160(${DIGEST})`
  ))("%s", (_, text) => assert.isUndefined(understood(text)))

  it.each([
    ["nothing", ""],
    ["a truncated push", `21${A.slice(0, 20)}`],
    ["a push that is too long", `4c21${A}ac`],
    ["a number that is too long", `21${A}ad0101b2`],
    ["OP_VERIFY where there is a form with it", `21${A}ac69029000b2`],
    ["an opcode of no fragment", `21${A}ac76`],
    ["a hash of a preimage of another length", `21${A}ad82012188a820${DIGEST}87`],
    ["OP_IF without its end", "6351"],
    ["OP_ENDIF alone", "68"],
    ["OP_ELSE alone", "516751"],
    ["OP_IF in front of something else", "51635168"],
    ["a branch more", "63516751675168"],
    ["OP_CHECKMULTISIG with too few keys", `5121${A}52ae`],
    ["OP_CHECKMULTISIG with 21 keys", `51${`21${A}`.repeat(21)}0115ae`],
    ["OP_CHECKMULTISIG alone", "ae"],
    ["thresh of nothing", "5187"],
    ["OP_TOALTSTACK without its counterpart", `21${A}ac6b21${B}ac9a`],
    ["OP_NUMEQUAL", `21${A}ac519c`]
  ])("no miniscript: %s", (_, script) => assert.isUndefined(decodeMiniscript(hex(script))))
})

describe("limits of scripts", () => {
  const locks = (count: number): string => "and_v(v:older(1),".repeat(count) + `pk(${A})` + ")".repeat(count)

  it("a script has at most 201 opcodes", () => {
    // Two opcodes per lock (OP_CHECKSEQUENCEVERIFY, OP_VERIFY), and OP_CHECKSIG.
    assert.isDefined(sane(locks(100)))
    assert.isUndefined(sane(locks(101)))
    assert.isDefined(understood(locks(101)))
  })

  it("a script has at most 3,600 bytes", () => {
    // Three bytes per lock, 35 for the key.
    assert.isDefined(understood(locks(1188)))
    assert.isUndefined(understood(locks(1189)))
  })

  it("a witness has at most 100 elements", () => {
    // Each multisig takes a dummy beside its signatures.
    const all = (from: number, count: number): string =>
      `multi(${[count, ...Array.from({ length: count }, (_, n) => key(from + n))].join(",")})`
    const checks = (last: number): string =>
      `and_v(and_v(and_v(and_v(v:${all(1, 20)},v:${all(21, 20)}),v:${all(41, 20)}),v:${all(61, 20)}),${all(81, last)})`
    assert.strictEqual(sane(checks(15)), checks(15))
    assert.isUndefined(sane(checks(16)))
    assert.strictEqual(understood(checks(16)), checks(16))
  })

  it("a script may be nested as deep as it is long", () => {
    assert.isDefined(decodeMiniscript(hex(`51${"92".repeat(3599)}`)))
    assert.isUndefined(decodeMiniscript(hex("68".repeat(3600))))
    assert.isUndefined(decodeMiniscript(hex("9b".repeat(3600))))
  })
})

/** Correctly typed miniscripts, by their base type. */
const { base } = FastCheck.letrec((tie) => {
  const keys = FastCheck.nat(50).map(key)
  const check = FastCheck.oneof(
    keys.map((text) => `pk(${text})`),
    FastCheck.array(keys, { minLength: 1, maxLength: 3 }).map((list) => `multi(1,${list.join(",")})`)
  )
  const lock = FastCheck.oneof(
    FastCheck.constantFrom(1, 16, 17, 127, 128, 65_535, 4_194_305, 2 ** 31 - 1),
    FastCheck.nat(1e9)
  )
    .map((value) => value + 1)
  const leaf = FastCheck.oneof(
    check,
    lock.map((value) => `older(${Math.min(value, 2 ** 31 - 1)})`),
    lock.map((value) => `after(${Math.min(value, 2 ** 31 - 1)})`),
    FastCheck.constantFrom("0", "1", `sha256(${DIGEST})`, `hash256(${DIGEST})`, `hash160(${SHORT_DIGEST})`)
  )
  const text = (name: string) => tie(name).map(String)
  const wrap = (letter: string) => (inner: string): string =>
    /^[a-z]+:/.test(inner) ? letter + inner : `${letter}:${inner}`
  const pair = (name: string, a: FastCheck.Arbitrary<string>, b: FastCheck.Arbitrary<string>) =>
    FastCheck.tuple(a, b).map(([x, y]) => `${name}(${x},${y})`)
  const wrapped = FastCheck.oneof(
    keys.map((inner) => `s:pk(${inner})`),
    check.map(wrap("a"))
  )
  return {
    verify: FastCheck.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf.map(wrap("v")),
      text("base").map(wrap("v")),
      pair("or_c", check, text("verify")),
      pair("and_v", text("verify"), text("verify"))
    ),
    base: FastCheck.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      pair("and_v", text("verify"), text("base")),
      pair("and_b", text("base"), wrapped),
      pair("or_b", check, wrapped),
      pair("or_d", check, text("base")),
      pair("or_i", text("base"), text("base")),
      FastCheck.tuple(check, text("base"), text("base")).map((parts) => `andor(${parts.join(",")})`),
      FastCheck.tuple(check, FastCheck.array(wrapped, { maxLength: 3 })).map((parts) =>
        `thresh(1,${parts.flat().join(",")})`
      ),
      text("base").map(wrap("n"))
    )
  }
})

it("a compiled miniscript is decoded, and compiles to the same script again", () => {
  FastCheck.assert(
    FastCheck.property(base.map(String), (text) => {
      const script = compileMiniscript(text)
      if (script.length > 3600) return
      const decoded = decodeMiniscript(script) ?? assert.fail(`not understood: ${text}`)
      assert.strictEqual(toHex(compileMiniscript(decoded.expression.text)), toHex(script))
    }),
    { numRuns: 500 }
  )
})

it("any bytes are decoded without an error; a decoded miniscript compiles to the same bytes", () => {
  const opcodes = FastCheck.constantFrom(..."00515263646768696b6c73747c7682879193929a9bacaeb1b2".match(/../g) ?? [])
  const parts = FastCheck.oneof(opcodes, opcodes, FastCheck.constant(`21${A}`), bytesOf(0, 3).map(toHex))
  FastCheck.assert(
    FastCheck.property(FastCheck.array(parts, { maxLength: 20 }), (code) => {
      const script = hex(code.join(""))
      const decoded = decodeMiniscript(script)
      if (decoded !== undefined) {
        assert.strictEqual(toHex(compileMiniscript(decoded.expression.text)), toHex(script))
      }
    }),
    { numRuns: 2000 }
  )
})
