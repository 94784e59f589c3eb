import { assert, describe, it } from "@effect/vitest"
import { decodeMiniscript } from "../../../src/protocol/miniscript/decode.ts"
import { has, type } from "../../../src/protocol/miniscript/types.ts"
import { compileMiniscript } from "../../support/miniscript.ts"

const ALL = "BVKWzonduefsmxghijk"

/** The letters of a type, in a fixed order. */
const letters = (of: number): string => [...ALL].filter((letter) => has(of, type(letter))).join("")

const A = `02${"01".repeat(32)}`
const B = `02${"02".repeat(32)}`
const DIGEST = "dd".repeat(32)

describe("sets of letters", () => {
  it("a set contains its letters", () => {
    assert.strictEqual(letters(type("")), "")
    assert.strictEqual(letters(type("kB")), "Bk")
    assert.strictEqual(letters(type(ALL)), ALL)
  })

  it("a set contains its subsets", () => {
    assert.isTrue(has(type("Bdu"), type("Bu")))
    assert.isFalse(has(type("Bu"), type("Bdu")))
    assert.isTrue(has(type(""), type("")))
  })
})

describe("types of expressions (the tables of the miniscript specification)", () => {
  it.each([
    ["0", "Bzduesmxk"],
    ["1", "Bzufmxk"],
    [`pk(${A})`, "Bonduesmk"],
    [`multi(1,${A},${B})`, "Bnduesmk"],
    [`sha256(${DIGEST})`, "Bondumk"],
    ["older(1)", "Bzfmxhk"],
    ["older(4194304)", "Bzfmxgk"],
    ["older(4194303)", "Bzfmxhk"],
    ["after(499999999)", "Bzfmxjk"],
    ["after(500000000)", "Bzfmxik"],
    ["n:older(1)", "Bzufmxhk"],
    ["l:older(1)", "Bodemxhk"],
    ["dv:older(1)", "Bondemxhk"],
    [`j:pk(${A})`, "Bondusmxk"],
    [`j:and_v(v:pk(${A}),1)`, "Bonduesmxk"],
    [`tv:pk(${A})`, "Bonufsmxk"],
    [`and_v(v:pk(${A}),pk(${B}))`, "Bnufsmk"],
    [`and_b(pk(${A}),s:pk(${B}))`, "Bnduesmxk"],
    [`or_b(pk(${A}),s:pk(${B}))`, "Bduesmxk"],
    [`or_d(pk(${A}),older(1))`, "Bofmxhk"],
    [`or_i(pk(${A}),older(1))`, "Bdemxhk"],
    [`andor(pk(${A}),older(1),0)`, "Bodesmxhk"],
    [`andor(pk(${A}),1,after(5))`, "Bofmxjk"],
    [`thresh(1,pk(${A}),s:pk(${B}))`, "Bduesmk"],
    [`thresh(2,pk(${A}),s:pk(${B}))`, "Bduesmk"],
    [`thresh(1,pk(${A}),sln:older(1))`, "Bdumhk"],
    ["and_b(older(1),a:older(4194304))", "Bufmxgh"],
    ["and_b(older(1),a:after(500000000))", "Bufmxhik"],
    ["or_i(older(1),older(4194304))", "Bofxghk"]
  ])("%s", (text, expected) => {
    const { expression } = decodeMiniscript(compileMiniscript(text)) ?? assert.fail("not understood")
    assert.strictEqual(letters(expression.type), expected)
  })
})
