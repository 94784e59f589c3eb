import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BlockOverlay } from "../../src/consensus/BlockOverlay.ts"
import type { ChainView, Coin, NameClaim } from "../../src/consensus/view.ts"
import { type NameKey, nameKey } from "../../src/protocol/keys.ts"
import { outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import { ANYONE, text } from "../support/regtest.ts"

const coin = (value: number, coinbase = false): Coin => ({ value, script: ANYONE, height: 1, coinbase })

const viewOf = (coins: ReadonlyMap<string, Coin>, claims: ReadonlyMap<NameKey, NameClaim> = new Map()): ChainView => ({
  coin: (key) => coins.get(key),
  claim: (name) => claims.get(name),
  claimsBetween: (from, to) => [...claims].filter(([, { height }]) => height >= from && height <= to)
})

const [N, M] = [nameKey(text("n")), nameKey(text("m"))]

describe("BlockOverlay", () => {
  it("a coin created and spent within the block leaves no trace", () => {
    const overlay = new BlockOverlay(viewOf(new Map()))
    overlay.add("a", coin(1))
    assert.deepStrictEqual(overlay.coin("a"), coin(1))
    overlay.spend("a", coin(1))
    assert.isUndefined(overlay.coin("a"))
    assert.strictEqual(overlay.coins.size, 0)
    assert.strictEqual(overlay.removed.size, 0)
  })

  it("the overlay keeps the removed coins of the view", () => {
    const overlay = new BlockOverlay(viewOf(new Map([["a", coin(1)]])))
    overlay.spend("a", coin(1))
    assert.isUndefined(overlay.coin("a"))
    assert.deepStrictEqual([...overlay.coins], [["a", undefined]])
    assert.deepStrictEqual([...overlay.removed], [["a", coin(1)]])
  })

  it("4.8: a coinbase that repeats an older one takes the place of its coins", () => {
    const overlay = new BlockOverlay(viewOf(new Map([["a", coin(1, true)]])))
    overlay.add("a", coin(2, true))
    assert.deepStrictEqual(overlay.coin("a"), coin(2, true))
    assert.deepStrictEqual([...overlay.removed], [["a", coin(1, true)]])
    overlay.spend("a", coin(2, true))
    assert.isUndefined(overlay.coin("a"))
    assert.deepStrictEqual([...overlay.coins], [["a", undefined]])
    assert.deepStrictEqual([...overlay.removed], [["a", coin(1, true)]])
  })

  it("the overlay remembers the first claim that the block replaced", () => {
    const before = { height: 1, outpoint: "a" }
    const overlay = new BlockOverlay(viewOf(new Map(), new Map([[N, before]])))
    overlay.setClaim(N, { height: 9, outpoint: "b" })
    overlay.setClaim(N, { height: 9, outpoint: "c" })
    overlay.setClaim(M, { height: 9, outpoint: "d" })
    assert.deepStrictEqual(overlay.claim(N), { height: 9, outpoint: "c" })
    assert.deepStrictEqual([...overlay.claimsBefore], [[N, before], [M, undefined]])
  })

  it("claimsBetween omits the names that the block renewed", () => {
    const claims = new Map(["a", "b", "c"].map((name, height) => [nameKey(text(name)), { height, outpoint: name }]))
    const overlay = new BlockOverlay(viewOf(new Map(), claims))
    const named = () => overlay.claimsBetween(0, 1).map(([name]) => name)
    assert.deepStrictEqual(named(), ["a", "b"])
    overlay.setClaim(nameKey(text("a")), { height: 9, outpoint: "z" })
    assert.deepStrictEqual(named(), ["b"])
  })

  it.prop("outputKey returns the key of the output's outpoint", {
    txid: FastCheck.uint8Array({ minLength: 32, maxLength: 32 }),
    index: FastCheck.integer({ min: 0, max: 0xffffffff })
  }, ({ index, txid }) => {
    const overlay = new BlockOverlay(viewOf(new Map()))
    assert.strictEqual(overlay.outputKey(txid, index), outpointKey(outpoint(txid, index)))
  })

  it.prop("the overlay behaves as a plain map that is changed step by step, and reports the changes", {
    start: FastCheck.array(FastCheck.integer({ min: 0, max: 7 }), { maxLength: 8 }),
    steps: FastCheck.array(FastCheck.tuple(FastCheck.boolean(), FastCheck.integer({ min: 0, max: 7 })), {
      maxLength: 30
    })
  }, ({ start, steps }) => {
    const before = new Map(start.map((key) => [String(key), coin(key, true)]))
    const model = new Map(before)
    const overlay = new BlockOverlay(viewOf(before))
    for (const [adds, number] of steps) {
      const key = String(number)
      const present = overlay.coin(key)
      assert.deepStrictEqual(present, model.get(key))
      if (adds && present === undefined) {
        overlay.add(key, coin(100 + number, true))
        model.set(key, coin(100 + number, true))
      } else if (!adds && present !== undefined) {
        overlay.spend(key, present)
        model.delete(key)
      }
    }
    const after = new Map(before)
    for (const [key, changed] of overlay.coins) {
      if (changed === undefined) after.delete(key)
      else after.set(key, changed)
    }
    assert.deepStrictEqual([...after].sort(), [...model].sort())
    for (const [key, gone] of overlay.removed) {
      assert.isTrue(overlay.coins.has(key))
      assert.deepStrictEqual(gone, before.get(key))
    }
    for (const key of overlay.coins.keys()) assert.strictEqual(overlay.removed.has(key), before.has(key))
  })
})
