import { assert, describe, it } from "@effect/vitest"
import { ChainDatabase } from "../../src/chain/state/ChainDatabase.ts"
import { coinKey, encodeCoin } from "../../src/chain/state/coinCodec.ts"
import { CoinStore } from "../../src/chain/state/CoinStore.ts"
import { BlockOverlay } from "../../src/consensus/BlockOverlay.ts"
import { connectBlock } from "../../src/consensus/connectBlock.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import { ANYONE, buildBlock, emptyChain, makeCoinbase, nameOutput, text } from "../support/regtest.ts"
import { withDirectory } from "../support/temporary.ts"

const NAMES = 5_000

/** A database that counts its reads. */
const counted = (directory: string) => {
  const database = new ChainDatabase(directory, 4096)
  const asked = { coin: 0, coinOf: 0, claim: 0, claimsOf: 0 }
  const { claim, claimsOf, coin, coinOf } = database
  database.coin = (...given) => (asked.coin++, coin.apply(database, given))
  database.coinOf = (...given) => (asked.coinOf++, coinOf.apply(database, given))
  database.claim = (...given) => (asked.claim++, claim.apply(database, given))
  database.claimsOf = (...given) => (asked.claimsOf++, claimsOf.apply(database, given))
  return { database, asked }
}

const names = Array.from(
  { length: NAMES },
  (_, i) => nameOutput({ op: "name_update", name: text(nameKey(text(`d/${i}`))), value: EMPTY }, 0)
)

describe("a coinbase that sets many names", () => {
  it("a coinbase with many names reads coins and claims in a bounded number of queries", () => {
    const chain = emptyChain(3)
    const block = buildBlock(chain, [], { coinbase: makeCoinbase(4, names, { version: NAME_TX_VERSION }) })
    withDirectory((directory) => {
      const { asked, database } = counted(directory)
      const store = new CoinStore(database)
      const result = connectBlock({
        block,
        height: 4,
        params: regtestParams,
        flags: 0,
        view: store,
        medianTimePast: 0,
        medianTimePastAt: () => 0,
        checkScripts: true
      })
      if ("reject" in result) throw new Error(result.reject.reason)
      assert.strictEqual(result.delta.claims.size, NAMES)
      assert.strictEqual(result.delta.coins.size, NAMES)
      assert.isAtMost(asked.coin, 8)
      assert.strictEqual(asked.coinOf, 1)
      assert.strictEqual(asked.claimsOf, 1)
      assert.isAtMost(asked.claim, 256)
      database.close()
    })
  })

  it("stored coins are found after many misses, and stored claims among many names", () => {
    withDirectory((directory) => {
      const database = new ChainDatabase(directory, 4096)
      const txid = new Uint8Array(32).fill(7)
      const key = (index: number): string => outpointKey(outpoint(txid, index))
      const coin: Coin = { value: 1, script: ANYONE, height: 1, coinbase: true }
      const held = Array.from({ length: NAMES }, (_, i) => nameKey(text(`d/${i}`)))
      const claim = { height: 1, outpoint: key(9) }
      database.commit({
        pages: [],
        headerCount: 1,
        bestHash: txid,
        coins: [[coinKey(key(1_000)), encodeCoin(coin)]],
        spent: [],
        claims: held.filter((_, i) => i % 7 === 0).map((name) => [name, claim] as const)
      })
      const store = new CoinStore(database)
      for (let i = 0; i < 2_000; i++) assert.deepStrictEqual(store.coin(key(i)), i === 1_000 ? coin : undefined)
      const fresh = new CoinStore(database)
      new BlockOverlay(fresh).expectClaims(held)
      for (const [i, name] of held.entries()) assert.deepStrictEqual(fresh.claim(name), i % 7 === 0 ? claim : undefined)
      // A coin that is stored later is found, although the transaction had no coin before.
      const none = new Uint8Array(32).fill(8)
      const other = (index: number): string => outpointKey(outpoint(none, index))
      for (let i = 0; i < 10; i++) assert.isUndefined(fresh.passing.coin(other(i)))
      fresh.apply(new Map([[other(3), coin]]), new Map())
      fresh.flush({ pages: [], headerCount: 1, bestHash: txid }, 0)
      assert.deepStrictEqual(fresh.passing.coin(other(3)), coin)
      database.close()
    })
  })
})
