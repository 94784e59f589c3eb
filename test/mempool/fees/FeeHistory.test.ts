import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"
import { bucketOf, BUCKETS } from "../../../src/mempool/fees/feeBuckets.ts"
import { FeeHistory, type FeeMode, SavedFees } from "../../../src/mempool/fees/FeeHistory.ts"
import { type TxidKey, txidKey } from "../../../src/protocol/keys.ts"

const VSIZE = 200

const key = (text: string): TxidKey => txidKey(Buffer.from(text))

/** A transaction with a fee rate a kvB. */
const paying = (feeRate: number, height: number, validForEstimation = true) => ({
  fee: (feeRate * VSIZE) / 1000,
  vsize: VSIZE,
  height,
  validForEstimation
})

/** Saves a history and restores it from the JSON text. */
const saved = (history: FeeHistory): unknown => JSON.parse(JSON.stringify(history))

const restored = (value: unknown): FeeHistory => {
  const history = FeeHistory.fromJSON(Schema.decodeUnknownSync(SavedFees)(value))
  return history instanceof FeeHistory ? history : assert.fail(history.fault)
}

interface Market {
  readonly history: FeeHistory
  /** The waiting transactions, by key. */
  readonly waiting: Map<TxidKey, number>
  height: number
  next: number
}

const market = (height = 1): Market => {
  const history = new FeeHistory()
  history.blockConnected(height, [])
  return { history, waiting: new Map(), height, next: 0 }
}

/** Transactions with these fee rates arrive, then a block takes the `room` that pay most. */
const round = (at: Market, feeRates: ReadonlyArray<number>, room: number): void => {
  for (const feeRate of feeRates) {
    const txid = key(`tx${at.next++}`)
    at.history.entered(txid, paying(feeRate, at.height))
    at.waiting.set(txid, feeRate)
  }
  const taken = [...at.waiting].sort(([, a], [, b]) => b - a).slice(0, room).map(([txid]) => txid)
  for (const txid of taken) at.waiting.delete(txid)
  at.history.blockConnected(++at.height, taken)
}

/** Blocks that hold all transactions, at one fee rate. */
const quiet = (blocks: number, feeRate = 100_000, perBlock = 4): Market => {
  const at = market()
  for (let n = 0; n < blocks; n++) round(at, Array.from({ length: perBlock }, () => feeRate), perBlock)
  return at
}

const smart = (history: FeeHistory, target: number, mode: FeeMode = "economical") => history.estimateSmart(target, mode)

