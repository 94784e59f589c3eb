import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import type { Cursor } from "../../../src/chain/write/Follower.ts"
import { type BookFailure, LONGEST_SCRIPT_HISTORY, type ScriptFound } from "../../../src/mempool/scripts/ScriptBook.ts"
import { scriptKeyOf } from "../../../src/mempool/scripts/ScriptPool.ts"
import { ADDRESS, reward } from "../../support/mempool.ts"
import { payment, scriptAt, type Seen, withBook } from "./servedBook.ts"

describe("the book of scripts", () => {
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
