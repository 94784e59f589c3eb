import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { Flag } from "../../../src/consensus/flags.ts"
import { NO_CODE_SEPARATOR } from "../../../src/consensus/interpreter/Machine.ts"
import type { TaprootSpend } from "../../../src/consensus/sighash.ts"
import { type Bytes, concat, EMPTY } from "../../../src/protocol/bytes.ts"
import { sha256, taggedHash } from "../../../src/protocol/hash.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { tapLeafHash, tapTweak } from "../../../src/protocol/taproot.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { pubkeyOf, signSchnorr, xOf } from "../../support/keys.ts"
import { parseScript } from "../../support/scriptAssembly.ts"
import { spend, spendingContext } from "../../support/spending.ts"

const { Point } = secp256k1

const SECRET = new Uint8Array(32).fill(7)
const KEY = xOf(SECRET)

const TAPROOT = Flag.P2SH | Flag.WITNESS | Flag.TAPROOT

/** A taproot output: its script, and the data to spend it with a leaf. */
interface Output {
  readonly script: Bytes
  readonly control: Bytes
}

/** The output of an internal key and a tree whose root is the leaf's hash, or that and one more branch. */
const outputOf = (leaf: Bytes, options: { readonly version?: number; readonly branch?: Bytes } = {}): Output => {
  const { branch, version = 0xc0 } = options
  const leafHash = tapLeafHash(version, leaf)
  const sorted = branch === undefined
    ? []
    : Buffer.compare(leafHash, branch) < 0
    ? [leafHash, branch]
    : [branch, leafHash]
  const root = branch === undefined ? leafHash : taggedHash("TapBranch", ...sorted)
  const tweak = Point.Fn.fromBytes(tapTweak({ internalKey: KEY, merkleRoot: root }))
  const key = Point.fromBytes(concat(Uint8Array.of(2), KEY)).add(Point.BASE.multiply(tweak)).toBytes(true)
  const head = Uint8Array.of(version | ((key[0] ?? 0) & 1))
  return {
    script: concat(Uint8Array.of(Op.OP_1, 32), key.subarray(1)),
    control: concat(head, KEY, branch ?? EMPTY)
  }
}

const keyOutput = concat(Uint8Array.of(Op.OP_1, 32), KEY)

const keySpend: TaprootSpend = { annexHash: undefined, leafHash: undefined, codeSeparator: NO_CODE_SEPARATOR }

const signKey = (script: Bytes, hashType: number, spent = keySpend): Uint8Array =>
  signSchnorr(spendingContext(script, {}, 5).taproot(0, spent, hashType) ?? assert.fail("no hash"), SECRET)

const verify = (script: Bytes, witness: ReadonlyArray<Bytes>, flags = TAPROOT) => spend(script, { witness }, flags, 5)

/** Spends an output whose only leaf is this script. */
const verifyLeaf = (leaf: Bytes, items: ReadonlyArray<Bytes>, flags = TAPROOT) => {
  const { control, script } = outputOf(leaf)
  return verify(script, [...items, leaf, control], flags)
}

const signLeaf = (leaf: Bytes, codeSeparator = NO_CODE_SEPARATOR, annexHash?: Bytes): Uint8Array =>
  signKey(outputOf(leaf).script, 0, { annexHash, leafHash: tapLeafHash(0xc0, leaf), codeSeparator })

const words = parseScript

