import { assert, it } from "@effect/vitest"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { proofOf } from "../support/nameProofs.ts"
import { countMutations, realProof } from "./proofMutations.ts"

it("no changed proof shows what the chain does not have", () => {
  const options = { network: "regtest", now: namedChain.now } as const
  const real = livingNames.slice(0, 12).flatMap((name, i) =>
    realProof(proofOf(namedChain, name, { following: 2, whole: i % 2 === 0 }), options) ?? []
  )
  assert.lengthOf(real, 12)
  const { accepted, wrong } = countMutations({ real, options }, { count: 800, seed: 7 })
  assert.deepStrictEqual(wrong, [])
  assert.isAbove(accepted, 10, "some changes do not matter")
})
