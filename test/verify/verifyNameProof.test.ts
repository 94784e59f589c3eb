import { assert, describe, it } from "@effect/vitest"
import { EMPTY, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { addressScript, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { witnessVersion } from "../../src/protocol/script.ts"
import type { CheckSignature } from "../../src/verify/nameLinks.ts"
import { isFailure, type NameProof } from "../../src/verify/nameProof.ts"
import { signatures } from "../../src/verify/signatures.ts"
import { type VerifiedName, verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { proofOf, type SettingAt, settingsOf } from "../support/nameProofs.ts"

const OPTIONS = { network: "regtest", now: namedChain.now } as const

const isWitnessAbove0 = ({ transaction, vout }: SettingAt): boolean =>
  (witnessVersion(addressScript(transaction.outputs[vout]?.script ?? EMPTY)) ?? 0) > 0

const isSigned = (outcome: ReturnType<typeof verifyNameProof>): boolean =>
  !isFailure(outcome) && outcome.proof === "signatures"

/** A name whose owner made several operations that are signed as on mainnet. */
const LONG: NameProof =
  livingNames.map((name) => proofOf(namedChain, name, { whole: true })).find((proof) =>
    proof.operations.length > 1 && isSigned(verifyNameProof(proof, { ...OPTIONS, signatures }))
  ) ?? assert.fail("the chain has no such name")

const isLiving = new Set(livingNames.map(toHex))

/** Some names that are not alive at the tip. */
const EXPIRED = [
  ...new Set(
    namedChain.blocks.flatMap(({ transactions }) => transactions).flatMap(({ outputs }) => outputs).flatMap(
      ({ script }) => {
        const operation = parseNameScript(script)?.operation
        return operation === undefined || operation.op === "name_new" ? [] : [toHex(operation.name)]
      }
    )
  )
].filter((name) => !isLiving.has(name)).slice(0, 5).map((name) => fromHex(name) ?? assert.fail())

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
      if (isFailure(verified)) return assert.fail(verified.failed)
      // A signature of taproot covers coins that the proof lacks, and nobody has to sign for later witness versions.
      const isUnknown = verified.problems.some(({ code }) => code === "unsigned-owner")
      if (isUnknown) assert.isTrue(settingsOf(namedChain, name).some(isWitnessAbove0))
      const label = proof.operations.length > 1 && !isUnknown ? "signatures" : "buried"
      assert.deepInclude(verified, { proof: label, since: proof.since })
    }
  })

  it("speaks of signatures only for transfers in blocks that say their heights", () => {
    const proof = LONG
    assert.strictEqual(good(verifyNameProof(proof, { ...OPTIONS, signatures })).proof, "signatures")
    const [first = assert.fail(), ...earlier] = proof.operations
    for (const at of earlier.keys()) {
      const without = earlier.map(({ coinbase, ...each }, i) =>
        i === at || coinbase === undefined ? each : { ...each, coinbase }
      )
      const claimed = good(verifyNameProof({ ...proof, operations: [first, ...without] }, { ...OPTIONS, signatures }))
      assert.strictEqual(claimed.proof, "buried")
      assert.deepStrictEqual(claimed.problems.map(({ code }) => code), ["height-claimed"])
    }
    const registration = proof.operations.slice(-1)
    const alone = { ...proof, operations: registration }
    const outcome = verifyNameProof(alone, { ...OPTIONS, signatures })
    if (!isFailure(outcome)) assert.strictEqual(outcome.proof, "buried")
  })

  it("checks signatures after all else", () => {
    const calls: Array<number> = []
    const counting: CheckSignature = ({ height }) => calls.push(height) > 0
    const failing = { ...OPTIONS, signatures: counting }
    assert.isTrue(isFailure(verifyNameProof(LONG, { ...failing, now: 0 })))
    assert.isTrue(isFailure(verifyNameProof(LONG, { ...failing, minConfirmations: 100 })))
    assert.lengthOf(calls, 0)
    good(verifyNameProof(LONG, failing))
    assert.lengthOf(calls, LONG.operations.length - 1)
  })

  it("says so where the tip has no coinbase", () => {
    const { coinbase, ...asOf } = LONG.asOf
    assert.isDefined(coinbase)
    const { problems } = good(verifyNameProof({ ...LONG, asOf }, OPTIONS))
    assert.deepStrictEqual(problems.map(({ code }) => code), ["height-claimed"])
  })

  it("has a code for a name that has expired", () => {
    const outcomes = EXPIRED.map((name) => verifyNameProof(proofOf(namedChain, name), OPTIONS))
    assert.isAbove(outcomes.length, 0)
    for (const outcome of outcomes) {
      assert.match(isFailure(outcome) ? outcome.failed : "", /^the name expired \d+ blocks ago$/)
      assert.propertyVal(outcome, "code", "expired")
    }
  })
})
