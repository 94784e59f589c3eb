import { assert, describe, it } from "@effect/vitest"
import {
  checkStandardInputs,
  checkStandardWitness,
  spendsWitnessProgram
} from "../../../src/mempool/policy/standardInputs.ts"
import { type Bytes, concat, EMPTY } from "../../../src/protocol/bytes.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { makeTransaction, NO_WITNESS } from "../../../src/protocol/transaction.ts"
import { text } from "../../support/regtest.ts"
import { coinOf } from "../../support/spending.ts"

/** The coin of an input, and its signature data. */
interface Spend {
  readonly script: Bytes
  readonly scriptSig?: Bytes
  readonly witness?: ReadonlyArray<Bytes>
}

const transactionOf = (spends: ReadonlyArray<Spend>) =>
  makeTransaction({
    version: 2,
    inputs: spends.map(({ scriptSig = EMPTY, witness = NO_WITNESS }, i) => ({
      prevout: new Uint8Array(36).fill(i),
      scriptSig,
      sequence: 0xffffffff,
      witness
    })),
    outputs: [],
    lockTime: 0
  })

const coinsOf = (spends: ReadonlyArray<Spend>) => spends.map(({ script }) => coinOf(script))

const inputs = (...spends: ReadonlyArray<Spend>): string | undefined =>
  checkStandardInputs(transactionOf(spends), coinsOf(spends))?.reason

const witness = (...spends: ReadonlyArray<Spend>): string | undefined =>
  checkStandardWitness(transactionOf(spends), coinsOf(spends))?.reason

const bytes = (size: number, fill = 2): Uint8Array => new Uint8Array(size).fill(fill)

const named = (address: Bytes): Uint8Array =>
  nameScript({ op: "name_update", name: text("d/a"), value: text("{}") }, address)

const program = (version: number, size: number): Uint8Array =>
  concat(Uint8Array.of(version === 0 ? Op.OP_0 : Op.OP_1 - 1 + version, size), bytes(size))

const P2PKH = concat(
  Uint8Array.of(Op.OP_DUP, Op.OP_HASH160, 20),
  bytes(20),
  Uint8Array.of(Op.OP_EQUALVERIFY, Op.OP_CHECKSIG)
)
const P2SH = concat(Uint8Array.of(Op.OP_HASH160, 20), bytes(20), Uint8Array.of(Op.OP_EQUAL))
const P2WPKH = program(0, 20)
const P2WSH = program(0, 32)
const P2TR = program(1, 32)
const ANCHOR = Uint8Array.of(Op.OP_1, 2, 0x4e, 0x73)

/** Coins with and without a name. */
const plainAndNamed = (address: Bytes): ReadonlyArray<Bytes> => [address, named(address)]

const NONSTANDARD = "bad-txns-nonstandard-inputs"

const checks = (count: number): Uint8Array => bytes(count, Op.OP_CHECKSIG)

/** A coin with two signature operations, counted by its OP_2. */
const MULTISIG = concat(Uint8Array.of(Op.OP_1), pushData(bytes(33)), pushData(bytes(33)), Uint8Array.of(Op.OP_2, 0xae))

describe("checkStandardInputs", () => {
  it("accepts coins of the usual forms, with and without a name", () => {
    for (const script of [P2PKH, P2WPKH, P2WSH, MULTISIG].flatMap(plainAndNamed)) assert.isUndefined(inputs({ script }))
    for (const script of [P2TR, ANCHOR]) assert.isUndefined(inputs({ script }))
  })

  it("refuses coins of other forms, in any input", () => {
    for (const script of [EMPTY, Uint8Array.of(Op.OP_1), program(0, 21), program(2, 32), program(1, 33)]) {
      assert.strictEqual(inputs({ script: P2PKH }, { script }), NONSTANDARD)
    }
  })

  it("refuses names paid to a program of version 1", () => {
    assert.strictEqual(inputs({ script: named(P2TR) }), NONSTANDARD)
    assert.strictEqual(inputs({ script: named(ANCHOR) }), NONSTANDARD)
  })

  it("accepts 15 signature operations in a redeem script", () => {
    for (const script of plainAndNamed(P2SH)) {
      assert.isUndefined(inputs({ script, scriptSig: pushData(checks(15)) }))
      assert.strictEqual(inputs({ script, scriptSig: pushData(checks(16)) }), NONSTANDARD)
    }
  })

  it("refuses a redeem script that is missing or cannot be pushed", () => {
    const { OP_0, OP_1, OP_RESERVED } = Op
    const redeem = pushData(checks(1))
    for (const scriptSig of [EMPTY, Uint8Array.of(5, 1), concat(Uint8Array.of(OP_RESERVED), redeem)]) {
      assert.strictEqual(inputs({ script: P2SH, scriptSig }), NONSTANDARD)
    }
    assert.isUndefined(inputs({ script: P2SH, scriptSig: pushData(bytes(520)) }))
    assert.strictEqual(inputs({ script: P2SH, scriptSig: pushData(bytes(521)) }), NONSTANDARD)
    assert.isUndefined(inputs({ script: P2SH, scriptSig: Uint8Array.of(OP_0, OP_1) }))
    assert.isUndefined(inputs({ script: P2SH, scriptSig: bytes(1000, OP_1) }))
    assert.strictEqual(inputs({ script: P2SH, scriptSig: bytes(1001, OP_1) }), NONSTANDARD)
  })

  it("accepts 2,500 signature operations outside of witnesses, with those of coins", () => {
    const redeeming = (count: number): ReadonlyArray<Spend> =>
      Array.from({ length: count }, () => ({ script: P2SH, scriptSig: pushData(checks(15)) }))
    const single = (count: number): ReadonlyArray<Spend> => Array.from({ length: count }, () => ({ script: P2PKH }))
    assert.isUndefined(inputs(...redeeming(166), ...single(10)))
    assert.strictEqual(inputs(...redeeming(166), ...single(11)), NONSTANDARD)
    assert.isUndefined(inputs(...redeeming(166), ...single(8), { script: named(MULTISIG) }))
    assert.strictEqual(inputs(...redeeming(166), ...single(9), { script: named(MULTISIG) }), NONSTANDARD)
  })

  it("does not count signature operations in witnesses", () => {
    assert.isUndefined(inputs(...Array.from({ length: 200 }, () => ({ script: P2WSH, witness: [checks(500)] }))))
  })
})

