import { assert, describe, it } from "@effect/vitest"
import { checkDustFee, checkDustSpent, dustOutputs, dustThreshold, isDust } from "../../../src/mempool/policy/dust.ts"
import { type Bytes, concat, displayHash, EMPTY } from "../../../src/protocol/bytes.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import { Op } from "../../../src/protocol/script.ts"
import { currency, input, text } from "../../support/regtest.ts"
import { creditingTransaction } from "../../support/spending.ts"

const hash = (size: number): Uint8Array => new Uint8Array(size).fill(7)

const PUBKEY_HASH = concat(
  Uint8Array.of(Op.OP_DUP, Op.OP_HASH160, 20),
  hash(20),
  Uint8Array.of(Op.OP_EQUALVERIFY, Op.OP_CHECKSIG)
)
const SCRIPT_HASH = concat(Uint8Array.of(Op.OP_HASH160, 20), hash(20), Uint8Array.of(Op.OP_EQUAL))
const WITNESS_KEY_HASH = concat(Uint8Array.of(Op.OP_0, 20), hash(20))
const WITNESS_SCRIPT_HASH = concat(Uint8Array.of(Op.OP_0, 32), hash(32))
const ANCHOR = Uint8Array.of(Op.OP_1, 2, 0x4e, 0x73)

const threshold = (script: Bytes, rate?: number): number => dustThreshold({ value: 0, script }, rate)

describe("dustThreshold", () => {
  it("is the cost of spending the output at 3,000 a kvB", () => {
    assert.deepStrictEqual(
      [PUBKEY_HASH, SCRIPT_HASH, WITNESS_KEY_HASH, WITNESS_SCRIPT_HASH, ANCHOR].map((script) => threshold(script)),
      [546, 540, 294, 330, 240]
    )
  })

  it("rounds up at other rates", () => {
    assert.deepStrictEqual([0, 1, 1000, 1001].map((rate) => threshold(PUBKEY_HASH, rate)), [0, 1, 182, 183])
  })

  it("counts the bytes of a name, and takes the discount of the script behind it", () => {
    const named = (address: Bytes): Uint8Array =>
      nameScript({ op: "name_update", name: text("d/a"), value: text("{}") }, address)
    const prefix = named(EMPTY).length
    assert.strictEqual(threshold(named(PUBKEY_HASH)), 546 + 3 * prefix)
    assert.strictEqual(threshold(named(WITNESS_KEY_HASH)), 294 + 3 * prefix)
  })

  it("is 0 for an unspendable output", () => {
    assert.strictEqual(threshold(Uint8Array.of(Op.OP_RETURN, 1, 1)), 0)
    assert.strictEqual(threshold(new Uint8Array(10_001)), 0)
    assert.isAbove(threshold(new Uint8Array(10_000)), 0)
  })
})

describe("isDust", () => {
  it("is true below the threshold", () => {
    assert.deepStrictEqual([545, 546].map((value) => isDust({ value, script: PUBKEY_HASH })), [true, false])
    assert.isFalse(isDust({ value: 0, script: Uint8Array.of(Op.OP_RETURN) }))
  })
})

const parent = currency([input({ transaction: creditingTransaction(EMPTY), vout: 0 })], [
  { value: 1000, script: PUBKEY_HASH },
  { value: 0, script: ANCHOR },
  { value: 545, script: PUBKEY_HASH }
])

describe("dustOutputs", () => {
  it("returns the indices of dust", () => {
    assert.deepStrictEqual(dustOutputs(parent), [1, 2])
    assert.deepStrictEqual(dustOutputs(parent, 0), [])
  })
})

describe("checkDustFee", () => {
  it("refuses dust with a fee, real or prioritised", () => {
    assert.isUndefined(checkDustFee({ transaction: parent, fee: 0, modifiedFee: 0 }))
    for (const [fee = 0, modifiedFee = 0] of [[1, 1], [1, 0], [0, 1], [0, -1]]) {
      assert.deepInclude(checkDustFee({ transaction: parent, fee, modifiedFee }), {
        reason: "dust",
        detail: "tx with dust output must be 0-fee"
      })
    }
  })

  it("lets a transaction without dust pay", () => {
    assert.isUndefined(checkDustFee({ transaction: creditingTransaction(PUBKEY_HASH, 546), fee: 5, modifiedFee: 5 }))
  })
})

describe("checkDustSpent", () => {
  const spends = (...vouts: ReadonlyArray<number>) =>
    currency(vouts.map((vout) => input({ transaction: parent, vout })), [{ value: 600, script: PUBKEY_HASH }])

  it("refuses a transaction that leaves any dust of a parent unspent", () => {
    assert.isUndefined(checkDustSpent(spends(0, 1, 2), [parent]))
    for (const child of [spends(0), spends(1), spends(0, 2)]) {
      assert.deepInclude(checkDustSpent(child, [parent]), {
        reason: "missing-ephemeral-spends",
        detail: `tx ${displayHash(child.txid)} (wtxid=${
          displayHash(child.wtxid)
        }) did not spend parent's ephemeral dust`
      })
    }
  })

  it("requires only the dust of its parents", () => {
    assert.isUndefined(checkDustSpent(spends(0), []))
    assert.isUndefined(checkDustSpent(spends(0), [creditingTransaction(PUBKEY_HASH, 546)]))
  })
})
