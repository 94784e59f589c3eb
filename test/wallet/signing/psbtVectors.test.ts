import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { combinePsbtsSteps } from "../../../src/protocol/psbt/combine.ts"
import type { Psbt } from "../../../src/protocol/psbt/Psbt.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { parseWif } from "../../../src/protocol/wif.ts"
import { parsePsbtSteps, psbtText } from "../../../src/wallet/signing/psbtText.ts"
import { makeProvider } from "../../../src/wallet/signing/SigningProvider.ts"
import { extractTransaction, finalizePsbtSteps, signPsbt } from "../../../src/wallet/signing/signPsbt.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"

/** Upstream's vectors (`rpc_psbt.json`), including those of BIP 174, 371 and 373. */
interface Vectors {
  readonly invalid: ReadonlyArray<string>
  readonly invalid_with_msg: ReadonlyArray<readonly [psbt: string, message: string]>
  readonly valid: ReadonlyArray<string>
  readonly signer: ReadonlyArray<
    { readonly privkeys: ReadonlyArray<string>; readonly psbt: string; readonly result: string }
  >
  readonly combiner: ReadonlyArray<{ readonly combine: ReadonlyArray<string>; readonly result: string }>
  readonly finalizer: ReadonlyArray<{ readonly finalize: string; readonly result: string }>
  readonly extractor: ReadonlyArray<{ readonly extract: string; readonly result: string }>
}

const VECTORS = "core/functional/rpc_psbt.json"

const parsed = (text: string): Psbt => {
  const result = runSteps(parsePsbtSteps(text))
  return "error" in result ? assert.fail(result.error) : result.psbt
}

describe.skipIf(!hasShared)("the reference node's PSBTs", () => {
  const read = (): Vectors => fixtureJson<Vectors>(VECTORS)

  it("are refused if they are invalid", () => {
    const vectors = read()
    assert.strictEqual(vectors.invalid.length, 41)
    for (const text of vectors.invalid) assert.property(runSteps(parsePsbtSteps(text)), "error", text)
  })

  it("are refused with the same error texts", () => {
    const vectors = read()
    assert.strictEqual(vectors.invalid_with_msg.length, 20)
    for (const [text, message] of vectors.invalid_with_msg) {
      const result = runSteps(parsePsbtSteps(text))
      assert.include("error" in result ? result.error : "none", message)
    }
  })

  it("are decoded and encoded again", () => {
    const vectors = read()
    assert.strictEqual(vectors.valid.length, 34)
    for (const text of vectors.valid) {
      const once = psbtText(parsed(text))
      assert.strictEqual(psbtText(parsed(once)), once)
    }
  })

  it("are signed with the same signatures", () => {
    const vectors = read()
    assert.strictEqual(vectors.signer.length, 6)
    for (const { privkeys, psbt, result } of vectors.signer) {
      const keys = privkeys.map((text) => {
        const key = parseWif(regtest, text)
        return "error" in key ? assert.fail(key.error) : key
      })
      const signed = signPsbt(parsed(psbt), makeProvider({ keys }), { finalize: false })
      assert.strictEqual(psbtText(signed.psbt), result)
    }
  })

  it("are combined, finalized and extracted", () => {
    const vectors = read()
    for (const { combine, result } of vectors.combiner) {
      const [first, ...others] = combine.map(parsed)
      const combined = first === undefined ? undefined : runSteps(combinePsbtsSteps(first, others))
      assert.strictEqual(combined === undefined ? "" : psbtText(combined), result)
    }
    for (const { finalize, result } of vectors.finalizer) {
      const { complete, psbt } = runSteps(finalizePsbtSteps(parsed(finalize)))
      assert.isTrue(complete)
      assert.strictEqual(psbtText(psbt), result)
    }
    for (const { extract, result } of vectors.extractor) {
      const { complete, psbt } = runSteps(finalizePsbtSteps(parsed(extract)))
      assert.isTrue(complete)
      assert.strictEqual(toHex(extractTransaction(psbt).bytes), result)
    }
  })
})
