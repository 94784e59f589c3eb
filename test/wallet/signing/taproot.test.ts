import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../../src/protocol/bytes.ts"
import type { TreeLeaf } from "../../../src/protocol/psbt/Psbt.ts"
import { decodeTransaction } from "../../../src/protocol/transaction.ts"
import { tweakedKey } from "../../../src/wallet/signing/SignatureCreator.ts"
import { SigningContext } from "../../../src/wallet/signing/SigningContext.ts"
import { makeProvider } from "../../../src/wallet/signing/SigningProvider.ts"
import { signInput } from "../../../src/wallet/signing/signTransaction.ts"
import { leafKeys } from "../../../src/wallet/signing/taproot.ts"
import { makeTaproot } from "../../../src/wallet/signing/taprootTree.ts"
import { hex } from "../../support/bytes.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"
import { multiA } from "../../support/signingKinds.ts"

/** BIP 341, `wallet-test-vectors.json`. */
interface TreeVector {
  readonly id: number
  readonly script: string
  readonly leafVersion: number
}

type TreeVectors = TreeVector | ReadonlyArray<TreeVectors>

interface Vectors {
  readonly scriptPubKey: ReadonlyArray<{
    readonly given: { readonly internalPubkey: string; readonly scriptTree: TreeVectors | null }
    readonly intermediary: { readonly merkleRoot: string | null }
    readonly expected: { readonly scriptPubKey: string; readonly scriptPathControlBlocks?: ReadonlyArray<string> }
  }>
  readonly keyPathSpending: ReadonlyArray<{
    readonly given: {
      readonly rawUnsignedTx: string
      readonly utxosSpent: ReadonlyArray<{ readonly scriptPubKey: string; readonly amountSats: number }>
    }
    readonly inputSpending: ReadonlyArray<{
      readonly given: {
        readonly txinIndex: number
        readonly internalPrivkey: string
        readonly merkleRoot: string | null
        readonly hashType: number
      }
      readonly intermediary: { readonly internalPubkey: string; readonly tweakedPrivkey: string }
      readonly expected: { readonly witness: ReadonlyArray<string> }
    }>
  }>
}

const read = (): Vectors => fixtureJson<Vectors>("core/unit/bip341_wallet_vectors.json")

const isLeaf = (tree: TreeVectors): tree is TreeVector => "id" in tree

/** The leaves depth first, with their ids. */
const leavesOf = (tree: TreeVectors | null, depth = 0): ReadonlyArray<TreeLeaf & { readonly id: number }> => {
  if (tree === null) return []
  if (isLeaf(tree)) return [{ depth, leafVersion: tree.leafVersion, script: hex(tree.script), id: tree.id }]
  return tree.flatMap((branch) => leavesOf(branch, depth + 1))
}

describe.skipIf(!hasShared)("the vectors of BIP 341", () => {
  it("give the same outputs and control blocks", () => {
    const { scriptPubKey } = read()
    assert.strictEqual(scriptPubKey.length, 7)
    for (const { expected, given, intermediary } of scriptPubKey) {
      const leaves = leavesOf(given.scriptTree)
      const { outputKey, spend } = makeTaproot(hex(given.internalPubkey), leaves)
      assert.strictEqual(`5120${toHex(outputKey)}`, expected.scriptPubKey)
      assert.strictEqual(spend.merkleRoot === undefined ? null : toHex(spend.merkleRoot), intermediary.merkleRoot)
      const controls = [...spend.leaves.values()].flatMap(({ controlBlocks }) => controlBlocks.map(toHex))
      assert.deepStrictEqual(controls.sort(), [...expected.scriptPathControlBlocks ?? []].sort())
    }
  })

  it("are signed with the same signatures", () => {
    for (const { given, inputSpending } of read().keyPathSpending) {
      const transaction = decodeTransaction(hex(given.rawUnsignedTx))
      const spent = given.utxosSpent.map(({ amountSats, scriptPubKey }) => ({
        script: hex(scriptPubKey),
        value: amountSats
      }))
      const context = new SigningContext(transaction, spent)
      assert.strictEqual(inputSpending.length, 7)
      for (
        const { expected, given: { hashType, internalPrivkey, merkleRoot, txinIndex }, intermediary } of inputSpending
      ) {
        const privateKey = hex(internalPrivkey)
        const root = merkleRoot === null ? undefined : hex(merkleRoot)
        assert.strictEqual(toHex(tweakedKey(privateKey, root ?? new Uint8Array(0))), intermediary.tweakedPrivkey)
        const outputKey = spent[txinIndex]?.script.subarray(2) ?? assert.fail()
        const spend = { internalKey: hex(intermediary.internalPubkey), merkleRoot: root, leaves: new Map(), tree: [] }
        const provider = makeProvider({
          keys: [{ privateKey, compressed: true }],
          taproot: [{ outputKey, spend }]
        })
        const { error, input } = signInput(context, txinIndex, { provider, hashType })
        assert.isUndefined(error)
        assert.deepStrictEqual(input.witness.map(toHex), expected.witness)
      }
    }
  })
})

describe("leaves", () => {
  const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]

  it("are recognized by their forms", () => {
    assert.deepStrictEqual(leafKeys(hex(`20${toHex(a)}ac`)), { required: 1, keys: [a] })
    for (const required of [1, 2]) {
      assert.deepStrictEqual(leafKeys(multiA(required, [a, b])), { required, keys: [a, b] })
    }
  })

  it("of other forms are not signed", () => {
    const one = `20${toHex(a)}`
    for (
      const text of [
        "",
        "51",
        one,
        `${one}ad`,
        `${one}ac51`,
        `${one}ac519c51`,
        `${one}ba519c`,
        `${one}ac529c`,
        `${one}ac009c`
      ]
    ) {
      assert.isUndefined(leafKeys(hex(text)), text)
    }
  })

  it("of an invalid tree, or with an invalid key, make no output", () => {
    const leaf = { depth: 1, leafVersion: 0xc0, script: hex("51") }
    assert.throws(
      () => makeTaproot(hex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"), [leaf]),
      RangeError
    )
    assert.throws(() => makeTaproot(new Uint8Array(32).fill(0xff)), RangeError)
  })
})
