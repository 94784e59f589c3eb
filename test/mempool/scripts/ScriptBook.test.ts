import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FastCheck, Fiber, Layer } from "effect"
import { join } from "node:path"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import * as Indexes from "../../../src/chain/indexes/Indexes.ts"
import type { TouchedScripts } from "../../../src/chain/indexes/LastTouched.ts"
import { livingCoins } from "../../../src/chain/indexes/ScriptHistory.ts"
import type { ScriptIndex } from "../../../src/chain/indexes/ScriptIndex.ts"
import type { Cursor } from "../../../src/chain/write/Follower.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import {
  type BookFailure,
  LONGEST_SCRIPT_HISTORY,
  type OpenScriptBook,
  ScriptBook,
  type ScriptFound
} from "../../../src/mempool/scripts/ScriptBook.ts"
import * as Book from "../../../src/mempool/scripts/ScriptBook.ts"
import { scriptKeyOf } from "../../../src/mempool/scripts/ScriptPool.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { concat, displayHash } from "../../../src/protocol/bytes.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { outpointText, type Transaction } from "../../../src/protocol/transaction.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { servicesOf, temporaryDirectory } from "../../support/chain.ts"
import { ADDRESS, reward, type TestNode, UNLOCK, withNode } from "../../support/mempool.ts"
import { currency, input, nameNew, type Outpoint, saltOf, text } from "../../support/regtest.ts"
import { scanScripts, shownHashOf } from "../../support/scriptScan.ts"

/** Scripts that a true script unlocks: the address of the rewards, and others. */
const REDEEMS = [1, 2, 3, 4].map((value) => Uint8Array.of(Op.OP_1 + value))

const scriptOfRedeem = (redeem: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(Op.OP_HASH160, 20), hash160(redeem), Uint8Array.of(Op.OP_EQUAL))

const UNLOCKS = new Map([
  [displayHash(ADDRESS), UNLOCK],
  ...REDEEMS.map((redeem) => [displayHash(scriptOfRedeem(redeem)), pushData(redeem)] as const)
])

const SCRIPTS = [ADDRESS, ...REDEEMS.map(scriptOfRedeem)]

const scriptAt = (at: number): Uint8Array => SCRIPTS[at % SCRIPTS.length] ?? ADDRESS

const FEE = 200_000

interface Served {
  readonly node: TestNode
  readonly book: OpenScriptBook
  /** Keys of scripts that listeners heard of since the last look. */
  readonly touched: Array<TouchedScripts>
}

/** The index as its readers see it in a test. */
type Seen = (index: ScriptIndex, node: TestNode) => ScriptIndex

/** A node with an index, whose book a test asks. */
const withBook = <A, E>(use: (served: Served) => Effect.Effect<A, E>, seen: Seen = (index) => index) =>
  withNode((node) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const stored = Layer.provide(
        Indexes.layer({
          directory: join(directory),
          pageSize: 4096,
          params: regtestParams,
          filters: false,
          spenders: false,
          coinStats: false,
          scripts: true
        }),
        DataHealth.layer
      )
      const indexes = Layer.map(stored, (context) => {
        const all = Context.get(context, Indexes.Indexes)
        const scripts = all.scripts ?? assert.fail("no index")
        return Context.make(Indexes.Indexes, { ...all, scripts: seen(scripts, node) })
      })
      const services = Layer.provideMerge(
        Book.layer,
        Layer.mergeAll(indexes, servicesOf(node.chain), Layer.succeed(Mempool, node.pool))
      )
      const context = yield* Layer.build(services)
      const { followers } = Context.get(context, Indexes.Indexes)
      yield* Effect.forEach(followers, node.chain.control.register, { discard: true })
      const { book } = Context.get(context, ScriptBook)
      const touched: Array<TouchedScripts> = []
      if (book === undefined) return yield* Effect.dieMessage("no book")
      yield* book.listen((each) => touched.push(each))
      return yield* use({ node, book, touched })
    })
  )

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

const payment = (coins: ReadonlyArray<Outpoint>, to: ReadonlyArray<number>, name: boolean): Transaction => {
  const total = coins.reduce((sum, { transaction, vout }) => sum + (transaction.outputs[vout]?.value ?? 0), 0)
  const named = name ? 1_000_000 : 0
  const each = Math.floor((total - FEE - named) / to.length)
  const outputs = to.map((at) => ({ value: each, script: scriptAt(at) }))
  return currency(
    coins.map((coin) => {
      const script = coin.transaction.outputs[coin.vout]?.script ?? ADDRESS
      return input(coin, { scriptSig: UNLOCKS.get(displayHash(script)) ?? UNLOCK, sequence: 0xfffffffd })
    }),
    name
      ? [
        { value: named, script: nameScript(nameNew(text(`d/${total}`), saltOf(total % 256)), scriptAt(total)) },
        ...outputs
      ]
      : outputs,
    name ? { version: 0x7100 } : {}
  )
}

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

