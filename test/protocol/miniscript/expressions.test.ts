import { assert, describe, it } from "@effect/vitest"
import { decodeMiniscript } from "../../../src/protocol/miniscript/decode.ts"
import { compileMiniscript } from "../../support/miniscript.ts"

const A = `02${"01".repeat(32)}`
const B = `02${"02".repeat(32)}`
const C = `02${"03".repeat(32)}`
const DIGEST = "dd".repeat(32)
const NO = -Infinity

/**
 * Opcodes; keys checked by multisig opcodes, and witness elements of the whole script less one, each to satisfy and to
 * dissatisfy it. Counted by hand.
 */
describe("the cost of expressions", () => {
  it.each<[string, number, readonly [number, number], readonly [number, number]]>([
    ["0", 0, [NO, 0], [NO, -1]],
    ["1", 0, [0, NO], [-1, NO]],
    ["older(1)", 1, [0, NO], [-1, NO]],
    [`pk(${A})`, 1, [0, 0], [0, 0]],
    [`multi(2,${A},${B},${C})`, 1, [3, 3], [2, 2]],
    [`sha256(${DIGEST})`, 4, [0, NO], [0, NO]],
    [`j:and_v(v:pk(${A}),1)`, 5, [0, 0], [0, 0]],
    ["dv:older(1)", 5, [0, 0], [0, 0]],
    ["n:older(1)", 2, [0, NO], [-1, NO]],
    ["tv:older(1)", 2, [0, NO], [-1, NO]],
    [`and_v(v:multi(1,${A}),multi(1,${B},${C}))`, 2, [3, NO], [3, NO]],
    [`and_b(pk(${A}),s:pk(${B}))`, 4, [0, 0], [1, 1]],
    [`and_b(multi(1,${A}),a:multi(2,${B},${C}))`, 5, [3, 3], [4, 4]],
    [`or_b(multi(1,${A}),a:sha256(${DIGEST}))`, 8, [1, NO], [2, NO]],
    [`or_d(multi(1,${A}),multi(2,${B},${C}))`, 5, [3, 3], [4, 4]],
    [`and_v(or_c(multi(1,${A}),v:pk(${B})),1)`, 4, [1, NO], [2, NO]],
    [`or_i(multi(1,${A}),multi(2,${B},${C}))`, 5, [2, 2], [3, 3]],
    ["l:older(1)", 4, [0, 0], [0, 0]],
    [`andor(multi(1,${A}),multi(2,${B},${C}),older(1))`, 6, [3, NO], [4, NO]],
    [`andor(pk(${A}),older(1),multi(1,${B}))`, 6, [1, 1], [2, 2]],
    [`thresh(2,pk(${A}),s:pk(${B}),s:pk(${C}))`, 8, [0, 0], [2, 2]],
    [`thresh(1,multi(1,${A}),a:multi(2,${B},${C}))`, 6, [3, 3], [4, 4]],
    [`thresh(2,pk(${A}),sln:older(1))`, 9, [0, 0], [1, 1]]
  ])("%s", (text, opcodes, keys, elements) => {
    const { expression } = decodeMiniscript(compileMiniscript(text)) ?? assert.fail("not understood")
    assert.strictEqual(expression.opcodes, opcodes)
    assert.deepStrictEqual([expression.keys.sat, expression.keys.dsat], [...keys])
    assert.deepStrictEqual([expression.elements.sat, expression.elements.dsat], [...elements])
  })
})
