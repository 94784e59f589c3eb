import { assert, describe, it } from "@effect/vitest"
import { Flag } from "../../src/consensus/flags.ts"
import { NO_CODE_SEPARATOR } from "../../src/consensus/interpreter/Machine.ts"
import { SighashContext } from "../../src/consensus/sighash.ts"
import { checkTapTweak } from "../../src/consensus/signature.ts"
import { verifyInput, verifyTransaction } from "../../src/consensus/verifyInput.ts"
import { type Bytes, EMPTY, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { tapLeafHash, tapOutput, tapTweak } from "../../src/protocol/taproot.ts"
import { decodeTransaction } from "../../src/protocol/transaction.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"
import { coinOf, spend } from "../support/spending.ts"

/** The wallet vectors of BIP 341: commitments of outputs to trees of scripts, and a transaction that spends by key. */

interface Leaf {
  readonly id: number
  readonly script: string
  readonly leafVersion: number
}

type Tree = Leaf | readonly [Tree, Tree]

interface Vectors {
  readonly scriptPubKey: ReadonlyArray<{
    readonly given: { readonly internalPubkey: string; readonly scriptTree: Tree | null }
    readonly intermediary: {
      readonly leafHashes?: ReadonlyArray<string>
      readonly merkleRoot: string | null
      readonly tweak: string
      readonly tweakedPubkey: string
    }
    readonly expected: { readonly scriptPubKey: string; readonly scriptPathControlBlocks?: ReadonlyArray<string> }
  }>
  readonly keyPathSpending: ReadonlyArray<{
    readonly given: {
      readonly rawUnsignedTx: string
      readonly utxosSpent: ReadonlyArray<{ readonly scriptPubKey: string; readonly amountSats: number }>
    }
    readonly inputSpending: ReadonlyArray<{
      readonly given: { readonly txinIndex: number; readonly hashType: number }
      readonly intermediary: { readonly sigHash: string }
    }>
    readonly auxiliary: { readonly fullySignedTx: string }
  }>
}

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

const leavesOf = (tree: Tree): ReadonlyArray<Leaf> => "id" in tree ? [tree] : tree.flatMap(leavesOf)

const TAPROOT = Flag.P2SH | Flag.WITNESS | Flag.TAPROOT

describe.skipIf(!hasShared)("core/unit/bip341_wallet_vectors.json", () => {
  const vectors = hasShared
    ? fixtureJson<Vectors>("core/unit/bip341_wallet_vectors.json")
    : { scriptPubKey: [], keyPathSpending: [] }

  it("the commitments have the given leaves and root", () => {
    for (const { given, intermediary } of vectors.scriptPubKey) {
      const leaves = given.scriptTree === null ? [] : [...leavesOf(given.scriptTree)].sort((a, b) => a.id - b.id)
      const hashes = leaves.map((leaf) => toHex(tapLeafHash(leaf.leafVersion, bytes(leaf.script))))
      assert.deepStrictEqual(hashes, [...intermediary.leafHashes ?? []])
      const root = intermediary.merkleRoot === null ? EMPTY : bytes(intermediary.merkleRoot)
      const internal = bytes(given.internalPubkey)
      assert.strictEqual(toHex(tapTweak({ internalKey: internal, merkleRoot: root })), intermediary.tweak)
      const output = bytes(intermediary.tweakedPubkey)
      const made = tapOutput({ internalKey: internal, merkleRoot: root })
      assert.strictEqual(toHex(made.subarray(1)), intermediary.tweakedPubkey)
      assert.isTrue(checkTapTweak({ output, odd: made[0] === 0x03, internal, merkleRoot: root }))
      // Only one parity of y is valid; the control blocks contain it.
      assert.notStrictEqual(
        checkTapTweak({ output, odd: false, internal, merkleRoot: root }),
        checkTapTweak({ output, odd: true, internal, merkleRoot: root })
      )
    }
  })

  it("every control block leads to the output, and no changed one does", () => {
    let count = 0
    for (const { expected, given } of vectors.scriptPubKey) {
      const leaves = given.scriptTree === null ? [] : [...leavesOf(given.scriptTree)].sort((a, b) => a.id - b.id)
      for (const [i, leaf] of leaves.entries()) {
        const control = bytes(expected.scriptPathControlBlocks?.[i] ?? "")
        const script = bytes(expected.scriptPubKey)
        const verdict = (block: Bytes) => spend(script, { witness: [bytes(leaf.script), block] }, TAPROOT)
        // The commitment is valid. A leaf with a signature check fails because the signature is missing; other leaves
        // succeed.
        const needsSignature = leaf.script.endsWith("ac")
        assert.strictEqual(verdict(control), needsSignature ? "INVALID_STACK_OPERATION" : undefined)
        for (let at = 0; at < control.length; at++) {
          const changed = Uint8Array.from(control, (byte, j) => j === at ? byte ^ 1 : byte)
          assert.strictEqual(verdict(changed), "WITNESS_PROGRAM_MISMATCH", `${expected.scriptPubKey} at ${at}`)
        }
        count++
      }
    }
    assert.isAbove(count, 8)
  })

  it("each input has its hash, and the signed transaction is valid", () => {
    for (const { auxiliary, given, inputSpending } of vectors.keyPathSpending) {
      const coins = given.utxosSpent.map((spent) => coinOf(bytes(spent.scriptPubKey), spent.amountSats))
      const context = new SighashContext(decodeTransaction(bytes(given.rawUnsignedTx)), coins)
      for (const { given: { hashType, txinIndex }, intermediary } of inputSpending) {
        const spent = { annexHash: undefined, leafHash: undefined, codeSeparator: NO_CODE_SEPARATOR }
        assert.strictEqual(toHex(context.taproot(txinIndex, spent, hashType) ?? EMPTY), intermediary.sigHash)
      }
      const transaction = decodeTransaction(bytes(auxiliary.fullySignedTx))
      assert.isUndefined(verifyTransaction({ transaction, coins }, TAPROOT))
      const [first, ...rest] = coins
      const richer = [coinOf(first?.script ?? EMPTY, (first?.value ?? 0) + 1), ...rest]
      // An amount affects every input that signs all amounts, and no input that signs only itself.
      const verdicts = coins.map((_, index) =>
        verifyInput({ context: new SighashContext(transaction, richer), index, flags: TAPROOT })
      )
      assert.include(verdicts, "SCHNORR_SIG")
      assert.include(verdicts, undefined)
    }
  })
})
