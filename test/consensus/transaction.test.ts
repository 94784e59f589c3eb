import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  checkTransaction,
  isFinal,
  meetsLocks,
  type SequenceLocks,
  sequenceLocks
} from "../../src/consensus/transaction.ts"
import { MAX_MONEY } from "../../src/protocol/amount.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionInput
} from "../../src/protocol/transaction.ts"
import { ANYONE, coinbaseInput, currency } from "../support/regtest.ts"

/** An input that spends one of many outpoints. */
const spending = (n: number, index = 0, overrides: Partial<TransactionInput> = {}): TransactionInput => ({
  prevout: outpoint(new Uint8Array(32).fill(n & 0xff, 0, 1).fill((n >> 8) + 1, 1), index),
  scriptSig: EMPTY,
  sequence: 0xffffffff,
  witness: NO_WITNESS,
  ...overrides
})

const inputs = (count: number): ReadonlyArray<TransactionInput> => Array.from({ length: count }, (_, i) => spending(i))

const output = (value: number) => ({ value, script: ANYONE })

const one = [output(1)]

const coinbase = (length: number): Transaction => currency([coinbaseInput(new Uint8Array(length))], one)

/** A transaction of this size without witnesses. */
const sized = (size: number): Transaction => {
  // The rest of the transaction and five bytes of length, around the script.
  const around = currency([spending(1)], [{ value: 1, script: new Uint8Array(70_000) }]).strippedSize - 70_000
  return currency([spending(1)], [{ value: 1, script: new Uint8Array(size - around) }])
}

const reason = (transaction: Transaction): string | undefined => checkTransaction(transaction)?.reason

describe("checkTransaction", () => {
  it("5.4.7 checkTransaction accepts an ordinary transaction and an ordinary coinbase", () => {
    assert.isUndefined(reason(currency([spending(1)], one)))
    assert.isUndefined(reason(coinbase(10)))
  })

  it("5.4.7 a transaction needs inputs and outputs, checked in this order", () => {
    assert.strictEqual(reason(currency([], one)), "bad-txns-vin-empty")
    assert.strictEqual(reason(currency([], [])), "bad-txns-vin-empty")
    assert.strictEqual(reason(currency([spending(1)], [])), "bad-txns-vout-empty")
  })

  it("5.4.7 the size without witnesses is limited", () => {
    assert.strictEqual(sized(1_000_000).strippedSize, 1_000_000)
    assert.isUndefined(reason(sized(1_000_000)))
    assert.strictEqual(reason(sized(1_000_001)), "bad-txns-oversize")
    const witness = [new Uint8Array(2_000_000)]
    assert.isUndefined(reason(currency([spending(1, 0, { witness })], one)))
  })

  it.each([
    { values: [0], reason: undefined },
    { values: [-1], reason: "bad-txns-vout-negative" },
    { values: [MAX_MONEY], reason: undefined },
    { values: [MAX_MONEY + 1], reason: "bad-txns-vout-toolarge" },
    { values: [MAX_MONEY, 0], reason: undefined },
    { values: [MAX_MONEY, 1], reason: "bad-txns-txouttotal-toolarge" },
    { values: [MAX_MONEY - 1, 1], reason: undefined },
    { values: [1, -1], reason: "bad-txns-vout-negative" },
    { values: [MAX_MONEY, MAX_MONEY, -1], reason: "bad-txns-txouttotal-toolarge" }
  ])("5.4.7 outputs of $values: $reason", ({ reason: expected, values }) => {
    assert.strictEqual(reason(currency([spending(1)], values.map(output))), expected)
  })

  it.each([2, 3, 8, 9, 40])("5.4.7 no outpoint occurs twice among %i inputs", (count) => {
    const distinct = inputs(count)
    assert.isUndefined(reason(currency(distinct, one)))
    for (const at of [0, count - 2]) {
      const again = [...distinct.slice(0, -1), spending(at)]
      assert.strictEqual(reason(currency(again, one)), "bad-txns-inputs-duplicate")
    }
    const otherIndex = [...distinct.slice(0, -1), spending(0, 1)]
    assert.isUndefined(reason(currency(otherIndex, one)))
  })

  it.each([
    { length: 1, reason: "bad-cb-length" },
    { length: 2, reason: undefined },
    { length: 100, reason: undefined },
    { length: 101, reason: "bad-cb-length" }
  ])("5.4.7 a coinbase script of $length bytes: $reason", ({ length, reason: expected }) => {
    assert.strictEqual(reason(coinbase(length)), expected)
  })

  it("5.4.7 only a coinbase spends the null outpoint", () => {
    const mixed = currency([spending(1), coinbaseInput(EMPTY)], one)
    assert.strictEqual(reason(mixed), "bad-txns-prevout-null")
    const zeroHash = currency([spending(1), { ...coinbaseInput(EMPTY), prevout: outpoint(new Uint8Array(32), 0) }], one)
    assert.isUndefined(reason(zeroHash))
  })
})

