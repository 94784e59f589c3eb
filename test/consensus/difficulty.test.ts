import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  blockWork,
  decodeCompact,
  difficultyOf,
  encodeCompact,
  type HeaderPoint,
  meetsTarget,
  nextBits,
  permittedTransition,
  retarget,
  targetOf
} from "../../src/consensus/difficulty.ts"
import { mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"
import { describeShared } from "../support/describeShared.ts"
import { fixtureJson } from "../support/fixtures.ts"

const MAINNET_LIMIT = mainnetParams.powLimit
const REGTEST_LIMIT = regtestParams.powLimit

/** A 256-bit number as a hash in wire order. */
const wire = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))

describe("compact bits", () => {
  it.each([
    { bits: 0x1c007fff, target: 0x7fff00n << (8n * 24n), work: 2199090366464n, difficulty: 512.00781 },
    { bits: 0x1d07fff8, target: 0x7fff8n << (8n * 26n), work: 536879104n, difficulty: 0.125 },
    { bits: 0x207fffff, target: 0x7fffffn << (8n * 29n), work: 2n, difficulty: 4.6565e-10 },
    { bits: 0x1d00ffff, target: 0xffffn << (8n * 26n), work: 4295032833n, difficulty: 1 },
    { bits: 0x1d0fffff, target: 0xfffffn << (8n * 26n), work: 268435712n, difficulty: 0.0624991 },
    { bits: 0x1b00b269, target: 0xb269n << (8n * 24n), work: 403887287318756n, difficulty: 94035.902 },
    { bits: 0x1a242a4a, target: 0x242a4an << (8n * 23n), work: 1992457132109505n, difficulty: 463897.998 }
  ])("3.1 $bits has the expected target, work and difficulty", ({ bits, difficulty, target, work }) => {
    assert.deepStrictEqual(decodeCompact(bits), {
      target,
      negative: false,
      overflow: false
    })
    assert.strictEqual(decodeCompact(encodeCompact(target)).target, target)
    assert.strictEqual(blockWork(bits), work)
    assert.approximately(difficultyOf(bits), difficulty, difficulty * 2e-5)
  })

  it("3.1 the difficulty is printed as in the reference node", () => {
    assert.strictEqual(difficultyOf(0x207fffff).toPrecision(16), "4.656542373906925e-10")
    assert.strictEqual(difficultyOf(0x1d000000), 0)
  })

  it.each([
    { bits: 0x00000000, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x00123456, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x01003456, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x02000056, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x03000000, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x04000000, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x00923456, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x01803456, target: 0n, negative: false, overflow: false, encoded: 0 },
    { bits: 0x01123456, target: 0x12n, negative: false, overflow: false, encoded: 0x01120000 },
    { bits: 0x02008000, target: 0x80n, negative: false, overflow: false, encoded: 0x02008000 },
    { bits: 0x01fedcba, target: 0x7en, negative: true, overflow: false, encoded: 0x017e0000 },
    { bits: 0x02123456, target: 0x1234n, negative: false, overflow: false, encoded: 0x02123400 },
    { bits: 0x03123456, target: 0x123456n, negative: false, overflow: false, encoded: 0x03123456 },
    { bits: 0x04123456, target: 0x12345600n, negative: false, overflow: false, encoded: 0x04123456 },
    { bits: 0x04923456, target: 0x12345600n, negative: true, overflow: false, encoded: 0x04123456 },
    { bits: 0x05009234, target: 0x92340000n, negative: false, overflow: false, encoded: 0x05009234 },
    { bits: 0x20123456, target: 0x123456n << 232n, negative: false, overflow: false, encoded: 0x20123456 },
    { bits: 0x2100ffff, target: 0xffffn << 240n, negative: false, overflow: false, encoded: 0x2100ffff },
    { bits: 0x220000ff, target: 0xffn << 248n, negative: false, overflow: false, encoded: 0x2100ff00 }
  ])("3.1 decodes $bits", ({ bits, encoded, negative, overflow, target }) => {
    assert.deepStrictEqual(decodeCompact(bits), { target, negative, overflow })
    assert.strictEqual(encodeCompact(target), encoded)
  })

  it.each([0x21010000, 0x22000100, 0x23000001, 0xff123456])("3.1 %i does not fit 256 bits", (bits) => {
    assert.isTrue(decodeCompact(bits).overflow)
    assert.isUndefined(targetOf(bits, REGTEST_LIMIT))
    assert.strictEqual(blockWork(bits), 0n)
  })

  it.each([
    { bits: 0x1d00ffff, limit: MAINNET_LIMIT, fits: true },
    { bits: 0x1d010000, limit: MAINNET_LIMIT, fits: false },
    { bits: 0x1c7fffff, limit: MAINNET_LIMIT, fits: true },
    { bits: 0x207fffff, limit: REGTEST_LIMIT, fits: true },
    { bits: 0x21008000, limit: REGTEST_LIMIT, fits: false },
    { bits: 0x1d800001, limit: MAINNET_LIMIT, fits: false },
    { bits: 0x1d000000, limit: MAINNET_LIMIT, fits: false }
  ])("3.1 $bits is a valid target within its limit: $fits", ({ bits, fits, limit }) => {
    assert.strictEqual(targetOf(bits, limit) !== undefined, fits)
    assert.strictEqual(meetsTarget(wire(0n), bits, limit), fits)
  })

  it("blockWork does not depend on earlier calls", () => {
    assert.strictEqual(blockWork(0x207fffff), 2n)
    assert.strictEqual(blockWork(0x1d00ffff), 4295032833n)
    assert.strictEqual(blockWork(0x207fffff), 2n)
    assert.strictEqual(blockWork(0x1d800001), 0n)
  })

  it.prop("encodeCompact loses no bits that the compact form can hold", {
    size: FastCheck.integer({ min: 1, max: 32 }),
    mantissa: FastCheck.integer({ min: 0x8000, max: 0x7fffff })
  }, ({ mantissa, size }) => {
    const { target } = decodeCompact(((size << 24) | mantissa) >>> 0)
    assert.strictEqual(decodeCompact(encodeCompact(target)).target, target)
  })

  it.prop("a target is met as numbers compare", {
    bits: FastCheck.tuple(FastCheck.integer({ min: 0, max: 36 }), FastCheck.integer({ min: 0, max: 0xffffff })).map((
      [size, mantissa]
    ) => ((size << 24) | mantissa) >>> 0),
    offset: FastCheck.bigInt({ min: -300n, max: 300n }),
    noise: FastCheck.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
    limit: FastCheck.constantFrom(MAINNET_LIMIT, testnetParams.powLimit, REGTEST_LIMIT)
  }, ({ bits, limit, noise, offset }) => {
    const target = targetOf(bits, limit)
    const near = (target ?? 0n) + offset
    for (const hash of [noise, near, target ?? 0n, noise >> 32n]) {
      if (hash < 0n || hash >> 256n !== 0n) continue
      assert.strictEqual(meetsTarget(wire(hash), bits, limit), target !== undefined && hash <= target)
    }
  })
})