describe("taproot: by key", () => {
  it.each([1, 2, 3, 0x81, 0x82, 0x83])("a spend by key accepts a signature with hash type %d", (hashType) => {
    const signature = concat(signKey(keyOutput, hashType), Uint8Array.of(hashType))
    assert.isUndefined(verify(keyOutput, [signature]))
  })

  it("the default hash type must be omitted", () => {
    const signature = signKey(keyOutput, 0)
    assert.isUndefined(verify(keyOutput, [signature]))
    assert.strictEqual(verify(keyOutput, [concat(signature, Uint8Array.of(0))]), "SCHNORR_SIG_HASHTYPE")
    assert.strictEqual(verify(keyOutput, [concat(signature, Uint8Array.of(1))]), "SCHNORR_SIG")
    assert.strictEqual(verify(keyOutput, [concat(signature, Uint8Array.of(4))]), "SCHNORR_SIG_HASHTYPE")
    assert.strictEqual(verify(keyOutput, [signature.subarray(1)]), "SCHNORR_SIG_SIZE")
    assert.strictEqual(verify(keyOutput, [EMPTY]), "SCHNORR_SIG_SIZE")
    assert.strictEqual(verify(keyOutput, []), "WITNESS_PROGRAM_WITNESS_EMPTY")
  })

  it("the signature covers an annex", () => {
    const annex = Uint8Array.of(0x50, 1, 2)
    const annexHash = sha256(new Writer().varBytes(annex).toBytes())
    const signature = signKey(keyOutput, 0, { ...keySpend, annexHash })
    assert.isUndefined(verify(keyOutput, [signature, annex]))
    assert.strictEqual(verify(keyOutput, [signature, Uint8Array.of(0x50, 1, 3)]), "SCHNORR_SIG")
    assert.strictEqual(verify(keyOutput, [signKey(keyOutput, 0), annex]), "SCHNORR_SIG")
    // Alone it is a signature and not an annex, and with another first byte it is a control block.
    assert.strictEqual(verify(keyOutput, [annex]), "SCHNORR_SIG_SIZE")
    assert.strictEqual(verify(keyOutput, [signature, Uint8Array.of(0x51)]), "TAPROOT_WRONG_CONTROL_SIZE")
  })

  it("a program is open to all spends without the flag, within P2SH, and with another size", () => {
    assert.isUndefined(verify(keyOutput, [EMPTY], Flag.P2SH | Flag.WITNESS))
    const short = concat(Uint8Array.of(Op.OP_1, 31), KEY.subarray(1))
    assert.isUndefined(verify(short, [EMPTY]))
    const discouraged = TAPROOT | Flag.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM
    assert.strictEqual(verify(short, [EMPTY], discouraged), "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM")
    assert.isUndefined(verify(words("1 0x02 0x4e73"), [], discouraged), "an anchor")
    assert.isUndefined(verify(keyOutput, [signKey(keyOutput, 0)], discouraged))
  })

  it("the signature covers the whole spent script, with a name before the program", () => {
    const named = nameScript({ op: "name_update", name: Uint8Array.of(1), value: EMPTY }, keyOutput)
    assert.isUndefined(verify(named, [signKey(named, 0)]))
    assert.strictEqual(verify(named, [signKey(keyOutput, 0)]), "SCHNORR_SIG")
  })
})

