import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { livingCoins } from "../../../src/chain/indexes/ScriptHistory.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { scriptKeyOf } from "../../../src/mempool/scripts/ScriptPool.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { outpointText, type Transaction } from "../../../src/protocol/transaction.ts"
import { ADDRESS, reward, type TestNode } from "../../support/mempool.ts"
import { input, type Outpoint } from "../../support/regtest.ts"
import { scanScripts, shownHashOf } from "../../support/scriptScan.ts"
import { payment, SCRIPTS, type Seen, type Served, UNLOCKS, withBook } from "./servedBook.ts"

const activeBlocks = ({ chain }: TestNode) =>
  Effect.gen(function*() {
    const blocks: Array<Block> = []
    for (let height = 0; height <= (yield* chain.tip).height; height++) {
      const info = yield* chain.headerAt(height)
      blocks.push(yield* chain.block(info?.hash ?? assert.fail()))
    }
    return blocks
  })

/** The book says of each script what a scan of the blocks and of the mempool says. */
const isSound = ({ book, node }: Pick<Served, "book" | "node">) =>
  Effect.gen(function*() {
    const blocks = yield* activeBlocks(node)
    // After a reorg, the order of arrival puts children before their parents.
    const pool = node.pool.chunks().flatMap(({ entries }) => entries.map(({ transaction }) => transaction))
    const scanned = scanScripts(blocks)
    // A block of the waiting transactions.
    const ahead = scanScripts([...blocks, { transactions: pool }])
    const tip = blocks.length - 1
    for (const script of SCRIPTS) {
      const key = scriptKeyOf(script)
      const found = yield* book.find(key)
      const { coins, history } = scanned.get(shownHashOf(script)) ?? { coins: new Map(), history: [] }
      const later = ahead.get(shownHashOf(script)) ?? { coins: new Map(), history: [] }
      assert.strictEqual(found.height, tip)
      assert.deepStrictEqual(
        found.history.entries.map(({ height, txid }) => ({ tx_hash: displayHash(txid), height })),
        history
      )
      const living = [...coins.values()].filter(({ height, isName }) =>
        !(isName && isExpired({ height }, tip + 1, regtestParams))
      )
      const shown = livingCoins(found.history, tip, regtestParams)
      assert.deepStrictEqual(
        shown.map(({ height, txid, value, vout }) => ({ tx_hash: displayHash(txid), tx_pos: vout, height, value })),
        living.map(({ isName: _, ...coin }) => coin)
      )
      const total = found.history.entries.reduce((sum, { change }) => sum + change, 0)
      assert.strictEqual(total, [...coins.values()].reduce((sum, { value }) => sum + value, 0))
      const waiting = later.history.slice(history.length).map(({ tx_hash }) => tx_hash)
      const shownWaiting = found.waiting.map(({ entry, isChild }) => ({
        id: displayHash(entry.transaction.txid),
        isChild
      }))
      const isChild = (id: string) =>
        pool.find(({ txid }) => displayHash(txid) === id)?.inputs.some(({ prevout }) =>
          pool.some(({ txid }) => outpointText(prevout).startsWith(displayHash(txid)))
        ) === true
      assert.deepStrictEqual(
        shownWaiting,
        waiting.map((id) => ({ id, isChild: isChild(id) }))
          .toSorted((a, b) => Number(a.isChild) - Number(b.isChild) || (a.id < b.id ? -1 : 1))
      )
      const change = found.waiting.reduce((sum, each) => sum + each.change, 0)
      assert.strictEqual(
        total + change,
        [...later.coins.values()].reduce((sum, { value }) => sum + value, 0)
      )
      const unspent = [
        ...shown.filter((coin) => !found.isSpent(coin)),
        ...found.waitingCoins
      ].map(({ txid, vout }) => `${displayHash(txid)}:${vout}`)
      const wanted = [...later.coins].filter(([, { height, isName }]) =>
        !(isName && height <= tip && isExpired({ height }, tip + 1, regtestParams))
      ).map(([outpoint]) => outpoint)
      assert.deepStrictEqual(unspent.toSorted(), wanted.toSorted())
    }
  })

