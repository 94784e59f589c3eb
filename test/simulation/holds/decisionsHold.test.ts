import { assert, describe, it } from "@effect/vitest"
import { refusedFault } from "./decisionsHold.ts"

const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)]
const chain = new Map([[7, one], [8, two]])

describe("decisions of operators", () => {
  it("hold while another block has the place, or none", () => {
    assert.isUndefined(refusedFault([], (height) => chain.get(height)))
    const refused = [{ height: 8, hash: one }, { height: 9, hash: two }]
    assert.isUndefined(refusedFault(refused, (height) => chain.get(height)))
  })

  it("do not hold if any forbidden block is in the best chain", () => {
    const refused = [{ height: 7, hash: two }, { height: 8, hash: two }]
    assert.match(refusedFault(refused, (height) => chain.get(height)) ?? "", /^block 02 of height 8 /)
  })
})
