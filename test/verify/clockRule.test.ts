import { assert, describe, it } from "@effect/vitest"
import { mainnetReader, regtestReader } from "../../src/consensus/readerParams.ts"
import { type ClockQuestion, clockVerdict, heightFault } from "../../src/verify/clockRule.ts"
import { isFailure } from "../../src/verify/nameProof.ts"

/** A day in 2026, and blocks before it. */
const NOW = 1_781_900_000
const TIP = { height: 829_960, time: NOW - 600 }

/** The block of an operation as many blocks before the tip. */
const before = (blocks: number) => ({ height: TIP.height - blocks, time: TIP.time - 600 * blocks })

const verdict = (parts: Partial<ClockQuestion>, params = mainnetReader): string => {
  const outcome = clockVerdict({ blocks: [before(100)], tip: TIP, areHeightsProven: true, now: NOW, ...parts }, params)
  if (isFailure(outcome)) return outcome.failed
  return outcome.isNearExpiry ? "near" : "good"
}

const HOUR = 3_600

describe("clockVerdict", () => {
  it.each<readonly [what: string, expected: string, question: Partial<ClockQuestion>]>([
    ["an operation of today", "good", {}],
    ["a tip of yesterday", "good", { now: NOW + 23 * HOUR }],
    ["an older tip", "the proof is older than a day", { now: NOW + 24 * HOUR }],
    ["a tip from months ago", "the proof is older than a day", { now: NOW + 200 * 24 * HOUR }],
    ["a tip from the future", "a header is from the future", { now: TIP.time - 2 * HOUR - 1 }],
    [
      "a header from the future among others",
      "a header is from the future",
      { blocks: [before(3), { height: TIP.height - 2, time: NOW + 3 * HOUR }, before(1)] }
    ],
    ["a name at the end of its life", "good", { blocks: [before(35_900)] }],
    ["the same with a claimed height", "near", { blocks: [before(35_900)], areHeightsProven: false }],
    ["a name beyond it", "the name has expired since", { blocks: [{ ...before(30_000), time: before(38_000).time }] }],
    [
      "a tip 1,700 blocks too low",
      "the tip is lower than its time allows",
      { blocks: [{ ...before(5_000), height: TIP.height - 3_300 }], areHeightsProven: false }
    ],
    [
      "a tip that is too high",
      "the tip is higher than its time allows",
      { blocks: [{ ...before(5_000), height: TIP.height - 7_000 }], areHeightsProven: false }
    ]
  ])("takes %s as %s", (_, expected, question) => {
    assert.strictEqual(verdict(question), expected)
  })

  it("has only the first rule on test networks", () => {
    assert.strictEqual(verdict({ now: NOW + 1000 * 24 * HOUR }, regtestReader), "good")
    assert.strictEqual(verdict({ now: NOW - 1000 * 24 * HOUR }, regtestReader), "a header is from the future")
  })
})

describe("heightFault", () => {
  /** Heights and times of blocks of mainnet. */
  const REAL = [
    [19_204, 1_318_073_606],
    [19_414, 1_318_268_414],
    [37_174, 1_326_093_624],
    [210_000, 1_418_768_435],
    [495_000, 1_582_540_599],
    [815_000, 1_772_870_384],
    [829_949, 1_781_892_228]
  ] as const

  it("takes the heights of mainnet, and no others", () => {
    for (const [height, time] of REAL) {
      assert.isUndefined(heightFault({ height, time }, mainnetReader))
      for (const wrong of [height + 20_000, height - 20_000, 0, 2_000_000]) {
        assert.isDefined(heightFault({ height: wrong, time }, mainnetReader), `${wrong} at ${time}`)
      }
    }
  })

  it("goes on at the usual rate", () => {
    const time = 1_781_892_228 + 10 * 365 * 86_400
    assert.isUndefined(heightFault({ height: 829_949 + 525_600, time }, mainnetReader))
    assert.isDefined(heightFault({ height: 829_949 + 450_000, time }, mainnetReader))
    assert.isUndefined(heightFault({ height: 5, time }, regtestReader))
  })
})