const BAD = "bad-witness-nonstandard"

const items = (count: number, size: number): Array<Bytes> => Array.from({ length: count }, () => bytes(size))

describe("checkStandardWitness", () => {
  it("accepts transactions without witnesses", () => {
    assert.isUndefined(witness({ script: EMPTY }, { script: P2PKH }))
  })

  it("refuses a witness for an input without need of one", () => {
    const spending = { script: P2WPKH, witness: items(2, 33) }
    assert.isUndefined(witness(spending))
    for (const script of [EMPTY, P2PKH, named(P2PKH), ANCHOR]) {
      assert.isUndefined(witness(spending, { script }))
      assert.strictEqual(witness(spending, { script, witness: items(1, 1) }), BAD)
    }
  })

  it("accepts scripts of 3,600 bytes in witnesses", () => {
    for (const script of plainAndNamed(P2WSH)) {
      assert.deepStrictEqual([3600, 3601].map((size) => witness({ script, witness: [bytes(size)] })), [undefined, BAD])
    }
  })

  it("accepts 100 items of 80 bytes before the script", () => {
    const of = (...before: ReadonlyArray<Bytes>) => witness({ script: P2WSH, witness: [...before, bytes(3600)] })
    assert.deepStrictEqual([of(...items(100, 80)), of(...items(101, 1))], [undefined, BAD])
    assert.deepStrictEqual([of(bytes(1), bytes(80)), of(bytes(81), bytes(1))], [undefined, BAD])
  })

  it("applies the same limits to programs in redeem scripts", () => {
    for (const script of plainAndNamed(P2SH)) {
      for (const redeem of plainAndNamed(P2WSH)) {
        const scriptSig = pushData(redeem)
        assert.isUndefined(witness({ script, scriptSig, witness: [bytes(80), bytes(3600)] }))
        assert.strictEqual(witness({ script, scriptSig, witness: [bytes(81), bytes(1)] }), BAD)
      }
      assert.strictEqual(witness({ script, scriptSig: pushData(P2PKH), witness: items(1, 1) }), BAD)
      assert.strictEqual(witness({ script, witness: items(1, 1) }), BAD)
    }
  })

  it("has no limits for other programs", () => {
    for (const script of [P2WPKH, program(0, 31), program(2, 32), program(1, 31)]) {
      assert.isUndefined(witness({ script, witness: [bytes(81), bytes(3601)] }))
    }
  })

  it("accepts taproot spends by key, and refuses annexes", () => {
    const annex = Uint8Array.of(0x50, 1)
    assert.isUndefined(witness({ script: P2TR, witness: [bytes(64)] }))
    assert.isUndefined(witness({ script: P2TR, witness: [annex] }))
    assert.strictEqual(witness({ script: P2TR, witness: [bytes(64), annex] }), BAD)
  })

  it("accepts items of 80 bytes before a tapscript", () => {
    const of = (leaf: number, ...before: ReadonlyArray<Bytes>) =>
      witness({ script: P2TR, witness: [...before, bytes(5000), bytes(33, leaf)] })
    assert.deepStrictEqual([of(0xc0, bytes(80)), of(0xc0, bytes(81)), of(0xc1, bytes(81))], [undefined, BAD, BAD])
    assert.isUndefined(of(0xc2, bytes(81)))
    assert.strictEqual(witness({ script: P2TR, witness: [bytes(1), EMPTY] }), BAD)
    const scriptSig = pushData(P2TR)
    assert.isUndefined(witness({ script: P2SH, scriptSig, witness: [bytes(81), bytes(1), bytes(33, 0xc0)] }))
  })
})

describe("spendsWitnessProgram", () => {
  const spends = (...all: ReadonlyArray<Spend>): boolean => spendsWitnessProgram(transactionOf(all), coinsOf(all))

  it("is true for programs of any version except anchors", () => {
    for (const script of [P2WPKH, named(P2WPKH), P2TR, program(2, 2)]) {
      assert.isTrue(spends({ script: P2PKH }, { script }))
    }
    assert.isFalse(spends({ script: P2PKH }, { script: ANCHOR }, { script: named(ANCHOR) }))
  })

  it("checks redeem scripts too", () => {
    for (const redeem of [P2WPKH, named(P2WPKH), ANCHOR]) {
      assert.isTrue(spends({ script: P2SH, scriptSig: pushData(redeem) }))
    }
    assert.isFalse(spends({ script: P2SH, scriptSig: pushData(P2PKH) }, { script: P2SH }))
  })
})
