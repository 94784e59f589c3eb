import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { verifyTransaction } from "../../../src/consensus/verifyInput.ts"
import { scriptOf } from "../../../src/protocol/address.ts"
import { type Bytes, EMPTY, equal, toHex } from "../../../src/protocol/bytes.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { NAME_TX_VERSION } from "../../../src/protocol/nameOperation.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../../src/protocol/transaction.ts"
import { compactSizeLength } from "../../../src/protocol/Writer.ts"
import { estimateInput } from "../../../src/wallet/signing/estimate.ts"
import { SIGNING_FLAGS } from "../../../src/wallet/signing/SigningContext.ts"
import { makeProvider, publicKeyOf, withoutKeys } from "../../../src/wallet/signing/SigningProvider.ts"
import { combineSignaturesSteps, signTransaction } from "../../../src/wallet/signing/signTransaction.ts"
import { keyTriples, prefixes, SIGNING_KINDS, type SigningKind } from "../../support/signingKinds.ts"
import { coinOf } from "../../support/spending.ts"

const VALUE = 123_456_789

/** A transaction that spends an output as its second input, beside one without a signature. */
const spending = (sequence = 0xfffffffd, outputs = 2): Transaction =>
  makeTransaction({
    version: NAME_TX_VERSION,
    inputs: [1, 2].map((n) => ({
      prevout: outpoint(new Uint8Array(32).fill(n), n),
      scriptSig: EMPTY,
      sequence,
      witness: NO_WITNESS
    })),
    outputs: Array.from({ length: outputs }, (_, n) => ({ value: n, script: Uint8Array.of(0x51) })),
    lockTime: 77
  })

const ANYONE = coinOf(Uint8Array.of(0x51), 5)

const HASH_TYPES = [0, 1, 2, 3, 0x81, 0x82, 0x83]

const usable = (kind: SigningKind, keys: ReadonlyArray<{ privateKey: Bytes; compressed: boolean }>) =>
  kind.compressedOnly ? keys.map((key) => ({ ...key, compressed: true })) : keys

const RUNS = { numRuns: 5 }

/**
 * A script that begins with a push is not found again behind a name prefix (reference/protocol.md 4.2, S6), so it is
 * never signed there.
 */
const prefixesOf = (kind: SigningKind) =>
  kind.name === "pk bare" ? FastCheck.constant((script: Bytes): Bytes => script) : prefixes

describe("estimateInput", () => {
  it("assumes the longest signatures where another program signs", () => {
    const key = { privateKey: new Uint8Array(32).fill(1), compressed: true }
    const provider = makeProvider({ keys: [key] })
    const hash = hash160(publicKeyOf(key))
    const sizes = (script: Uint8Array) =>
      (["wallet", "other"] as const).map((signer) => estimateInput(script, provider, signer)?.weight)
    const [legacy = 0, longLegacy] = sizes(scriptOf({ kind: "pubkeyhash", hash }))
    assert.strictEqual(longLegacy, legacy + 4)
    const [segwit = 0, longSegwit] = sizes(scriptOf({ kind: "witness", version: 0, program: hash }))
    assert.strictEqual(longSegwit, segwit + 1)
  })
})

