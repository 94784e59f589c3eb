import { assert, describe, it } from "@effect/vitest"
import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { nameKey, nameOfKey } from "../../src/protocol/keys.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import { isFailure } from "../../src/verify/nameProof.ts"
import { signatures } from "../../src/verify/signatures.ts"
import { type VerifiedName, verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { proofOf, type SettingAt, settingsOf } from "../support/nameProofs.ts"

const CHAIN = { network: "regtest", low: 0, blocks: fixtureBlocks("regtest-names/blocks.dat") } as const
const TIP = CHAIN.blocks.length - 1
const NOW = CHAIN.blocks[TIP]?.header.time ?? 0
const OPTIONS = { network: "regtest", now: NOW } as const

/** The names of the chain that are alive at its tip. */
const NAMES = [
  ...new Set(
    CHAIN.blocks.flatMap(({ transactions }) => transactions).flatMap(({ outputs }) => outputs).flatMap(({ script }) => {
      const operation = parseNameScript(script)?.operation
      return operation === undefined || operation.op === "name_new" ? [] : [nameKey(operation.name)]
    })
  )
].map(nameOfKey).filter((name) => {
  const [newest] = settingsOf(CHAIN, name)
  return newest !== undefined && !isExpired(newest, TIP, regtestParams)
})

const isTaproot = ({ transaction, vout }: SettingAt): boolean => {
  const script = transaction.outputs[vout]?.script
  return script?.at(-33) === 32 && script.at(-34) === 0x51
}

const good = (outcome: ReturnType<typeof verifyNameProof>): VerifiedName =>
  isFailure(outcome) ? assert.fail(outcome.failed) : outcome

describe("verifyNameProof", () => {
  it("shows what the chain has, for all names that are alive", () => {
    assert.isAbove(NAMES.length, 20)
    for (const name of NAMES) {
      const [newest] = settingsOf(CHAIN, name)
      const verified = good(verifyNameProof(JSON.stringify(proofOf(CHAIN, name)), OPTIONS))
      assert.strictEqual(verified.nameHex, toHex(name))
      assert.strictEqual(verified.height, newest?.height)
      assert.strictEqual(verified.proof, "buried")
      assert.deepStrictEqual(verified.problems, [])
    }
  })

  it("checks the signatures back to the registration", () => {
    for (const name of NAMES) {
      const proof = proofOf(CHAIN, name, { whole: true })
      const verified = verifyNameProof(proof, { ...OPTIONS, signatures })
      // A signature of taproot, which mainnet does not have, covers coins that the proof lacks.
      if (isFailure(verified)) assert.isTrue(settingsOf(CHAIN, name).some(isTaproot), verified.failed)
      else assert.deepInclude(verified, { proof: "signatures", since: proof.since })
    }
  })
})