describe("FeeHistory", () => {
  it("has no estimate before it has observed anything, and returns the target", () => {
    const history = new FeeHistory()
    assert.deepStrictEqual(smart(history, 6), { feeRate: undefined, blocks: 0 })
    assert.deepStrictEqual(smart(history, 1008, "conservative"), { feeRate: undefined, blocks: 0 })
    assert.deepStrictEqual(smart(history, 0), { feeRate: undefined, blocks: 0 })
    assert.deepStrictEqual(smart(history, 1009), { feeRate: undefined, blocks: 1009 })
  })

  it("returns the fee rate at which everything was mined", () => {
    const { history } = quiet(200)
    for (const mode of ["economical", "conservative"] as const) {
      for (const target of [2, 3, 12, 13, 24]) {
        assert.deepStrictEqual(smart(history, target, mode), { feeRate: 100_000, blocks: target })
      }
    }
  })

  it("raises a target of 1 to 2, and shortens one that is longer than half of the observed time", () => {
    const { history } = quiet(41)
    assert.deepStrictEqual(smart(history, 1), { feeRate: 100_000, blocks: 2 })
    // The observed time starts with the first block that holds a followed transaction.
    assert.deepStrictEqual(smart(history, 20), { feeRate: 100_000, blocks: 20 })
    assert.deepStrictEqual(smart(history, 21), { feeRate: 100_000, blocks: 20 })
    assert.deepStrictEqual(smart(history, 1008), { feeRate: 100_000, blocks: 20 })
    assert.deepStrictEqual(smart(quiet(4).history, 2), { feeRate: undefined, blocks: 1 })
    assert.strictEqual(smart(quiet(5, 100_000, 40).history, 2).blocks, 2)
  })

  it("estimates higher rates for shorter targets while blocks are full", () => {
    const at = market()
    // Each block has room for the upper three of six; the others wait for the quiet after every tenth block.
    const rates = [50_000, 60_000, 70_000, 200_000, 220_000, 240_000]
    for (let n = 0; n < 400; n++) round(at, rates, n % 10 === 9 ? 1000 : 3)
    const soon = smart(at.history, 2).feeRate ?? assert.fail()
    const later = smart(at.history, 24).feeRate ?? assert.fail()
    assert.isAtLeast(soon, 190_000)
    assert.isAtMost(later, 52_000)
  })

  it("remembers full blocks in conservative mode after a quiet time", () => {
    const at = market()
    const busy = [50_000, 60_000, 200_000, 220_000]
    for (let n = 0; n < 400; n++) round(at, busy, n % 40 === 39 ? 1000 : 2)
    at.history.leaveAll()
    at.waiting.clear()
    for (let n = 0; n < 150; n++) round(at, busy, 4)
    const economical = smart(at.history, 2).feeRate ?? assert.fail()
    const conservative = smart(at.history, 2, "conservative").feeRate ?? assert.fail()
    assert.isAtMost(economical, 60_000)
    assert.isAtLeast(conservative, 190_000)
  })

  it("counts transactions that are never mined against their fee rate", () => {
    const at = market()
    for (let n = 0; n < 300; n++) {
      round(at, [10_000, 100_000, 100_000], 2)
      for (const [txid] of [...at.waiting].slice(0, Math.max(0, at.waiting.size - 20))) {
        at.waiting.delete(txid)
        at.history.left(txid)
      }
    }
    const raw = at.history.estimateRaw("medium", { target: 6, threshold: 0.95 }) ?? assert.fail()
    assert.strictEqual(raw.feeRate, 100_000)
    // No transaction at the lower rate was mined: those that wait or left are in the range that fails.
    assert.isAbove(raw.fail?.left ?? 0, 50)
    assert.isAbove(raw.fail?.inPool ?? 0, 5)
    assert.strictEqual(raw.fail?.confirmed, 0)
    assert.strictEqual(raw.fail?.start, 0)
  })

  it("shows the ranges behind an estimate", () => {
    const { history } = quiet(100, 100_000, 1)
    const raw = history.estimateRaw("short", { target: 1, threshold: 0.95 }) ?? assert.fail()
    const sum = (1 - 0.962 ** 100) / (1 - 0.962)
    assert.strictEqual(raw.feeRate, 100_000)
    assert.deepStrictEqual([raw.decay, raw.scale], [0.962, 1])
    assert.closeTo(raw.pass?.withinTarget ?? 0, sum, 1e-9)
    assert.closeTo(raw.pass?.confirmed ?? 0, sum, 1e-9)
    assert.isBelow(raw.pass?.start ?? 0, 100_000)
    // From the highest range down to the first with transactions.
    assert.strictEqual(raw.pass?.end, 1e99)
    assert.deepInclude(raw.fail ?? {}, { start: 0, confirmed: 0, inPool: 0, left: 0, withinTarget: 0 })
    assert.strictEqual(raw.fail?.end, raw.pass?.start)
  })

  it("has no estimate from too few transactions", () => {
    // 0.5 a block on average are needed; with one in each block, the average exceeds that after 19 blocks.
    const enough = (blocks: number) =>
      quiet(blocks, 100_000, 1).history.estimateRaw("short", { target: 2, threshold: 0.85 })?.feeRate
    assert.isUndefined(enough(17))
    assert.strictEqual(enough(18), 100_000)
    const none = quiet(17, 100_000, 1).history.estimateRaw("short", { target: 2, threshold: 0.85 })
    assert.isUndefined(none?.pass)
    assert.deepInclude(none?.fail ?? {}, { start: 0, end: 1e99 })
  })

  it("has horizons that reach 12, 48 and 1008 blocks", () => {
    const { history } = quiet(10)
    for (const [horizon, highest] of [["short", 12], ["medium", 48], ["long", 1008]] as const) {
      assert.isDefined(history.estimateRaw(horizon, { target: 1, threshold: 0.5 }))
      assert.isDefined(history.estimateRaw(horizon, { target: highest, threshold: 0.5 }))
      assert.isUndefined(history.estimateRaw(horizon, { target: highest + 1, threshold: 0.5 }))
      assert.isUndefined(history.estimateRaw(horizon, { target: 0, threshold: 0.5 }))
    }
  })

  it("follows only independent transactions that arrived at the tip, and each once", () => {
    const history = new FeeHistory()
    history.blockConnected(10, [])
    history.entered(key("a"), paying(1000, 9))
    history.entered(key("b"), paying(1000, 11))
    history.entered(key("c"), paying(1000, 10, false))
    assert.strictEqual(history.size, 0)
    history.entered(key("d"), paying(1000, 10))
    history.entered(key("d"), paying(5000, 10))
    assert.strictEqual(history.size, 1)
    history.left(key("e"))
    history.left(key("d"))
    history.left(key("d"))
    assert.strictEqual(history.size, 0)
    assert.strictEqual(history.estimateRaw("short", { target: 1, threshold: 0.5 })?.fail?.inPool, 0)
  })

  it("counts nothing from a block that is not higher than the last", () => {
    const { height, history } = quiet(100)
    const before = JSON.stringify(history)
    history.entered(key("x"), paying(500_000, height))
    history.blockConnected(height, [key("x")])
    history.blockConnected(height - 1, [])
    assert.strictEqual(history.bestHeight, height)
    assert.strictEqual(history.size, 0)
    assert.strictEqual(JSON.stringify(history), before)
    assert.strictEqual(history.estimateRaw("short", { target: 1, threshold: 0.5 })?.fail?.inPool, 0)
  })

  it("counts the transactions that have waited for the target or longer", () => {
    const history = new FeeHistory()
    history.blockConnected(1, [])
    history.entered(key("x"), paying(1000, 1))
    const waiting = (target: number, horizon: "short" | "long") =>
      history.estimateRaw(horizon, { target, threshold: 0.5 })?.fail?.inPool
    for (let height = 2; height <= 1200; height++) {
      const waited = height - 1
      history.blockConnected(height, [])
      if (waited > 30 && waited % 97 !== 0 && waited !== 1007 && waited !== 1008) continue
      assert.strictEqual(waiting(Math.min(12, waited), "short"), 1, `${waited} blocks`)
      assert.strictEqual(waiting(Math.min(1008, waited), "long"), 1, `${waited} blocks`)
      if (waited < 12) assert.strictEqual(waiting(waited + 1, "short"), 0)
      if (waited < 1008) assert.strictEqual(waiting(waited + 1, "long"), 0)
    }
    history.left(key("x"))
    const after = history.estimateRaw("short", { target: 12, threshold: 0.5 })?.fail
    assert.deepInclude(after ?? {}, { inPool: 0, left: 1 })
  })

  it("continues after a restart, even with an old file", () => {
    const at = quiet(200)
    const again = restored(saved(at.history))
    assert.strictEqual(again.bestHeight, at.height)
    for (const target of [2, 12, 100]) assert.deepStrictEqual(smart(again, target), smart(at.history, target))
    assert.deepStrictEqual(saved(again), saved(at.history))
    // The observed time of the file counts for six weeks.
    again.blockConnected(at.height + 6 * 1008, [])
    assert.strictEqual(smart(again, 90).blocks, 90)
    again.blockConnected(at.height + 6 * 1008 + 1, [])
    assert.strictEqual(smart(again, 90).blocks, 0)
  })

  it("decays the counts of many blocks without a followed transaction in one step", () => {
    const at = quiet(1, 100_000, 1)
    const counted = restored(saved(at.history))
    const blocks = 30
    for (let n = 1; n <= blocks; n++) {
      at.history.blockConnected(at.height + n, [])
      counted.blockConnected(at.height + n, [])
    }
    // A power, to the last bit: a multiplication for each block gives another number.
    assert.notStrictEqual(Array.from({ length: blocks }).reduce<number>((count) => count * 0.962, 1), 0.962 ** blocks)
    for (const history of [at.history, counted]) {
      const [bucket] = history.toJSON().short
      assert.strictEqual(bucket?.confirmed, 0.962 ** blocks)
      assert.strictEqual(bucket?.within[0], 0.962 ** blocks)
      // Reading applies it once.
      assert.deepStrictEqual(history.toJSON().short[0], bucket)
      const raw = history.estimateRaw("short", { target: 1, threshold: 0.5 })
      assert.strictEqual(raw?.fail?.confirmed, 0.962 ** blocks)
    }
  })

  it("saves no waiting transactions", () => {
    const { height, history } = quiet(50)
    history.entered(key("x"), paying(500_000, height))
    assert.strictEqual(restored(saved(history)).size, 0)
    assert.notInclude(JSON.stringify(history), "\"x\"")
    history.leaveAll()
    assert.strictEqual(history.size, 0)
  })

  it("refuses content that it cannot have saved", () => {
    const good = saved(quiet(60).history)
    const decode = Schema.decodeUnknownEither(SavedFees)
    const spoilt = (change: (copy: Record<string, unknown>, bucket: Record<string, unknown>) => void) => {
      const copy = JSON.parse(JSON.stringify(good))
      change(copy, copy.short[0])
      const decoded = decode(copy)
      if (decoded._tag === "Left") return "shape"
      const history = FeeHistory.fromJSON(decoded.right)
      return history instanceof FeeHistory ? "taken" : history.fault
    }
    const array = (value: unknown): Array<unknown> => Array.isArray(value) ? value : assert.fail()
    assert.strictEqual(spoilt(() => undefined), "taken")
    assert.match(spoilt((copy) => copy["first"] = 1000), /^blocks 1000 to 61 of 61$/)
    assert.match(spoilt((copy) => copy["bestHeight"] = 60), /^blocks 2 to 61 of 60$/)
    assert.match(spoilt((copy) => array(copy["short"]).push(array(copy["short"])[0])), /^short: .* out of place$/)
    assert.match(spoilt((_, bucket) => bucket["bucket"] = 237), /out of place/)
    assert.match(spoilt((_, bucket) => bucket["bucket"] = 3), /not of this range/)
    assert.match(spoilt((_, bucket) => bucket["feeRates"] = 0), /not of this range/)
    assert.match(spoilt((_, bucket) => array(bucket["within"]).pop()), /there are not 12 periods/)
    assert.match(spoilt((_, bucket) => array(bucket["left"]).push(0)), /there are not 12 periods/)
    assert.match(spoilt((_, bucket) => array(bucket["within"])[0] = 1e6), /early than later/)
    assert.match(spoilt((_, bucket) => array(bucket["within"])[11] = 1e6), /early than later/)
    assert.match(spoilt((_, bucket) => array(bucket["left"])[5] = 3), /late than earlier/)
    for (const wrong of [-1, 1e13, null, "1", Number.NaN]) {
      assert.strictEqual(spoilt((_, bucket) => bucket["confirmed"] = wrong), "shape")
      assert.strictEqual(spoilt((copy) => copy["bestHeight"] = wrong), "shape")
    }
    assert.strictEqual(spoilt((copy) => delete copy["long"]), "shape")
  })
})