/** Coins that can be spent now: mature rewards of the base, and outputs of confirmed and waiting payments. */
const spendable = (node: TestNode, made: ReadonlyArray<Transaction>) =>
  Effect.gen(function*() {
    const found: Array<Outpoint> = []
    for (const transaction of made) {
      for (const [vout, { script }] of transaction.outputs.entries()) {
        const outpoint = { transaction, vout }
        const key = input(outpoint).prevout
        const keyText = Buffer.from(key).toString("latin1") as Parameters<typeof node.pool.spender>[0]
        if (UNLOCKS.get(displayHash(script)) === undefined || node.pool.spender(keyText) !== undefined) continue
        const { coin } = yield* node.chain.coins.coin(keyText)
        if (coin !== undefined || node.pool.coin(keyText) !== undefined) found.push(outpoint)
      }
    }
    return found
  })

const stepArbitrary = FastCheck.oneof(
  {
    weight: 5,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("pay" as const),
      from: FastCheck.array(FastCheck.nat(50), { minLength: 1, maxLength: 2 }),
      to: FastCheck.array(FastCheck.nat(4), { minLength: 1, maxLength: 3 }),
      name: FastCheck.boolean()
    })
  },
  { weight: 3, arbitrary: FastCheck.record({ type: FastCheck.constant("mine" as const), share: FastCheck.nat(3) }) },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("reorg" as const),
      depth: FastCheck.integer({ min: 1, max: 4 })
    })
  }
)

type Step = typeof stepArbitrary extends FastCheck.Arbitrary<infer Each> ? Each : never

const taking = (node: TestNode, made: Array<Transaction>) => (step: Step) =>
  Effect.gen(function*() {
    switch (step.type) {
      case "pay": {
        const coins = yield* spendable(node, made)
        const chosen = [...new Set(step.from.map((at) => coins[at % coins.length]))].flatMap((coin) => coin ?? [])
        if (chosen.length === 0) return
        const transaction = payment(chosen, step.to, step.name)
        const accepted = yield* Effect.either(node.pool.accept(transaction))
        if (accepted._tag === "Right") made.push(transaction)
        return
      }
      case "mine": {
        const waiting = node.pool.chunks().flatMap(({ entries }) => entries.map(({ transaction }) => transaction))
        return void (yield* node.mine(waiting.slice(0, Math.ceil(waiting.length * (step.share / 3)))))
      }
      case "reorg": {
        const { height } = yield* node.chain.tip
        const info = yield* node.chain.headerAt(Math.max(130, height - step.depth + 1))
        yield* node.chain.control.invalidate(info?.hash ?? assert.fail())
        return yield* node.mineEmpty(1)
      }
    }
  })

describe("the book of scripts beside a scan of all blocks", () => {
  it.scopedLive("says what a scan says, on random chains with reorgs and a mempool", () =>
    Effect.gen(function*() {
      let steps = 0
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(FastCheck.array(stepArbitrary, { minLength: 12, maxLength: 30 }), (list) =>
            Effect.runPromise(withBook((served) =>
              Effect.gen(function*() {
                const made = Array.from({ length: 30 }, (_, i) => reward(i + 1).transaction)
                const take = taking(served.node, made)
                for (const step of list) {
                  served.touched.length = 0
                  yield* take(step)
                  steps++
                  yield* isSound(served)
                }
              })
            ))),
          { numRuns: 6 }
        )
      )
      assert.isAbove(steps, 50)
    }), 120_000)

  it.scopedLive("reads a script again when the index leaves a branch between two of its answers", () =>
    Effect.gen(function*() {
      let between: Effect.Effect<void> = Effect.void
      const seen: Seen = (index) => ({
        ...index,
        heights: (wanted) =>
          Effect.suspend(() => {
            const work = between
            between = Effect.void
            return Effect.zipRight(work, index.heights(wanted))
          })
      })
      yield* withBook((served) =>
        Effect.gen(function*() {
          const { book, node: { chain, mineEmpty } } = served
          yield* mineEmpty(4)
          const { height } = yield* chain.tip
          const { hash } = (yield* chain.headerAt(height - 2)) ?? assert.fail("no header")
          between = Effect.orDie(Effect.zipRight(chain.control.invalidate(hash), mineEmpty(1)))
          assert.strictEqual((yield* book.find(scriptKeyOf(ADDRESS))).height, height - 2)
          yield* isSound(served)
          yield* chain.control.reconsider(hash)
          assert.strictEqual((yield* chain.tip).height, height)
          yield* isSound(served)
        }), seen)
    }))
})
