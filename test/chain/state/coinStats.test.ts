import { assert, describe, it } from "@effect/vitest"
import { type CoinHashKind, type CoinStatistics, CoinStats } from "../../../src/chain/state/coinStats.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import { compare, displayHash, fromBinaryString, toHex } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { MuHash } from "../../../src/protocol/muhash.ts"
import { outpoint, prevoutIndex, prevoutTxid } from "../../../src/protocol/transaction.ts"
import { hash, hex } from "../../support/bytes.ts"
import { type CoinSummary, expectedSummary, fixtureBlocks } from "../../support/chainFixture.ts"
import { fixtureJson } from "../../support/fixtures.ts"
import { MemoryChain, trustScripts } from "../../support/MemoryChain.ts"

interface CheckedCoins extends CoinSummary {
  readonly hash_serialized_3: string
  readonly muhash: string
}

/** Coins in the order of the hash. */
const inOrder = (coins: ReadonlyMap<string, Coin>): ReadonlyArray<readonly [Uint8Array, Coin]> =>
  [...coins].map(([key, coin]) => [fromBinaryString(key), coin] as const).sort(([a], [b]) =>
    compare(prevoutTxid(a), prevoutTxid(b)) || prevoutIndex(a) - prevoutIndex(b)
  )

const statsOf = (kind: CoinHashKind, coins: ReadonlyArray<readonly [Uint8Array, Coin]>): CoinStatistics => {
  const stats = new CoinStats(kind)
  for (const [place, coin] of coins) stats.add(place, coin)
  return stats.finish()
}

const shownHash = (stats: CoinStatistics): string => displayHash(stats.hash ?? assert.fail("no hash"))

describe("regtest-names: what the reference node says of its coins", () => {
  const { checkpoints } = fixtureJson<{
    readonly checkpoints: ReadonlyArray<{ readonly height: number; readonly utxo: CheckedCoins }>
  }>("regtest-names/expected.json")
  const blocks = fixtureBlocks("regtest-names/blocks.dat")
  const chain = new MemoryChain(regtestParams, trustScripts)

  it("at 24 heights", () => assert.lengthOf(checkpoints, 24))

  it.each(checkpoints)("at height $height", ({ height, utxo }) => {
    for (const block of blocks.slice(chain.height + 1, height + 1)) chain.connect(block)
    const coins = inOrder(chain.coins)
    const serialized = statsOf("hash_serialized_3", coins)
    const { bogosize, coins: inCoins, names, transactions, txouts } = serialized
    assert.deepStrictEqual(
      { bogosize, coins: inCoins, names, total: inCoins + names, transactions, txouts },
      expectedSummary(utxo)
    )
    assert.strictEqual(shownHash(serialized), utxo.hash_serialized_3)
    const muhash = statsOf("muhash", coins)
    assert.strictEqual(shownHash(muhash), utxo.muhash)
    assert.deepInclude({ ...serialized, ...muhash, kind: 0, hash: 0 }, { txouts, transactions, bogosize, names })
  })
})

const TXID = "ab".repeat(31) + "01"
const place = (index: number): Uint8Array => outpoint(hash(TXID), index)
const coin: Coin = { value: 5_000_000_001, script: hex("51"), height: 0x12345, coinbase: true }
const name: Coin = { value: 1_000_000, script: hex("53016101626d7551"), height: 1, coinbase: false }

describe("statistics", () => {
  it("the statistics of no coins are right", () => {
    assert.deepStrictEqual(statsOf("none", []), {
      txouts: 0,
      transactions: 0,
      bogosize: 0,
      coins: 0,
      names: 0,
      kind: "none",
      hash: undefined
    })
    assert.strictEqual(toHex(statsOf("hash_serialized_3", []).hash ?? hex("")), toHex(hash256(hex(""))))
    assert.deepStrictEqual(statsOf("muhash", []).hash, new MuHash().digest())
  })

  it("the statistics of coins and names of two transactions are right", () => {
    const other = outpoint(hash("cd".repeat(32)), 0)
    assert.deepStrictEqual(statsOf("none", [[place(0), coin], [place(7), name], [other, coin]]), {
      txouts: 3,
      transactions: 2,
      bogosize: 3 * 50 + 1 + 8 + 1,
      coins: 10_000_000_002,
      names: 1_000_000,
      kind: "none",
      hash: undefined
    })
  })

  it("the statistics hash a coin as outpoint, height with the coinbase bit, and output", () => {
    const bytes = hex(`01${"ab".repeat(31)} 07000000 8b460200 01f2052a01000000 01 51`)
    assert.deepStrictEqual(statsOf("hash_serialized_3", [[place(7), coin]]).hash, hash256(bytes))
    const set = new MuHash()
    set.add(bytes)
    assert.deepStrictEqual(statsOf("muhash", [[place(7), coin]]).hash, set.digest())
  })

  it("the statistics do not depend on the buffer of an outpoint", () => {
    const reused = new Uint8Array(36)
    const stats = new CoinStats("hash_serialized_3")
    const places = [place(0), place(1), outpoint(hash("cd".repeat(32)), 0)]
    for (const each of places) {
      reused.set(each)
      stats.add(reused, coin)
    }
    assert.deepStrictEqual(stats.finish(), statsOf("hash_serialized_3", places.map((each) => [each, coin] as const)))
  })

  it("the statistics cover more coins than one hashed piece", () => {
    const many = Array.from({ length: 3_000 }, (_, n) => [place(n), coin] as const)
    const whole = many.map(([each]) => toHex(each) + "8b46020001f2052a010000000151").join("")
    assert.deepStrictEqual(statsOf("hash_serialized_3", many).hash, hash256(hex(whole)))
  })
})
