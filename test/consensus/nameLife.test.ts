import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../src/protocol/bytes.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { commit, copy, first, keyOf, mineEmpty, NAME, reasonFor, register, update } from "../support/connecting.ts"
import { buildBlock, emptyChain, makeCoinbase, mine, nameOutput, rewardOf, text } from "../support/regtest.ts"

const OTHER = text("d/other")
const KEY = nameKey(NAME)

describe("the life of a name", () => {
  it("4.7: commitment, registration after 12 blocks, update, expiry, and a new life", () => {
    const chain = emptyChain(105)
    const made = commit(1, rewardOf(chain, 1))
    mine(chain, [made, commit(2, rewardOf(chain, 2))])
    const second = chain.tip.transactions[2]
    if (second === undefined) throw new Error("the second commitment is mined")
    mineEmpty(chain, 116)
    assert.strictEqual(reasonFor(chain, register(1, first(made))), "tx-firstupdate-immature")
    mineEmpty(chain, 117)
    assert.isUndefined(reasonFor(chain, register(1, first(made))))
    const registration = register(1, first(made))
    mine(chain, [registration])
    assert.deepStrictEqual(chain.claim(KEY), { height: 118, outpoint: keyOf(first(registration)) })
    const changed = update(first(registration), "1")
    mineEmpty(chain, 132)
    mine(chain, [changed])
    assert.deepStrictEqual(chain.claim(KEY), { height: 133, outpoint: keyOf(first(changed)) })
    // A.7: last updated at 133.
    mineEmpty(chain, 161)
    assert.isDefined(chain.coin(keyOf(first(changed))))
    assert.isUndefined(reasonFor(chain, update(first(changed), "2")))
    assert.strictEqual(reasonFor(chain, register(2, first(second))), "tx-firstupdate-existing-name")
    const before = copy(chain)
    mine(chain)
    assert.isUndefined(chain.coin(keyOf(first(changed))), "the coin goes with block 162")
    assert.strictEqual(chain.claim(KEY)?.height, 133, "the claim stays")
    assert.strictEqual(reasonFor(chain, update(first(changed), "2")), "bad-txns-inputs-missingorspent")
    const secondNew = register(2, first(second))
    const after = copy(chain)
    mine(chain, [secondNew])
    assert.strictEqual(chain.claim(KEY)?.height, 163)
    chain.disconnect()
    assert.deepStrictEqual(copy(chain), after)
    chain.disconnect()
    assert.deepStrictEqual(copy(chain), before)
  })

  /** A chain with two commitments to `NAME` and one to `OTHER` that are old enough. */
  const ready = () => {
    const chain = emptyChain(105)
    const commitments = [
      commit(1, rewardOf(chain, 1)),
      commit(2, rewardOf(chain, 2)),
      commit(3, rewardOf(chain, 3), OTHER)
    ]
    mine(chain, commitments)
    mineEmpty(chain, 117)
    return { chain, commitments }
  }

  it("4.5.7: a block may have several operations on a name if each spends the previous one", () => {
    const { chain, commitments: [one, two, other] } = ready()
    if (one === undefined || two === undefined || other === undefined) throw new Error("three commitments")
    const registration = register(1, first(one))
    const changes = [update(first(registration), "1")]
    for (let i = 2; i < 5; i++) changes.push(update(first(changes[i - 2] ?? registration), String(i)))
    const delta = chain.connect(buildBlock(chain, [registration, ...changes, register(3, first(other), OTHER)]))
    const last = changes[changes.length - 1]
    if (last === undefined) throw new Error("four updates")
    assert.deepStrictEqual(chain.claim(KEY), { height: 118, outpoint: keyOf(first(last)) })
    assert.deepStrictEqual(delta.effects.map(({ operation }) => toHex(operation.value)), [
      toHex(text("{}")),
      "31",
      "32",
      "33",
      "34",
      toHex(text("{}"))
    ])
    assert.deepStrictEqual([...delta.claimsBefore], [[KEY, undefined], [nameKey(OTHER), undefined]])
    assert.strictEqual(delta.claims.size, 2)
  })

  it("4.5.7: a name is registered once in a block, and not with a commitment of the same block", () => {
    const { chain, commitments: [one, two] } = ready()
    if (one === undefined || two === undefined) throw new Error("two commitments")
    const twice = reasonFor(chain, register(1, first(one)), register(2, first(two)))
    assert.strictEqual(twice, "tx-firstupdate-existing-name")
    const young = commit(4, rewardOf(chain, 4))
    assert.strictEqual(reasonFor(chain, young, register(4, first(young))), "tx-firstupdate-immature")
  })

  it("4.7: a name that is updated in its last block does not expire in it", () => {
    const { chain, commitments: [one] } = ready()
    if (one === undefined) throw new Error("a commitment")
    const registration = register(1, first(one))
    mine(chain, [registration])
    mineEmpty(chain, 118 + 28)
    const renewed = update(first(registration), "again")
    mine(chain, [renewed])
    assert.isDefined(chain.coin(keyOf(first(renewed))))
    mineEmpty(chain, 147 + 28)
    assert.isDefined(chain.coin(keyOf(first(renewed))))
    mine(chain)
    assert.isUndefined(chain.coin(keyOf(first(renewed))))
  })

  it("4.4.2: a coinbase of the name version sets names unchecked; the replaced coin cannot update any more", () => {
    const { chain, commitments: [one] } = ready()
    if (one === undefined) throw new Error("a commitment")
    const registration = register(1, first(one))
    mine(chain, [registration])
    const stolen = nameOutput({ op: "name_update", name: NAME, value: text("stolen") }, 0)
    const coinbase = makeCoinbase(119, [stolen], { version: NAME_TX_VERSION })
    mine(chain, [], { coinbase })
    assert.deepStrictEqual(chain.claim(KEY), { height: 119, outpoint: keyOf(first(coinbase)) })
    assert.isDefined(chain.coin(keyOf(first(registration))))
    assert.strictEqual(reasonFor(chain, update(first(registration), "mine")), "tx-invalid-nameop")
    const plain = makeCoinbase(120, [stolen], { version: 2 })
    mine(chain, [], { coinbase: plain })
    assert.strictEqual(chain.claim(KEY)?.height, 119, "another version has no effect")
    assert.isDefined(chain.coin(keyOf(first(plain))))
  })
})