const rates = FastCheck.nat({ max: 5_000_000 })

/** Values on both sides of the ends of horizons. */
const TARGETS = [2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 23, 24, 25, 26, 47, 48, 49, 50, 96, 97, 200]

/** A step of a random history. */
const steps = FastCheck.array(
  FastCheck.record({
    feeRates: FastCheck.array(rates, { maxLength: 8 }),
    room: FastCheck.nat({ max: 10 }),
    leaves: FastCheck.nat({ max: 3 }),
    repeat: FastCheck.nat({ max: 30 })
  }),
  { maxLength: 12 }
)

describe("FeeHistory, whatever happens", () => {
  it("returns a fee rate that some transaction paid or none, and saves what it can restore", () =>
    FastCheck.assert(
      FastCheck.property(steps, FastCheck.nat({ max: 1010 }), (steps, target) => {
        const at = market()
        let highest = 0
        for (const { feeRates, leaves, repeat, room } of steps) {
          highest = Math.max(highest, ...feeRates)
          for (let n = 0; n <= repeat; n++) round(at, feeRates, room)
          for (const [txid] of [...at.waiting].slice(0, leaves)) {
            at.waiting.delete(txid)
            at.history.left(txid)
          }
        }
        assert.isAtMost(at.history.size, at.waiting.size)
        for (const mode of ["economical", "conservative"] as const) {
          const { blocks, feeRate } = smart(at.history, target, mode)
          assert.isTrue(Number.isInteger(blocks) && blocks >= 0 && blocks <= Math.max(2, target))
          if (feeRate === undefined) continue
          assert.isTrue(Number.isSafeInteger(feeRate) && feeRate > 0)
          assert.isAtMost(feeRate, highest)
        }
        const again = restored(saved(at.history))
        again.blockConnected(at.height + 1, [])
        at.history.leaveAll()
        assert.strictEqual(at.history.size, 0)
      }),
      { numRuns: 60 }
    ), 120_000)

  // When demand changes, horizons may disagree at the targets where one ends; those of the reference node do too. They
  // also disagree in the first blocks, while the average of a short target has seen more than that of a long one.
  it("never estimates more for a longer target in conservative mode, under constant demand", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(rates, { minLength: 1, maxLength: 8 }),
        FastCheck.integer({ min: 1, max: 10 }),
        FastCheck.integer({ min: 100, max: 250 }),
        (feeRates, room, rounds) => {
          const at = market()
          for (let n = 0; n < rounds; n++) round(at, feeRates, room)
          // Compared by range: within one, each horizon has an average of its own.
          let last = BUCKETS
          for (const target of TARGETS) {
            const { blocks, feeRate } = smart(at.history, target, "conservative")
            if (blocks < target) break
            if (feeRate === undefined) continue
            assert.isAtMost(bucketOf(feeRate), last, `target ${target}`)
            last = bucketOf(feeRate)
          }
        }
      ),
      { numRuns: 40 }
    ), 120_000)
})
