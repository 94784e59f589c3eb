import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../src/protocol/bytes.ts"
import { isFailure } from "../../src/verify/nameProof.ts"
import { signatures } from "../../src/verify/signatures.ts"
import { type VerifiedName, verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { proofOf, type SettingAt, settingsOf } from "../support/nameProofs.ts"

const OPTIONS = { network: "regtest", now: namedChain.now } as const

const isTaproot = ({ transaction, vout }: SettingAt): boolean => {
  const script = transaction.outputs[vout]?.script
  return script?.at(-33) === 32 && script.at(-34) === 0x51
}

const good = (outcome: ReturnType<typeof verifyNameProof>): VerifiedName =>
  isFailure(outcome) ? assert.fail(outcome.failed) : outcome

describe("verifyNameProof", () => {
  it("shows what the chain has, for all names that are alive", () => {
    assert.isAbove(livingNames.length, 20)
    for (const name of livingNames) {
      const [newest] = settingsOf(namedChain, name)
      const verified = good(verifyNameProof(JSON.stringify(proofOf(namedChain, name)), OPTIONS))
      assert.strictEqual(verified.nameHex, toHex(name))
      assert.strictEqual(verified.height, newest?.height)
      assert.strictEqual(verified.proof, "buried")
      assert.deepStrictEqual(verified.problems, [])
    }
  })

  it("checks the signatures back to the registration", () => {
    for (const name of livingNames.slice(0, 20)) {
      const proof = proofOf(namedChain, name, { whole: true })
      const verified = verifyNameProof(proof, { ...OPTIONS, signatures })
      // A signature of taproot, which mainnet does not have, covers coins that the proof lacks.
      if (isFailure(verified)) assert.isTrue(settingsOf(namedChain, name).some(isTaproot), verified.failed)
      else assert.deepInclude(verified, { proof: "signatures", since: proof.since })
    }
  })
})