const locked = (lockTime: number, ...sequences: ReadonlyArray<number>): Transaction =>
  currency(sequences.map((sequence, i) => spending(i, 0, { sequence })), one, { lockTime })

describe("isFinal", () => {
  it.each([
    { lockTime: 0, height: 0, cutoff: 0, final: true },
    { lockTime: 99, height: 100, cutoff: 0, final: true },
    { lockTime: 100, height: 100, cutoff: 2_000_000_000, final: false },
    { lockTime: 499_999_999, height: 100, cutoff: 2_000_000_000, final: false },
    { lockTime: 500_000_000, height: 100, cutoff: 500_000_001, final: true },
    { lockTime: 500_000_000, height: 600_000_000, cutoff: 500_000_000, final: false },
    { lockTime: 0xffffffff, height: 100, cutoff: 2_000_000_000, final: false }
  ])("lock time $lockTime at height $height and time $cutoff: $final", ({ cutoff, final, height, lockTime }) => {
    assert.strictEqual(isFinal(locked(lockTime, 0xfffffffe), height, cutoff), final)
  })

  it("the lock time has no effect if all inputs opt out", () => {
    assert.isTrue(isFinal(locked(1000, 0xffffffff, 0xffffffff), 5, 0))
    assert.isFalse(isFinal(locked(1000, 0xffffffff, 0xfffffffe), 5, 0))
  })
})

const NONE: SequenceLocks = { height: -1, time: -1 }
const TYPE_TIME = 1 << 22
const DISABLED = 0x80000000

/** The locks of a transaction with coins of these heights. The median time past grows by 600 s per block. */
const locksOf = (sequences: ReadonlyArray<number>, heights: ReadonlyArray<number>, version = 2): SequenceLocks => {
  const transaction = makeTransaction({
    version,
    inputs: sequences.map((sequence, i) => spending(i, 0, { sequence })),
    outputs: one,
    lockTime: 0
  })
  return sequenceLocks(transaction, heights.map((height) => ({ height })), (height) => 1_000_000 + 600 * height)
}

describe("sequenceLocks", () => {
  it.each([
    { name: "version 1", version: 1, locks: NONE },
    { name: "version 2", version: 2, locks: { height: 109, time: -1 } },
    { name: "a name transaction", version: 0x7100, locks: { height: 109, time: -1 } },
    { name: "version 0xffffffff, compared unsigned", version: 0xffffffff, locks: { height: 109, time: -1 } }
  ])("BIP 68 and $name", ({ locks, version }) => {
    assert.deepStrictEqual(locksOf([10], [100], version), locks)
  })

  it.each([
    { name: "no blocks: the coin's own block will do", sequence: 0, locks: { height: 99, time: -1 } },
    { name: "the disable bit", sequence: DISABLED + 10, locks: NONE },
    { name: "a final sequence", sequence: 0xffffffff, locks: NONE },
    { name: "bits that mean nothing", sequence: 0x7fbf0000 + 10, locks: { height: 109, time: -1 } },
    { name: "the most blocks", sequence: 0xffff, locks: { height: 100 + 65_534, time: -1 } },
    {
      name: "a time, from the block before the coin's",
      sequence: TYPE_TIME + 2,
      locks: { height: -1, time: 1_059_400 + 1023 }
    },
    {
      name: "the longest time",
      sequence: TYPE_TIME + 0xffff,
      locks: { height: -1, time: 1_059_400 + 65_535 * 512 - 1 }
    }
  ])("BIP 68: $name", ({ locks, sequence }) => {
    assert.deepStrictEqual(locksOf([sequence], [100]), locks)
  })

  it("BIP 68: the longest lock of all inputs counts, for each kind", () => {
    const locks = locksOf([10, 5, TYPE_TIME + 2, TYPE_TIME + 1], [100, 107, 50, 60])
    assert.deepStrictEqual(locks, { height: 111, time: 1_000_000 + 600 * 59 + 512 - 1 })
  })

  it("BIP 68: a coin of the genesis block counts from the genesis block's time", () => {
    assert.deepStrictEqual(locksOf([TYPE_TIME + 1], [0]), { height: -1, time: 1_000_000 + 511 })
  })

  it.prop("BIP 68: a lock of n blocks ends n blocks after the coin", {
    made: FastCheck.integer({ min: 0, max: 1_000_000 }),
    lock: FastCheck.integer({ min: 0, max: 0xffff })
  }, ({ lock, made }) => {
    const locks = locksOf([lock], [made])
    assert.isTrue(meetsLocks(locks, made + lock, 0))
    assert.isFalse(meetsLocks(locks, made + lock - 1, 0))
  })
})

describe("meetsLocks", () => {
  it("meetsLocks needs a height and a median time past above both locks", () => {
    const locks: SequenceLocks = { height: 99, time: 4999 }
    assert.isTrue(meetsLocks(locks, 100, 5000))
    assert.isFalse(meetsLocks(locks, 99, 5000))
    assert.isFalse(meetsLocks(locks, 100, 4999))
    assert.isTrue(meetsLocks(NONE, 0, 0))
  })
})
