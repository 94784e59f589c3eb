import { assert, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { medianTimeAt } from "../../../src/chain/background/medianTimeAt.ts"

it("is the median of up to eleven times", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffffffff), { minLength: 1, maxLength: 30 }), fc.nat(29), (times, at) => {
      const height = at % times.length
      const span = times.slice(0, height + 1).slice(-11).sort((a, b) => a - b)
      assert.strictEqual(medianTimeAt(Uint32Array.from(times), height), span[Math.floor(span.length / 2)])
    })
  )
})

it("is 0 below genesis", () => {
  assert.strictEqual(medianTimeAt(Uint32Array.of(5), -1), 0)
})