describe("retarget", () => {
  it.each([
    { bits: 0x1d00ffff, span: 1_022_578, next: 0x1d00d86a, why: "an ordinary period" },
    { bits: 0x1d00ffff, span: 2_055_491, next: 0x1d00ffff, why: "capped by the largest target" },
    { bits: 0x1c05a3f4, span: 289_434, next: 0x1c0168fd, why: "no more than four times harder" },
    { bits: 0x1c387f6f, span: 6_048_000, next: 0x1d00e1fd, why: "no more than four times easier" },
    { bits: 0x1b00b269, span: 10_000_000, next: 0x1b02c9a4, why: "mainnet at height 20,160" },
    { bits: 0x1b02c9a4, span: 0, next: 0x1b00b269, why: "mainnet at height 22,176" },
    { bits: 0x1b02c9a4, span: -5, next: 0x1b00b269, why: "a period that ended before it began" }
  ])("3.3 $bits after $span s: $next ($why)", ({ bits, next, span }) => {
    assert.strictEqual(retarget(mainnetParams, { bits, span }), next)
  })
})

/** A chain of points, `spacing` seconds apart unless `at` returns another time. */
const points =
  (spacing: number, bits: number, at: (height: number) => Partial<HeaderPoint> = () => ({})) =>
  (height: number): HeaderPoint => ({ height, time: 1_300_000_000 + spacing * height, bits, ...at(height) })