describe("signTransaction", () => {
  for (const kind of SIGNING_KINDS) {
    it(`signs ${kind.name} with every hash type, with and without a name`, () => {
      FastCheck.assert(
        FastCheck.property(
          keyTriples,
          prefixesOf(kind),
          FastCheck.constantFrom(...HASH_TYPES),
          (keys, prefix, hashType) => {
            const { provider, script } = kind.make(usable(kind, keys))
            const coins = [ANYONE, coinOf(prefix(script), VALUE)]
            const { complete, errors, transaction } = signTransaction(spending(), coins, { provider, hashType })
            assert.deepStrictEqual(errors, [])
            assert.isTrue(complete)
            assert.isUndefined(verifyTransaction({ transaction, coins }, SIGNING_FLAGS))
            // The signature covers the amount: a wrong amount is detected.
            if (!kind.segwit) return
            const lie = [ANYONE, coinOf(prefix(script), VALUE + 1)]
            assert.isDefined(verifyTransaction({ transaction, coins: lie }, SIGNING_FLAGS))
          }
        ),
        RUNS
      )
    })

    // A taproot spend is expected by key, a miniscript spend by the shortest path.
    if (kind.name === "tr pk" || kind.name === "tr multi_a" || kind.name === "miniscript wsh") continue

    it(`knows the size of a signed ${kind.name} without the keys`, () => {
      FastCheck.assert(
        FastCheck.property(keyTriples, prefixesOf(kind), (keys, prefix) => {
          const { provider, script } = kind.make(usable(kind, keys))
          const coins = [ANYONE, coinOf(prefix(script), VALUE)]
          const estimate = estimateInput(prefix(script), withoutKeys(provider))
          const input = signTransaction(spending(), coins, { provider }).transaction.inputs[1]
          if (estimate === undefined || input === undefined) return assert.fail("no estimate")
          const { scriptSig, witness } = input
          const witnessSize = witness.length === 0 ? 0 : witness.reduce(
            (sum, { length }) => sum + compactSizeLength(length) + length,
            compactSizeLength(witness.length)
          )
          // A signature is shorter by a byte in one of 256 cases, rarely by more.
          for (const [size, expected] of [[scriptSig.length, estimate.scriptSig], [witnessSize, estimate.witness]]) {
            assert.isAtMost(size ?? 0, expected ?? 0)
            assert.isAtLeast(size ?? 0, (expected ?? 0) - 8)
          }
          const base = 40 + compactSizeLength(estimate.scriptSig) + estimate.scriptSig
          assert.strictEqual(estimate.weight, 4 * base + estimate.witness)
        }),
        RUNS
      )
    })
  }

  it("does not sign for a key that is missing", () => {
    FastCheck.assert(
      FastCheck.property(keyTriples, FastCheck.constantFrom(...SIGNING_KINDS), (keys, kind) => {
        const { provider, script } = kind.make(usable(kind, keys))
        const coins = [ANYONE, coinOf(script, VALUE)]
        const { complete, errors, transaction } = signTransaction(spending(), coins, {
          provider: withoutKeys(provider)
        })
        assert.isFalse(complete)
        assert.deepStrictEqual(errors.map(({ index, vout }) => [index, vout]), [[1, 2]])
        assert.isDefined(verifyTransaction({ transaction, coins }, SIGNING_FLAGS))
      }),
      { numRuns: 30 }
    )
  })

  it("reports inputs with unknown outputs, and signs the others", () => {
    FastCheck.assert(
      FastCheck.property(keyTriples, (keys) => {
        const pkh = SIGNING_KINDS.find(({ name }) => name === "pkh bare") ?? assert.fail()
        const { provider, script } = pkh.make(keys)
        const signed = signTransaction(spending(), [undefined, coinOf(script, VALUE)], { provider })
        assert.deepStrictEqual(signed.errors.map(({ error, index }) => [index, error]), [
          [0, "Input not found or already spent"]
        ])
        assert.isAbove(signed.transaction.inputs[1]?.scriptSig.length ?? 0, 100)
      }),
      RUNS
    )
  })

  it("refuses a witness signature for an unknown amount", () => {
    FastCheck.assert(
      FastCheck.property(
        keyTriples,
        FastCheck.constantFrom(...SIGNING_KINDS.filter((kind) => kind.segwit)),
        (keys, kind) => {
          const { provider, script } = kind.make(usable(kind, keys))
          const { complete } = signTransaction(spending(), [ANYONE, { script, value: undefined }], { provider })
          assert.isFalse(complete)
        }
      ),
      { numRuns: 30 }
    )
  })

  it("does not sign SINGLE without a matching output", () => {
    FastCheck.assert(
      FastCheck.property(keyTriples, FastCheck.constantFrom(3, 0x83), (keys, hashType) => {
        const pkh = SIGNING_KINDS.find(({ name }) => name === "pkh bare") ?? assert.fail()
        const { provider, script } = pkh.make(keys)
        const coins = [ANYONE, coinOf(script, VALUE)]
        assert.isTrue(signTransaction(spending(), coins, { provider, hashType }).complete)
        const { complete, transaction } = signTransaction(spending(undefined, 1), coins, { provider, hashType })
        assert.isFalse(complete)
        assert.strictEqual(transaction.inputs[1]?.scriptSig.length, 0)
      }),
      RUNS
    )
  })

  it("does not sign twice: a signed input stays unchanged", () => {
    FastCheck.assert(
      FastCheck.property(keyTriples, FastCheck.constantFrom(...SIGNING_KINDS), (keys, kind) => {
        const { provider, script } = kind.make(usable(kind, keys))
        const coins = [ANYONE, coinOf(script, VALUE)]
        const once = signTransaction(spending(), coins, { provider, hashType: 0x81 }).transaction
        const again = signTransaction(once, coins, { provider, hashType: 1 })
        assert.isTrue(again.complete)
        assert.strictEqual(toHex(again.transaction.bytes), toHex(once.bytes))
      }),
      { numRuns: 30 }
    )
  })
})

describe("combineSignatures", () => {
  for (const kind of SIGNING_KINDS.filter(({ name }) => name.startsWith("2 of 3"))) {
    it(`combines the separate signatures of each signer of ${kind.name}`, () => {
      FastCheck.assert(
        FastCheck.property(keyTriples, prefixes, (given, prefix) => {
          const keys = usable(kind, given)
          const { provider, script } = kind.make(keys)
          const coins = [ANYONE, coinOf(prefix(script), VALUE)]
          const alone = keys.map((key) => {
            const one = makeProvider({ keys: [key] })
            const known = { ...provider, key: one.key, pubkey: one.pubkey }
            const { complete, errors, transaction } = signTransaction(spending(), coins, { provider: known })
            assert.isFalse(complete)
            assert.strictEqual(errors.length, 1)
            return transaction
          })
          const [a, b, c] = alone
          if (a === undefined || b === undefined || c === undefined) return assert.fail()
          for (const [first, second] of [[c, a], [a, b], [b, c]] as const) {
            const transaction = runSteps(combineSignaturesSteps(first, [second], coins))
            assert.isUndefined(verifyTransaction({ transaction, coins }, SIGNING_FLAGS))
          }
          // One signer continues where the other stopped.
          const finished = signTransaction(a, coins, { provider })
          assert.isTrue(finished.complete)
          assert.isFalse(equal(finished.transaction.bytes, a.bytes))
        }),
        { numRuns: 5 }
      )
    })
  }
})