describe("taproot: by script", () => {
  const leaf = concat(pushData(KEY), Uint8Array.of(Op.OP_CHECKSIG))

  it("a leaf of any depth that the output commits to is accepted", () => {
    assert.isUndefined(verifyLeaf(leaf, [signLeaf(leaf)]))
    for (const branch of [new Uint8Array(32), new Uint8Array(32).fill(0xff)]) {
      const { control, script } = outputOf(leaf, { branch })
      const signature = signKey(script, 0, { ...keySpend, leafHash: tapLeafHash(0xc0, leaf) })
      assert.isUndefined(verify(script, [signature, leaf, control]))
      assert.strictEqual(verify(script, [signature, leaf, control.subarray(0, 33)]), "WITNESS_PROGRAM_MISMATCH")
    }
  })

  it("a control block with another size, parity, key or leaf is refused", () => {
    const { control, script } = outputOf(leaf)
    const change = (at: number) => Uint8Array.from(control, (byte, i) => i === at ? byte ^ 1 : byte)
    assert.strictEqual(verify(script, [EMPTY, leaf, change(0)]), "WITNESS_PROGRAM_MISMATCH")
    assert.strictEqual(verify(script, [EMPTY, leaf, change(32)]), "WITNESS_PROGRAM_MISMATCH")
    assert.strictEqual(verify(script, [EMPTY, words("1"), control]), "WITNESS_PROGRAM_MISMATCH")
    for (const size of [0, 1, 32, 34, 64, 66, 33 + 32 * 129]) {
      const block = concat(control, new Uint8Array(5000)).subarray(0, size)
      assert.strictEqual(verify(script, [EMPTY, leaf, block]), "TAPROOT_WRONG_CONTROL_SIZE", `${size}`)
    }
    const longest = concat(control, new Uint8Array(32 * 128))
    assert.strictEqual(verify(script, [EMPTY, leaf, longest]), "WITNESS_PROGRAM_MISMATCH")
  })

  it("a leaf of an unknown version accepts every spend, unless discouraged", () => {
    const { control, script } = outputOf(words("RETURN"), { version: 0xc2 })
    const discouraged = TAPROOT | Flag.DISCOURAGE_UPGRADABLE_TAPROOT_VERSION
    assert.isUndefined(verify(script, [words("RETURN"), control]))
    assert.strictEqual(verify(script, [words("RETURN"), control], discouraged), "DISCOURAGE_UPGRADABLE_TAPROOT_VERSION")
    assert.isUndefined(verifyLeaf(words("1"), [], discouraged))
  })

  it("the signature covers the annex and the separator", () => {
    const annex = Uint8Array.of(0x50)
    const annexHash = sha256(new Writer().varBytes(annex).toBytes())
    const { control, script } = outputOf(leaf)
    assert.isUndefined(verify(script, [signLeaf(leaf, NO_CODE_SEPARATOR, annexHash), leaf, control, annex]))
    assert.strictEqual(verify(script, [signLeaf(leaf), leaf, control, annex]), "SCHNORR_SIG")
    const separated = concat(words("NOP CODESEPARATOR"), leaf)
    assert.isUndefined(verifyLeaf(separated, [signLeaf(separated, 1)]))
    assert.strictEqual(verifyLeaf(separated, [signLeaf(separated)]), "SCHNORR_SIG")
    const skipped = concat(words("0 IF CODESEPARATOR ENDIF"), leaf)
    assert.isUndefined(verifyLeaf(skipped, [signLeaf(skipped)]))
  })

  it("the script must leave exactly one true element", () => {
    assert.strictEqual(verifyLeaf(words("1 1"), []), "CLEANSTACK")
    assert.strictEqual(verifyLeaf(words("0"), []), "EVAL_FALSE")
    assert.strictEqual(verifyLeaf(EMPTY, []), "CLEANSTACK")
    assert.isUndefined(verifyLeaf(EMPTY, [Uint8Array.of(1)]))
  })

  it("a tapscript starts with at most 1,000 elements of at most 520 bytes", () => {
    const drops = words("2DROP ".repeat(499) + "DROP")
    const ones = (count: number): Array<Bytes> => Array.from({ length: count }, () => Uint8Array.of(1))
    assert.isUndefined(verifyLeaf(drops, ones(1000)))
    assert.strictEqual(verifyLeaf(drops, ones(1001)), "STACK_SIZE")
    assert.isUndefined(verifyLeaf(words("DROP 1"), [new Uint8Array(520)]))
    assert.strictEqual(verifyLeaf(words("DROP 1"), [new Uint8Array(521)]), "PUSH_SIZE")
  })
})