describe("nextBits", () => {
  const INTERVAL = 2016

  it("D1: the bits stay between retargets", () => {
    const ancestor = points(1, 0x1b00b269)
    for (const height of [0, 1, INTERVAL - 2, INTERVAL, 20_158]) {
      assert.strictEqual(nextBits(mainnetParams, { prev: ancestor(height), newTime: 0, ancestor }), 0x1b00b269)
    }
  })

  /** The first time of the period differs, so that only the correct look-back gives the span. */
  const withFirst = (first: number, time: number) =>
    points(600, 0x1b00b269, (height) => height === first ? { time } : {})

  it.each([
    { height: 2015, first: 0, why: "the first period has no block more to look back at" },
    { height: 18_143, first: 16_128, why: "before merged mining 2,015 blocks are looked back" },
    { height: 20_159, first: 18_143, why: "since merged mining 2,016" },
    { height: 22_175, first: 20_159, why: "and so on" }
  ])("3.3 mainnet: the block after $height looks back to $first ($why)", ({ first, height }) => {
    const ordinary = points(600, 0x1b00b269)
    const prev = ordinary(height)
    const long = nextBits(mainnetParams, { prev, newTime: 0, ancestor: withFirst(first, prev.time - 2_419_200) })
    assert.strictEqual(long, retarget(mainnetParams, { bits: 0x1b00b269, span: 2_419_200 }))
    const beside = nextBits(mainnetParams, { prev, newTime: 0, ancestor: withFirst(first + 1, prev.time - 2_419_200) })
    assert.strictEqual(beside, retarget(mainnetParams, { bits: 0x1b00b269, span: prev.time - ordinary(first).time }))
    assert.notStrictEqual(long, beside)
  })

  it.each([
    { height: 2015, first: 0, why: "the first retarget" },
    { height: 4031, first: 2015, why: "all later ones" }
  ])("3.3 testnet: the block after $height looks back to $first ($why)", ({ first, height }) => {
    const prev = points(600, 0x1c0fffff)(height)
    const ancestor = points(600, 0x1c0fffff, (at) => at === first ? { time: prev.time - 2_419_200 } : {})
    assert.strictEqual(
      nextBits(testnetParams, { prev, newTime: 0, ancestor }),
      retarget(testnetParams, { bits: 0x1c0fffff, span: 2_419_200 })
    )
  })

  it("3.3 regtest never retargets", () => {
    const ancestor = points(1, 0x207fffff)
    assert.strictEqual(nextBits(regtestParams, { prev: ancestor(143), newTime: 0, ancestor }), 0x207fffff)
    assert.strictEqual(
      nextBits(regtestParams, { prev: { ...ancestor(143), bits: 0x1f00ffff }, newTime: 0, ancestor }),
      0x1f00ffff
    )
  })

  const SINCE = 1_394_838_000
  const LIMIT = 0x1d0fffff
  const HARD = 0x1c0fffff

  const prev: HeaderPoint = { height: 5000, time: SINCE + 1000, bits: HARD }
  const allHard = (height: number): HeaderPoint => ({ ...prev, height })

  it.each([
    { time: prev.time - 1, bits: LIMIT, why: "earlier than its predecessor: the old bug, kept" },
    { time: prev.time, bits: HARD, why: "as early as its predecessor" },
    { time: prev.time + 1200, bits: HARD, why: "20 minutes later" },
    { time: prev.time + 1201, bits: LIMIT, why: "more than 20 minutes later" },
    { time: SINCE, bits: HARD, why: "the rule begins after its time, not at it" },
    { time: SINCE + 1, bits: LIMIT, why: "the first second of the rule" }
  ])("D2 3.4 testnet block at time $time: $bits ($why)", ({ bits, time }) => {
    assert.strictEqual(nextBits(testnetParams, { prev, newTime: time, ancestor: allHard }), bits)
  })

  it("D2 3.4 the search goes back over minimum blocks to the last ordinary one", () => {
    const chain = (height: number): HeaderPoint => ({ ...prev, height, bits: height <= 4990 ? HARD : LIMIT })
    assert.strictEqual(nextBits(testnetParams, { prev: chain(5000), newTime: prev.time + 600, ancestor: chain }), HARD)
  })

  it("D2 3.4 the search stops at the first block of the period", () => {
    const chain = (height: number): HeaderPoint => ({ ...prev, height, bits: height < 4032 ? HARD : LIMIT })
    assert.strictEqual(nextBits(testnetParams, { prev: chain(5000), newTime: prev.time + 600, ancestor: chain }), LIMIT)
    const lower = (height: number): HeaderPoint => ({ ...prev, height, bits: height <= 4032 ? HARD : LIMIT })
    assert.strictEqual(nextBits(testnetParams, { prev: lower(5000), newTime: prev.time + 600, ancestor: lower }), HARD)
  })

  it("D2 3.4 the search stops at the genesis block", () => {
    const chain = (height: number): HeaderPoint => ({ ...prev, height, bits: height === 0 ? 0x1d07fff8 : LIMIT })
    assert.strictEqual(
      nextBits(testnetParams, { prev: chain(3), newTime: prev.time + 600, ancestor: chain }),
      0x1d07fff8
    )
  })

  it("D3 3.4 a retarget uses the predecessor's bits even if it was a minimum block", () => {
    const chain = points(600, HARD, (height) => height === 4031 ? { bits: LIMIT } : {})
    const next = nextBits(testnetParams, { prev: chain(4031), newTime: SINCE + 1_000_000, ancestor: chain })
    assert.strictEqual(next, retarget(testnetParams, { bits: LIMIT, span: 600 * INTERVAL }))
  })

  it("D1 mainnet has no minimum blocks", () => {
    const chain = points(600, HARD)
    assert.strictEqual(
      nextBits(mainnetParams, { prev: chain(5000), newTime: chain(5000).time + 100_000, ancestor: chain }),
      HARD
    )
  })
})

