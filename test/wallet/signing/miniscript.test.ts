import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { verifyTransaction } from "../../../src/consensus/verifyInput.ts"
import { scriptOf } from "../../../src/protocol/address.ts"
import { binaryString, type Bytes, EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { sha256 } from "../../../src/protocol/hash.ts"
import { miniscriptText } from "../../../src/protocol/miniscript/decode.ts"
import { EMPTY_INPUT, psbtOf } from "../../../src/protocol/psbt/Psbt.ts"
import { makeTransaction, NO_WITNESS, outpoint } from "../../../src/protocol/transaction.ts"
import { signEcdsa } from "../../../src/wallet/signing/SignatureCreator.ts"
import { SIGNING_FLAGS } from "../../../src/wallet/signing/SigningContext.ts"
import { makeProvider, publicKeyOf, type SigningKey } from "../../../src/wallet/signing/SigningProvider.ts"
import { extractTransaction, signPsbt } from "../../../src/wallet/signing/signPsbt.ts"
import { hashes, secretKeys } from "../../support/keys.ts"
import { parseScript } from "../../support/scriptAssembly.ts"
import { coinOf } from "../../support/spending.ts"

const keys = [1, 2, 3].map((n): SigningKey => ({ privateKey: new Uint8Array(32).fill(n), compressed: true }))
const [A = "", B = "", C = ""] = keys.map((key) => `0x21 0x${toHex(publicKeyOf(key))}`)
const [a = "", b = "", c = ""] = keys.map((key) => toHex(publicKeyOf(key)))

const PREIMAGE = new Uint8Array(32).fill(5)
const HASH = toHex(sha256(PREIMAGE))

interface Attempt {
  readonly signers: ReadonlyArray<number>
  readonly sequence?: number
  readonly lockTime?: number
  readonly preimage?: boolean
}

/** Spends the P2WSH output of a script with a PSBT; returns whether that succeeds. */
const spends = (
  script: Bytes,
  { lockTime = 0, preimage = false, sequence = 0xffffffff, signers }: Attempt
): boolean => {
  const output = coinOf(scriptOf({ kind: "witness", version: 0, program: sha256(script) }), 9_000)
  const unsigned = makeTransaction({
    version: 2,
    inputs: [{ prevout: outpoint(new Uint8Array(32).fill(1), 0), scriptSig: EMPTY, sequence, witness: NO_WITNESS }],
    outputs: [{ value: 1, script: Uint8Array.of(0x51) }],
    lockTime
  })
  const digest = sha256(PREIMAGE)
  const known = preimage ? new Map([[binaryString(digest), { hash: digest, preimage: PREIMAGE }]]) : new Map()
  const psbt = {
    ...psbtOf(unsigned),
    inputs: [{
      ...EMPTY_INPUT,
      witnessUtxo: output,
      witnessScript: script,
      sha256: known
    }]
  }
  const provider = makeProvider({ keys: keys.filter((_, n) => signers.includes(n)) })
  const signed = signPsbt(psbt, provider)
  if (!signed.complete) return false
  const transaction = extractTransaction(signed.psbt)
  assert.isUndefined(verifyTransaction({ transaction, coins: [output] }, SIGNING_FLAGS))
  return true
}

/** Scripts, their miniscript form, and the signers that can spend them. */
const CASES: ReadonlyArray<{
  readonly script: string
  readonly text: string
  readonly yes: ReadonlyArray<Attempt>
  readonly no: ReadonlyArray<Attempt>
}> = [
  {
    script: `${A} CHECKSIGVERIFY ${B} CHECKSIG IFDUP NOTIF 5 CHECKSEQUENCEVERIFY ENDIF`,
    text: `and_v(v:pk(${a}),or_d(pk(${b}),older(5)))`,
    yes: [{ signers: [0, 1] }, { signers: [0], sequence: 5 }],
    no: [{ signers: [0] }, { signers: [0], sequence: 4 }, { signers: [1], sequence: 5 }]
  },
  {
    script: `${A} CHECKSIGVERIFY SIZE 32 EQUALVERIFY SHA256 0x20 0x${HASH} EQUAL`,
    text: `and_v(v:pk(${a}),sha256(${HASH}))`,
    yes: [{ signers: [0], preimage: true }],
    no: [{ signers: [0] }, { signers: [1], preimage: true }]
  },
  {
    script: `${A} CHECKSIG NOTIF ${B} CHECKSIGVERIFY 100 CHECKLOCKTIMEVERIFY ELSE ${C} CHECKSIG ENDIF`,
    text: `andor(pk(${a}),pk(${c}),and_v(v:pk(${b}),after(100)))`,
    yes: [{ signers: [0, 2] }, { signers: [1], lockTime: 100, sequence: 0 }],
    no: [{ signers: [0] }, { signers: [2] }, { signers: [1], lockTime: 99, sequence: 0 }, {
      signers: [1],
      lockTime: 100
    }]
  },
  {
    script: `${A} CHECKSIG SWAP ${B} CHECKSIG ADD SWAP ${C} CHECKSIG ADD 2 EQUAL`,
    text: `thresh(2,pk(${a}),s:pk(${b}),s:pk(${c}))`,
    yes: [{ signers: [0, 1] }, { signers: [1, 2] }, { signers: [0, 2] }, { signers: [0, 1, 2] }],
    no: [{ signers: [0] }, { signers: [2] }, { signers: [] }]
  },
  {
    script: `IF ${A} CHECKSIG ELSE 2 ${B} ${C} 2 CHECKMULTISIG ENDIF`,
    text: `or_i(pk(${a}),multi(2,${b},${c}))`,
    yes: [{ signers: [0] }, { signers: [1, 2] }],
    no: [{ signers: [1] }, { signers: [2] }]
  },
  {
    script: `${A} CHECKSIG SWAP ${B} CHECKSIG BOOLOR`,
    text: `or_b(pk(${a}),s:pk(${b}))`,
    yes: [{ signers: [0] }, { signers: [1] }, { signers: [0, 1] }],
    no: [{ signers: [2] }]
  },
  {
    script: `${A} CHECKSIG SWAP ${B} CHECKSIG BOOLAND`,
    text: `and_b(pk(${a}),s:pk(${b}))`,
    yes: [{ signers: [0, 1] }],
    no: [{ signers: [0] }, { signers: [1] }]
  }
]

describe("miniscript", () => {
  for (const { no, script, text, yes } of CASES) {
    it(`is spent by its rules: ${text.replaceAll(/0[23][0-9a-f]{64}/g, "key")}`, () => {
      const bytes = parseScript(script)
      assert.strictEqual(miniscriptText(bytes), text)
      for (const attempt of yes) assert.isTrue(spends(bytes, attempt), JSON.stringify(attempt))
      for (const attempt of no) assert.isFalse(spends(bytes, attempt), JSON.stringify(attempt))
    })
  }

  it("cannot be spent if the output belongs to another script", () => {
    assert.isFalse(spends(parseScript("1 0 EQUAL"), { signers: [0, 1, 2] }))
  })
})

describe("signEcdsa", () => {
  it("makes signatures of at most 70 bytes, the same each time", () => {
    FastCheck.assert(
      FastCheck.property(hashes, secretKeys, (hash, secret) => {
        const signature = signEcdsa(hash, secret)
        assert.isAtMost(signature.length, 70)
        assert.isAtMost(signature[3] ?? 0, 32)
        assert.strictEqual(toHex(signEcdsa(hash, secret)), toHex(signature))
      })
    )
  })
})