describe("tapscript", () => {
  const checkSig = concat(pushData(KEY), Uint8Array.of(Op.OP_CHECKSIG))

  it("an empty signature does not count, and a wrong one fails", () => {
    const not = concat(checkSig, words("NOT"))
    assert.isUndefined(verifyLeaf(not, [EMPTY]))
    assert.strictEqual(verifyLeaf(checkSig, [EMPTY]), "EVAL_FALSE")
    assert.strictEqual(verifyLeaf(not, [signLeaf(checkSig)]), "SCHNORR_SIG")
    assert.strictEqual(verifyLeaf(not, [Uint8Array.of(1)]), "SCHNORR_SIG_SIZE")
    const verifying = concat(pushData(KEY), words("CHECKSIGVERIFY 1"))
    assert.isUndefined(verifyLeaf(verifying, [signLeaf(verifying)]))
    assert.strictEqual(verifyLeaf(verifying, [EMPTY]), "CHECKSIGVERIFY")
  })

  it("a key of an unknown form accepts any signature, an empty key none", () => {
    const unknown = concat(pushData(pubkeyOf(SECRET)), words("CHECKSIG"))
    const discouraged = TAPROOT | Flag.DISCOURAGE_UPGRADABLE_PUBKEYTYPE
    assert.isUndefined(verifyLeaf(unknown, [Uint8Array.of(1)]))
    assert.strictEqual(verifyLeaf(unknown, [EMPTY]), "EVAL_FALSE")
    assert.strictEqual(verifyLeaf(unknown, [EMPTY], discouraged), "DISCOURAGE_UPGRADABLE_PUBKEYTYPE")
    assert.strictEqual(verifyLeaf(words("0 CHECKSIG"), [EMPTY]), "TAPSCRIPT_EMPTY_PUBKEY")
    assert.isUndefined(verifyLeaf(checkSig, [signLeaf(checkSig)], discouraged))
  })

  it("CHECKSIGADD adds up signatures", () => {
    const add = concat(words("0"), pushData(KEY), words("CHECKSIGADD"), pushData(KEY), words("CHECKSIGADD 1 EQUAL"))
    assert.strictEqual(verifyLeaf(add, [EMPTY]), "INVALID_STACK_OPERATION")
    const swapped = concat(words("SWAP 7"), pushData(KEY), words("CHECKSIGADD 8 EQUALVERIFY 3"), pushData(KEY))
    const both = concat(swapped, words("CHECKSIGADD 3 EQUAL"))
    assert.isUndefined(verifyLeaf(both, [signLeaf(both), EMPTY]))
    assert.strictEqual(verifyLeaf(both, [EMPTY, signLeaf(both)]), "EQUALVERIFY")
    const long = concat(words("0x05 0x0000000000"), pushData(KEY), words("CHECKSIGADD"))
    assert.strictEqual(verifyLeaf(long, [EMPTY]), "SCRIPTNUM")
  })

  it("tapscript has no multisig", () => {
    assert.strictEqual(verifyLeaf(words("0 0 0 CHECKMULTISIG"), []), "TAPSCRIPT_CHECKMULTISIG")
    assert.strictEqual(verifyLeaf(words("0 0 0 CHECKMULTISIGVERIFY"), []), "TAPSCRIPT_CHECKMULTISIG")
  })

  it("the size of the witness gives the budget for signatures", () => {
    const key = Uint8Array.of(1)
    const checks = (count: number): Bytes =>
      concat(...Array.from({ length: count }, () => concat(words("DUP"), pushData(key), words("CHECKSIGVERIFY"))))
    // The sum of the sizes, each with its length: signature, script of four bytes per check, control block. Plus 50.
    const weight = (count: number): number => 1 + 2 + (1 + 4 * count) + 34 + 50
    const affordable = [1, 2, 3].filter((count) => weight(count) >= 50 * count)
    assert.deepStrictEqual(affordable, [1])
    assert.isUndefined(verifyLeaf(checks(1), [Uint8Array.of(1)]))
    assert.strictEqual(verifyLeaf(checks(2), [Uint8Array.of(1)]), "TAPSCRIPT_VALIDATION_WEIGHT")
    // 96 + 4: with four bytes more in the signature, two checks cost exactly the budget.
    assert.strictEqual(weight(2), 96)
    assert.strictEqual(verifyLeaf(checks(2), [new Uint8Array(4).fill(1)]), "TAPSCRIPT_VALIDATION_WEIGHT")
    assert.isUndefined(verifyLeaf(checks(2), [new Uint8Array(5).fill(1)]))
    const unsigned = concat(
      ...Array.from({ length: 9 }, () => concat(words("DUP"), pushData(key), words("CHECKSIG DROP")))
    )
    assert.isUndefined(verifyLeaf(concat(unsigned, words("NOT")), [EMPTY]))
  })

  it("an OP_SUCCESS at any position makes the script valid, unless discouraged", () => {
    const listed = (opcode: number): boolean =>
      [80, 98, 137, 138, 141, 142].includes(opcode) || (opcode >= 126 && opcode <= 129) ||
      (opcode >= 131 && opcode <= 134) || (opcode >= 149 && opcode <= 153) || (opcode >= 187 && opcode <= 254)
    for (let opcode = 0x4f; opcode <= 0xff; opcode++) {
      const leaf = concat(words("RETURN"), Uint8Array.of(opcode))
      assert.strictEqual(verifyLeaf(leaf, []), listed(opcode) ? undefined : "OP_RETURN", `${opcode}`)
    }
    const success = Uint8Array.of(0x50)
    const discouraged = TAPROOT | Flag.DISCOURAGE_OP_SUCCESS
    assert.strictEqual(verifyLeaf(success, [], discouraged), "DISCOURAGE_OP_SUCCESS")
    assert.isUndefined(verifyLeaf(words("1"), [], discouraged))
    assert.isUndefined(verifyLeaf(concat(success, Uint8Array.of(0x05)), []), "before what cannot be read")
    assert.strictEqual(verifyLeaf(Uint8Array.of(0x05, 0x50), []), "BAD_OPCODE", "behind what cannot be read")
    assert.isUndefined(verifyLeaf(success, [new Uint8Array(521)]), "before the limits")
  })
})