describe("permittedTransition", () => {
  const OLD = 0x1b00b269

  it.each([
    { height: 2015, bits: OLD, allowed: true },
    { height: 2015, bits: OLD + 1, allowed: false },
    { height: 2016, bits: OLD, allowed: true },
    { height: 2016, bits: 0x1b02c9a4, allowed: true },
    { height: 2016, bits: 0x1b02c9a5, allowed: false },
    { height: 2016, bits: 0x1a2c9a40, allowed: true },
    { height: 2016, bits: 0x1a2c9a3f, allowed: false }
  ])("3.5 mainnet at $height to $bits: $allowed", ({ allowed, bits, height }) => {
    assert.strictEqual(permittedTransition(mainnetParams, { height, oldBits: OLD, newBits: bits }), allowed)
  })

  it("3.5 the transition is limited by the largest target", () => {
    assert.isTrue(permittedTransition(mainnetParams, { height: 2016, oldBits: 0x1d00ffff, newBits: 0x1d00ffff }))
    assert.isFalse(permittedTransition(mainnetParams, { height: 2016, oldBits: 0x1d00ffff, newBits: 0x1d010000 }))
  })

  it("3.5 every transition is permitted if minimum blocks are allowed", () => {
    assert.isTrue(permittedTransition(testnetParams, { height: 5, oldBits: 0x1c0fffff, newBits: 0x1d0fffff }))
    assert.isTrue(permittedTransition(regtestParams, { height: 5, oldBits: 0x207fffff, newBits: 0x1d00ffff }))
  })

  it.prop("every retarget is a permitted transition", {
    size: FastCheck.integer({ min: 4, max: 28 }),
    mantissa: FastCheck.integer({ min: 0x8000, max: 0x7fffff }),
    span: FastCheck.integer({ min: -1_000_000, max: 10_000_000 })
  }, ({ mantissa, size, span }) => {
    const bits = ((size << 24) | mantissa) >>> 0
    assert.isTrue(
      permittedTransition(mainnetParams, {
        height: 2016,
        oldBits: bits,
        newBits: retarget(mainnetParams, { bits, span })
      })
    )
  })
})

describeShared("electrum_nmc_checkpoints.json", () => {
  /** Hash of the last block of a period and the target of the next, as JSON numbers: rounded to doubles. */
  const checkpoints = fixtureJson<ReadonlyArray<readonly [string, number]>>(
    "namecoin-mainnet/checkpoints/electrum_nmc_checkpoints.json"
  )

  it("3.5 the transitions on mainnet are permitted", () => {
    const bits = checkpoints.map(([, target]) => encodeCompact(BigInt(target)))
    for (let i = 1; i < bits.length; i++) {
      const [before = 0, after = 0] = [bits[i - 1], bits[i]]
      assert.isTrue(
        permittedTransition(mainnetParams, { height: 2016 * (i + 1), oldBits: before, newBits: after }),
        `period ${i + 1}`
      )
    }
    assert.strictEqual(bits.length, 191)
  })

  it("A.6 retarget agrees with the landmarks", () => {
    const bitsAfter = (height: number): number => encodeCompact(BigInt(checkpoints[(height + 1) / 2016 - 1]?.[1] ?? 0))
    assert.strictEqual(bitsAfter(18_143), 0x1b00b269)
    assert.strictEqual(bitsAfter(20_159), 0x1b02c9a4)
    assert.strictEqual(bitsAfter(22_175), 0x1b00b269)
    assert.strictEqual(bitsAfter(24_191), 0x1a6b32b1)
    assert.strictEqual(bitsAfter(385_055), 0x177e2188)
  })
})