describe("the book of scripts", () => {
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

  it.scopedLive("answers for no script while the index is more than some blocks behind", () =>
    Effect.gen(function*() {
      let behind: number | undefined = 0
      const seen: Seen = (index, { chain }) => {
        const at = Effect.gen(function*() {
          if (behind === undefined) return undefined
          const height = (yield* chain.tip).height - behind
          return { height, hash: (yield* chain.headerAt(height))?.hash ?? assert.fail("no header") }
        })
        return {
          ...index,
          at,
          heights: (wanted) => Effect.zipWith(index.heights(wanted), at, (found, at) => ({ ...found, at }))
        }
      }
      yield* withBook(({ book, node }) =>
        Effect.gen(function*() {
          const { height: tip } = yield* node.chain.tip
          const find = book.find(scriptKeyOf(scriptAt(1)))
          for (const lag of [0, 6]) {
            behind = lag
            assert.deepInclude(yield* find, { height: tip - lag })
          }
          for (const lag of [7, undefined]) {
            behind = lag
            const height = lag === undefined ? -1 : tip - lag
            assert.deepInclude(yield* Effect.flip(find), { _tag: "ScriptsBehind", height, tip })
          }
        }), seen)
    }))

  it.scopedLive("tells whoever asks of each block it reads, and reads for two at most at once", () =>
    withBook(({ book, node }) =>
      Effect.gen(function*() {
        const key = scriptKeyOf(ADDRESS)
        const blocks = (yield* node.chain.tip).height
        let seen = 0
        const ended = yield* Effect.flip(
          book.find(key, (transactions) => ++seen === 3 ? Effect.fail(`after ${transactions}`) : Effect.void)
        )
        assert.deepStrictEqual([ended, seen], ["after 1", 3])
        seen = 0
        const count = () => Effect.sync(() => void seen++)
        const all = yield* Effect.all(Array.from({ length: 5 }, () => book.find(key, count)), {
          concurrency: "unbounded"
        })
        assert.isTrue(all.every(({ history }) => history.entries.length === blocks))
        assert.isAtLeast(seen, blocks)
        assert.isAtMost(seen, 2 * blocks)
        seen = 0
        yield* book.find(key, count)
        assert.strictEqual(seen, 0)
      })
    ))

  it.scopedLive("refuses a list of heights that the limit cut off, and remembers it on this branch", () =>
    Effect.gen(function*() {
      let isCut = false
      let asked = 0
      const seen: Seen = (index) => ({
        ...index,
        heights: (wanted) =>
          Effect.map(index.heights(wanted), ({ at, heights }) => {
            asked++
            return { at, heights: isCut ? Array.from({ length: wanted.limit }, (_, i) => i) : heights }
          })
      })
      yield* withBook(({ book, node: { chain, mineEmpty } }) =>
        Effect.gen(function*() {
          const { history } = yield* book.find(scriptKeyOf(ADDRESS))
          assert.isAbove(history.entries.length, 100)
          isCut = true
          asked = 0
          const refused = Effect.flip(book.find(scriptKeyOf(scriptAt(1))))
          assert.deepInclude(yield* refused, { _tag: "HistoryTooLong", most: LONGEST_SCRIPT_HISTORY })
          yield* mineEmpty(2)
          assert.strictEqual((yield* refused)._tag, "HistoryTooLong")
          assert.strictEqual(asked, 1)
          const { height } = yield* chain.tip
          yield* chain.control.invalidate(((yield* chain.headerAt(height - 2)) ?? assert.fail("no header")).hash)
          yield* refused
          assert.strictEqual(asked, 2)
        }), seen)
    }))

  it.scopedLive("waits while a block has reached the index and not yet the mempool", () =>
    withBook(({ book, node }) =>
      Effect.gen(function*() {
        const [known, other] = [payment([reward(1)], [1], false), payment([reward(2)], [1], false)]
        yield* node.take(known)
        const key = scriptKeyOf(scriptAt(1))
        assert.lengthOf((yield* book.find(key)).waiting, 1)
        const asked: Array<Fiber.Fiber<ScriptFound, BookFailure>> = []
        const { hash, height } = yield* node.chain.tip
        yield* node.chain.control.register({
          name: "a reader",
          cursor: Effect.succeed({ hash, height }),
          rewind: () => Effect.void,
          apply: () =>
            Effect.gen(function*() {
              assert.isTrue(node.has(known))
              asked.push(yield* Effect.forkDaemon(book.find(key)))
              yield* Effect.repeatN(turnOfEventLoop, 20)
            })
        })
        yield* node.mine([known, other])
        const [found] = yield* Effect.forEach(asked, Fiber.join)
        assert.deepStrictEqual([found?.height, found?.history.entries.length, found?.waiting], [height + 1, 2, []])
      })
    ))

  it.scopedLive("has no answer while the index waits before a block that the mempool knows", () =>
    Effect.gen(function*() {
      let stays: Cursor | undefined
      const seen: Seen = (index) => ({ ...index, at: Effect.suspend(() => stays ? Effect.succeed(stays) : index.at) })
      yield* withBook(({ book, node }) =>
        Effect.gen(function*() {
          const key = scriptKeyOf(scriptAt(1))
          const mined = payment([reward(1)], [1], false)
          yield* node.take(mined)
          stays = yield* node.chain.tip
          yield* node.mine([mined])
          assert.deepInclude(yield* Effect.flip(book.find(key)), { _tag: "ScriptsBehind", height: stays.height })
        }), seen)
    }))

  it.scopedLive("reads on when a block comes while it reads others", () =>
    Effect.gen(function*() {
      let later: Effect.Effect<unknown> = Effect.void
      const seen: Seen = (index) => ({
        ...index,
        heights: (wanted) =>
          Effect.tap(index.heights(wanted), () =>
            Effect.suspend(() => {
              const work = later
              later = Effect.void
              return work
            }))
      })
      yield* withBook(({ book, node }) =>
        Effect.gen(function*() {
          const key = scriptKeyOf(scriptAt(1))
          const [first, second] = [payment([reward(1)], [1], false), payment([reward(2)], [1], false)]
          yield* node.take(first)
          yield* node.mine([first])
          yield* node.take(second)
          later = node.mine([second])
          const { history, waiting } = yield* book.find(key)
          assert.deepStrictEqual([history.entries.length, waiting], [2, []])
        }), seen)
    }))
})
