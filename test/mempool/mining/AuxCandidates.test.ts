import { assert, describe, it } from "@effect/vitest"
import { type AuxCandidate, AuxCandidates, MAX_CANDIDATES } from "../../../src/mempool/mining/AuxCandidates.ts"
import { type BlockTemplate, templateHeader } from "../../../src/mempool/mining/blockTemplate.ts"
import { NOTHING_SELECTED } from "../../../src/mempool/mining/selectChunks.ts"
import { makeCoinbase } from "../../support/regtest.ts"

const TIP = new Uint8Array(32).fill(1)
const OTHER_TIP = new Uint8Array(32).fill(2)

const scriptOf = (number: number): Uint8Array => Uint8Array.of(number >> 8, number & 0xff)

/** A candidate with a distinct time. */
const candidate = (time: number, prevHash = TIP): AuxCandidate => {
  const coinbase = makeCoinbase(1, [])
  const template: BlockTemplate = {
    height: 1,
    minTime: 0,
    time,
    bits: 0x207fffff,
    prevHash,
    version: 0x00010004,
    transactions: [coinbase],
    coinbase,
    selection: NOTHING_SELECTED
  }
  return { template, header: templateHeader(template, true) }
}

const at = (time: number, changes = 0) => ({ time, changes })

describe("AuxCandidates", () => {
  it("reuses a candidate until the tip changes, or the pool has changed and a minute has passed", () => {
    const candidates = new AuxCandidates()
    const [script, other] = [scriptOf(1), scriptOf(2)]
    const first = candidate(1)
    assert.isUndefined(candidates.find(TIP, script, at(0)))
    candidates.add(first, script, at(100))
    const timeOf = (found: AuxCandidate | undefined) => found?.template.time
    assert.strictEqual(timeOf(candidates.find(TIP, script, at(100))), 1)
    assert.strictEqual(timeOf(candidates.find(TIP, script, at(100_000))), 1, "the same pool")
    assert.strictEqual(timeOf(candidates.find(TIP, script, at(160, 1))), 1, "another pool, for a minute")
    assert.isUndefined(candidates.find(TIP, script, at(161, 1)))
    assert.isUndefined(candidates.find(TIP, other, at(100)))
    assert.isUndefined(candidates.find(OTHER_TIP, script, at(100)))
    candidates.add(candidate(2), script, at(161, 1))
    assert.strictEqual(timeOf(candidates.find(TIP, script, at(170, 1))), 2, "the latest")
    assert.strictEqual(timeOf(candidates.get(first.header.hash)), 1, "the older one can still be mined")
  })

  it("drops all candidates of a tip when the first of another one is added", () => {
    const candidates = new AuxCandidates()
    const [old, young] = [candidate(1), candidate(2, OTHER_TIP)]
    candidates.add(old, scriptOf(1), at(0))
    candidates.add(young, scriptOf(2), at(0))
    assert.isUndefined(candidates.get(old.header.hash))
    assert.isUndefined(candidates.find(OTHER_TIP, scriptOf(1), at(0)))
    assert.isDefined(candidates.get(young.header.hash))
    assert.strictEqual(candidates.size, 1)
  })

  it("keeps a limited number, and drops the oldest", () => {
    const candidates = new AuxCandidates()
    const made = Array.from({ length: MAX_CANDIDATES + 1 }, (_, time) => candidate(time))
    for (const [number, one] of made.entries()) {
      if (number === MAX_CANDIDATES) assert.isDefined(candidates.get(made[0]?.header.hash ?? assert.fail()))
      candidates.add(one, scriptOf(number), at(0))
    }
    assert.strictEqual(candidates.size, MAX_CANDIDATES)
    assert.isUndefined(candidates.get(made[0]?.header.hash ?? assert.fail()))
    assert.isUndefined(candidates.find(TIP, scriptOf(0), at(0)))
    assert.isDefined(candidates.get(made[1]?.header.hash ?? assert.fail()))
    assert.isDefined(candidates.find(TIP, scriptOf(MAX_CANDIDATES), at(0)))
  })
})
