import { assert, describe, it } from "@effect/vitest"
import { BlockOverlay } from "../../src/consensus/BlockOverlay.ts"
import { expireNames } from "../../src/consensus/expireNames.ts"
import { mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"
import type { ChainView, Coin, NameClaim } from "../../src/consensus/view.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { type NameKey, nameKey } from "../../src/protocol/keys.ts"
import { type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import { ANYONE, nameNew, saltOf, text } from "../support/regtest.ts"

const coinOf = (operation: NameOperation, height: number): Coin => ({
  value: 1_000_000,
  script: nameScript(operation, ANYONE),
  height,
  coinbase: false
})

const nameCoin = (name: string, height: number): Coin =>
  coinOf({ op: "name_update", name: text(name), value: text("{}") }, height)

/** The output of a name. */
const keyOf = (name: string): string => outpointKey(outpoint(sha256(text(name)), 258))

/** A state with these claims, each on a separate output, and these coins on the outputs of names. */
const view = (claims: Readonly<Record<string, number>>, coins: Readonly<Record<string, Coin>>): ChainView => {
  const known = new Map(
    Object.entries(claims).map((
      [name, height]
    ): [NameKey, NameClaim] => [nameKey(text(name)), { height, outpoint: keyOf(name) }])
  )
  const byKey = new Map(Object.entries(coins).map(([name, coin]) => [keyOf(name), coin]))
  return {
    coin: (key) => byKey.get(key),
    claim: (name) => known.get(name),
    claimsBetween: (from, to) => [...known].filter(([, { height }]) => height >= from && height <= to)
  }
}

/** The names whose coins were removed. */
const removed = (state: ChainView, height: number, params = regtestParams): ReadonlyArray<string> => {
  const overlay = new BlockOverlay(state)
  assert.isUndefined(expireNames(overlay, height, params))
  for (const key of overlay.removed.keys()) assert.isUndefined(overlay.coin(key))
  const names = ["a", "b", "c", "d/postmortem", "d/other"]
  return names.filter((name) => overlay.removed.has(keyOf(name)))
}

const refusal = (state: ChainView, height: number, params = regtestParams): string | undefined => {
  const broken = expireNames(new BlockOverlay(state), height, params)
  if (broken === undefined) return undefined
  assert.deepInclude(broken, { reason: "bad-names-expiry", kind: "consensus" })
  return broken.detail
}

describe("expireNames", () => {
  it("4.7: expireNames removes the coins of names that are expired for the next block", () => {
    const coins = Object.fromEntries(["a", "b", "c"].map((name, i) => [name, nameCoin(name, 100 + i)]))
    const state = view({ a: 100, b: 101, c: 102 }, coins)
    assert.deepStrictEqual(removed(state, 128), [])
    assert.deepStrictEqual(removed(state, 129), ["a"])
    assert.deepStrictEqual(removed(state, 130), ["b"])
    assert.deepStrictEqual(removed(state, 132), [])
  })

  it("4.7: expireNames removes the coin of a registration that was never updated", () => {
    const coin = coinOf({ op: "name_firstupdate", name: text("a"), rand: saltOf(1), value: text("") }, 100)
    assert.deepStrictEqual(removed(view({ a: 100 }, { a: coin }), 129), ["a"])
  })

  it("4.7: expireNames keeps the coins of names that the block renewed", () => {
    const overlay = new BlockOverlay(view({ a: 100 }, { a: nameCoin("a", 100) }))
    overlay.setClaim(nameKey(text("a")), { height: 129, outpoint: keyOf("b") })
    expireNames(overlay, 129, regtestParams)
    assert.strictEqual(overlay.removed.size, 0)
  })

  it.each([mainnetParams, testnetParams])("4.7: the coin of d/postmortem is not read, $network.name", (params) => {
    assert.deepStrictEqual(removed(view({ "d/postmortem": 139_868 }, {}), 175_867, params), [])
    const others = view({ "d/postmortem": 139_868, "d/other": 139_868 }, { "d/other": nameCoin("d/other", 139_868) })
    assert.deepStrictEqual(removed(others, 175_867, params), ["d/other"])
  })

  it("expireNames refuses the block if another name, or d/postmortem at another height, has no coin", () => {
    assert.match(refusal(view({ "d/other": 139_868 }, {}), 175_867, mainnetParams) ?? "", /which is not a coin there/)
    assert.match(
      refusal(view({ "d/postmortem": 139_869 }, {}), 175_868, mainnetParams) ?? "",
      /which is not a coin there/
    )
  })

  it("expireNames reports the claim, its output and the coin there", () => {
    const output = `${displayHash(sha256(text("a")))}:258`
    const found = (coins: Readonly<Record<string, Coin>>) => refusal(view({ a: 100 }, coins), 129)
    const claim = `the claim of name 61 (hex) in the chain state is on output ${output}`
    assert.strictEqual(found({}), `${claim}, which is not a coin there`)
    assert.strictEqual(found({ a: nameCoin("b", 100) }), `${claim}, a coin that holds name 62`)
    assert.strictEqual(
      found({ a: coinOf(nameNew(text("a"), saltOf(1)), 100) }),
      `${claim}, a coin that holds a NAME_NEW`
    )
    assert.strictEqual(found({ a: { ...nameCoin("a", 100), script: ANYONE } }), `${claim}, a coin that holds no name`)
  })

  it("expireNames reads no coin in the blocks before and after, and none of a name that the block renews", () => {
    const state = view({ a: 100 }, {})
    assert.isUndefined(refusal(state, 128))
    assert.isUndefined(refusal(state, 130))
    const overlay = new BlockOverlay(state)
    overlay.setClaim(nameKey(text("a")), { height: 129, outpoint: keyOf("b") })
    assert.isUndefined(expireNames(overlay, 129, regtestParams))
  })

  it("expireNames reports the same name for any order of claims", () => {
    const claims = { c: 100, a: 100, b: 100 }
    const forwards = view(claims, { a: nameCoin("a", 100) })
    const backwards: ChainView = {
      ...forwards,
      claimsBetween: (from, to) => forwards.claimsBetween(from, to).toReversed()
    }
    assert.match(refusal(forwards, 129) ?? "", /name 62 /)
    assert.strictEqual(refusal(forwards, 129), refusal(backwards, 129))
  })
})
