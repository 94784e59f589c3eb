import { assert, describe, it } from "@effect/vitest"
import { BlockOverlay } from "../../src/consensus/BlockOverlay.ts"
import { expireNames } from "../../src/consensus/expireNames.ts"
import { mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"
import type { ChainView, Coin, NameClaim } from "../../src/consensus/view.ts"
import { type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { ANYONE, nameNew, saltOf, text } from "../support/regtest.ts"

const coinOf = (operation: NameOperation, height: number): Coin => ({
  value: 1_000_000,
  script: nameScript(operation, ANYONE),
  height,
  coinbase: false
})

const nameCoin = (name: string, height: number): Coin =>
  coinOf({ op: "name_update", name: text(name), value: text("{}") }, height)

/** A state with these claims, each at an outpoint of its own name, and these coins. */
const view = (claims: Readonly<Record<string, number>>, coins: Readonly<Record<string, Coin>>): ChainView => {
  const known = new Map(
    Object.entries(claims).map(([name, height]): [string, NameClaim] => [name, { height, outpoint: name }])
  )
  return {
    coin: (key) => coins[key],
    claim: (name) => known.get(name),
    namesClaimedBetween: (from, to) =>
      [...known].filter(([, { height }]) => height >= from && height <= to).map(([name]) => name)
  }
}

const removed = (state: ChainView, height: number, params = regtestParams): ReadonlyArray<string> => {
  const overlay = new BlockOverlay(state)
  expireNames(overlay, height, params)
  for (const key of overlay.removed.keys()) assert.isUndefined(overlay.coin(key))
  return [...overlay.removed.keys()].sort()
}

describe("expireNames", () => {
  it("4.7: takes the coins of names that the next block sees as expired", () => {
    const coins = Object.fromEntries(["a", "b", "c"].map((name, i) => [name, nameCoin(name, 100 + i)]))
    const state = view({ a: 100, b: 101, c: 102 }, coins)
    assert.deepStrictEqual(removed(state, 128), [])
    assert.deepStrictEqual(removed(state, 129), ["a"])
    assert.deepStrictEqual(removed(state, 130), ["b"])
    assert.deepStrictEqual(removed(state, 132), [])
  })

  it("4.7: takes the coin of a registration that was never updated", () => {
    const coin = coinOf({ op: "name_firstupdate", name: text("a"), rand: saltOf(1), value: text("") }, 100)
    assert.deepStrictEqual(removed(view({ a: 100 }, { a: coin }), 129), ["a"])
  })

  it("4.7: leaves names alone that the block renewed", () => {
    const overlay = new BlockOverlay(view({ a: 100 }, { a: nameCoin("a", 100) }))
    overlay.setClaim("a", { height: 129, outpoint: "z" })
    expireNames(overlay, 129, regtestParams)
    assert.strictEqual(overlay.removed.size, 0)
  })

  it.each([mainnetParams, testnetParams])("4.7: the coin of d/postmortem is not asked for, $network.name", (params) => {
    assert.deepStrictEqual(removed(view({ "d/postmortem": 139_868 }, {}), 175_867, params), [])
    const others = view({ "d/postmortem": 139_868, "d/other": 139_868 }, { "d/other": nameCoin("d/other", 139_868) })
    assert.deepStrictEqual(removed(others, 175_867, params), ["d/other"])
  })

  it("4.7: any other name, and d/postmortem at another height, has a coin or the data are broken", () => {
    assert.throws(() => removed(view({ "d/other": 139_868 }, {}), 175_867, mainnetParams), "its coin is missing")
    assert.throws(() => removed(view({ "d/postmortem": 139_869 }, {}), 175_868, mainnetParams), "its coin is missing")
  })

  it("names the name and the block where the data contradict themselves", () => {
    assert.throws(() => removed(view({ a: 100 }, {}), 129), /61 .*129.*its coin is missing/)
    assert.throws(() => removed(view({ a: 100 }, { a: nameCoin("b", 100) }), 129), /not of this name/)
    assert.throws(
      () => removed(view({ a: 100 }, { a: coinOf(nameNew(text("a"), saltOf(1)), 100) }), 129),
      /not of this name/
    )
    assert.throws(
      () => removed(view({ a: 100 }, { a: { ...nameCoin("a", 100), script: ANYONE } }), 129),
      /not of this name/
    )
    const lying = { ...view({ a: 101 }, { a: nameCoin("a", 101) }), namesClaimedBetween: () => ["a"] }
    assert.throws(() => removed(lying, 129), /its claim is from height 101/)
    assert.throws(() => removed({ ...lying, claim: () => undefined }, 129), /it has no claim/)
  })
})
