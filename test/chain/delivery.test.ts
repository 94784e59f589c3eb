import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { locatorOf, NO_HEADER } from "../../src/chain/index/HeaderTree.ts"
import type { Cursor, Follower } from "../../src/chain/write/Follower.ts"
import { type Block, decodeBlock, encodeBlockHeader } from "../../src/protocol/block.ts"
import { displayHash, equal } from "../../src/protocol/bytes.ts"
import { outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"
import { blocksOf, temporaryDirectory, type TestChain, withChain } from "../support/chain.ts"

/** The first blocks of a chain with every kind of script, some with merged-mining proofs. */
const blocks = blocksOf("regtest-names/blocks.dat").slice(1, 151)

const at = (height: number): Block => blocks[height - 1] ?? assert.fail(`no block at height ${height}`)

const inChain = <A, E>(use: (chain: TestChain) => Effect.Effect<A, E>) =>
  Effect.flatMap(temporaryDirectory, (directory) => withChain(directory, use))

/** The same block with a transaction that does not match its merkle root. */
const damaged = (block: Block): Block => {
  const bytes = Uint8Array.from(block.bytes)
  bytes.set([(bytes.at(-6) ?? 0) ^ 1], bytes.length - 6)
  return decodeBlock(bytes)
}

describe("deliver", () => {
  it.scoped("deliver accepts blocks in any order if their headers are known", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const { last, added, reject } = yield* chain.sink.acceptHeaders(blocks.slice(0, 50))
        assert.deepStrictEqual([added, reject, last], [50, undefined, chain.tree.find(at(50).hash)])
        const late = yield* chain.sink.deliver([at(3), at(2)], true)
        assert.deepStrictEqual(late, { refused: [undefined, undefined], judged: [] })
        assert.strictEqual((yield* chain.tip).height, 0)
        const { judged } = yield* chain.sink.deliver([at(1)], true)
        assert.deepStrictEqual(
          judged.map(({ hash }) => displayHash(hash)),
          [1, 2, 3].map((n) => displayHash(at(n).hash))
        )
        assert.isTrue(judged.every(({ reject }) => reject === undefined))
        assert.strictEqual((yield* chain.tip).height, 3)
      })
    ))

  it.scoped("deliver reports why each block is not stored, and continues", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const { refused } = yield* chain.sink.deliver([at(1), damaged(at(2)), at(2), at(9)], false)
        assert.deepStrictEqual(refused.map((reject) => reject?.kind), [
          undefined,
          "mutated",
          undefined,
          "missing-prev"
        ])
        assert.strictEqual((yield* chain.tip).height, 2)
      })
    ))

  it.scoped("deliver reports nothing for known blocks", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        yield* chain.sink.deliver(blocks.slice(0, 5), false)
        assert.deepStrictEqual(yield* chain.sink.deliver([at(4)], false), { refused: [undefined], judged: [] })
      })
    ))
})

describe("the header tree", () => {
  it.scoped("the header tree shows the best chain and the other branches", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const { tree } = chain
        yield* chain.sink.acceptHeaders(blocks.slice(0, 20))
        yield* chain.sink.deliver(blocks.slice(0, 10), false)
        const [tip, best] = [tree.tip(), tree.best()]
        assert.deepStrictEqual([tree.height(tip), tree.height(best)], [10, 20])
        assert.strictEqual(tree.at(10), tip)
        assert.strictEqual(tree.at(11), NO_HEADER)
        assert.isTrue(tree.isActive(tip) && !tree.isActive(best))
        assert.isTrue(tree.hasBlock(tip) && !tree.hasBlock(best) && tree.wasConnected(tip))
        assert.strictEqual(tree.ancestor(best, 10), tip)
        assert.strictEqual(tree.forkPoint(best, tip), tip)
        assert.isAbove(tree.compareWork(best, tip), 0)
        assert.strictEqual(tree.find(new Uint8Array(32)), NO_HEADER)
        assert.isTrue(equal(tree.hash(tip), at(10).hash))
      })
    ))

  it.scoped("the locator is sparser towards genesis", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        yield* chain.sink.acceptHeaders(blocks)
        const heights = locatorOf(chain.tree, chain.tree.best()).map((hash) => chain.tree.height(chain.tree.find(hash)))
        assert.deepStrictEqual(heights, [
          150,
          149,
          148,
          147,
          146,
          145,
          144,
          143,
          142,
          141,
          140,
          138,
          134,
          126,
          110,
          78,
          14,
          0
        ])
        assert.deepStrictEqual(
          locatorOf(chain.tree, chain.tree.find(at(2).hash)).map((hash) => chain.tree.height(chain.tree.find(hash))),
          [2, 1, 0]
        )
      })
    ))

  it.scoped("headers are served with their proofs, up to the first block that is not stored", () =>
    Effect.flatMap(temporaryDirectory, (directory) =>
      Effect.gen(function*() {
        yield* withChain(directory, (chain) => chain.sink.deliver(blocks.slice(0, 140), false))
        // After a restart no header is in memory.
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            yield* chain.sink.acceptHeaders(blocks)
            const ids = blocks.map(({ hash }) => chain.tree.find(hash))
            const headers = yield* chain.fullHeaders(ids)
            assert.strictEqual(headers.length, 140)
            assert.isTrue(headers.some(({ auxpow }) => auxpow !== undefined))
            for (const [i, header] of headers.entries()) {
              assert.isTrue(equal(encodeBlockHeader(header), encodeBlockHeader(at(i + 1))))
            }
            assert.isTrue(equal(yield* chain.blockBytes(at(7).hash), at(7).bytes))
            const unstored = yield* Effect.flip(chain.blockBytes(at(145).hash))
            assert.strictEqual(unstored._tag, "BlockUnavailable")
          }))
      })))
})

describe("the state at the tip", () => {
  it.scoped("atTip reads the state that the next block sees, and the tip does not move meanwhile", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        yield* chain.sink.deliver(blocks.slice(0, 10), false)
        const coin = outpointKey(outpoint(at(10).transactions[0]?.txid ?? assert.fail(), 0))
        const next = outpointKey(outpoint(at(11).transactions[0]?.txid ?? assert.fail(), 0))
        const hold = yield* Deferred.make<void>()
        const begun = yield* Deferred.make<void>()
        const judging = yield* Effect.fork(chain.coins.atTip((state) =>
          Effect.gen(function*() {
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(hold)
            return [state.tip.height, state.coin(coin)?.height, state.coin(next)]
          })
        ))
        yield* Deferred.await(begun)
        const delivering = yield* Effect.fork(chain.sink.deliver([at(11)], false))
        yield* Effect.yieldNow()
        assert.strictEqual((yield* chain.tip).height, 10)
        yield* Deferred.succeed(hold, undefined)
        assert.deepStrictEqual(yield* Fiber.join(judging), [10, 10, undefined])
        yield* Fiber.join(delivering)
        yield* chain.coins.atTip((state) => {
          assert.strictEqual(state.coin(next)?.height, 11)
          assert.strictEqual(state.medianTimePastAt(11), state.tip.medianTimePast)
          return Effect.void
        })
      })
    ))
})

describe("the tip that is told", () => {
  it.scoped("toldTip is not updated before the followers have the block", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const hold = yield* Deferred.make<void>()
        const begun = yield* Deferred.make<void>()
        let known = 0
        yield* chain.control.register({
          name: "slow",
          cursor: Effect.succeed(undefined),
          apply: (given) =>
            Effect.gen(function*() {
              if ((given.at(-1)?.height ?? 0) > 0) {
                yield* Deferred.succeed(begun, undefined)
                yield* Deferred.await(hold)
              }
              known = given.at(-1)?.height ?? 0
            }),
          rewind: () => Effect.void
        })
        const delivering = yield* Effect.fork(chain.sink.deliver([at(1)], false))
        yield* Deferred.await(begun)
        assert.strictEqual((yield* chain.tip).height, 1)
        const told = yield* Effect.fork(Effect.map(chain.toldTip, ({ height }) => [height, known]))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(hold, undefined)
        assert.deepStrictEqual(yield* Fiber.join(told), [1, 1])
        yield* Fiber.join(delivering)
        assert.strictEqual((yield* chain.toldTip).height, 1)
      })
    ))

  it.scoped("while blocks arrive in bulk, toldTip is the block that followers know, and atTip tells them first", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        let known: Cursor | undefined
        yield* chain.control.register({
          name: "test",
          cursor: Effect.succeed(undefined),
          apply: (given) => Effect.sync(() => void (known = given.at(-1))),
          rewind: (to) => Effect.sync(() => void (known = to))
        })
        yield* chain.sink.deliver([at(1)], false)
        yield* chain.sink.deliver([at(2), at(3)], true)
        const told = yield* chain.toldTip
        assert.deepStrictEqual([(yield* chain.tip).height, told.height, known?.height], [3, 1, 1])
        const heights = yield* chain.coins.atTip(({ tip }) => Effect.sync(() => [tip.height, known?.height]))
        assert.deepStrictEqual([...heights, (yield* chain.toldTip).height], [3, 3, 3])
      })
    ))
})

describe("the tip that is told after a bulk run", () => {
  /** A follower that waits in `apply` above height 1, and what it knows. */
  const slowFollower = Effect.gen(function*() {
    const [begun, hold] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    let height = 0
    const follower: Follower = {
      name: "slow",
      cursor: Effect.succeed(undefined),
      apply: (given) =>
        Effect.gen(function*() {
          const last = given.at(-1)?.height ?? 0
          if (last > 1) yield* Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(hold))
          height = last
        }),
      rewind: (to) => Effect.sync(() => void (height = to.height))
    }
    return { begun, hold, follower, known: () => height }
  })

  const told = ({ toldTip }: TestChain, known: () => number) => Effect.map(toldTip, ({ height }) => [height, known()])

  const ways = {
    "the end of the run": (chain: TestChain) => chain.sink.deliver([], false),
    "a caller at the tip": (chain: TestChain) => chain.coins.atTip(() => Effect.void)
  }
  for (const [name, tell] of Object.entries(ways)) {
    it.scoped(`waits until followers have the blocks, told by ${name}`, () =>
      inChain((chain) =>
        Effect.gen(function*() {
          const { begun, follower, hold, known } = yield* slowFollower
          yield* chain.control.register(follower)
          yield* chain.sink.deliver([at(1)], false)
          yield* chain.sink.deliver([at(2), at(3)], true)
          const telling = yield* Effect.fork(Effect.asVoid(tell(chain)))
          yield* Deferred.await(begun)
          const asked = yield* Effect.fork(told(chain, known))
          yield* Effect.yieldNow()
          yield* Deferred.succeed(hold, undefined)
          assert.deepStrictEqual(yield* Fiber.join(asked), [3, 3])
          yield* Fiber.join(telling)
        })
      ))
  }

  it.scoped("stays after a failure, and a caller at the tip does no work", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const failure = new StorageUnavailable({ file: "test.db", doing: "writing", reason: "no space" })
        let tries = 0
        yield* chain.control.register({
          name: "full",
          cursor: Effect.succeed(undefined),
          apply: (given) =>
            Effect.suspend(() => {
              if ((given.at(-1)?.height ?? 0) <= 1) return Effect.void
              tries++
              return failure
            }),
          rewind: () => Effect.void
        })
        yield* chain.sink.deliver([at(1)], false)
        yield* chain.sink.deliver([at(2)], true)
        let worked = false
        const work = chain.coins.atTip(() => Effect.sync(() => void (worked = true)))
        for (const count of [1, 2]) {
          assert.strictEqual((yield* Effect.flip(work))._tag, "StorageUnavailable")
          assert.deepStrictEqual([tries, worked, (yield* chain.toldTip).height], [count, false, 1])
        }
      })
    ))

  it.scoped("does not move for a caller with more than a day of blocks missing", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const { follower, hold, known } = yield* slowFollower
        yield* Deferred.succeed(hold, undefined)
        yield* chain.sink.acceptHeaders(blocks)
        yield* chain.control.register(follower)
        yield* chain.sink.deliver([at(1)], false)
        yield* chain.sink.deliver([at(2), at(3)], true)
        assert.strictEqual(yield* chain.coins.atTip(({ tip }) => Effect.succeed(tip.height)), 3)
        assert.deepStrictEqual(yield* told(chain, known), [1, 1])
      })
    ))
})

describe("a follower", () => {
  it.scoped("a follower is notified once for each move of the tip that it has arrived", () =>
    inChain((chain) =>
      Effect.gen(function*() {
        const heard: Array<string> = []
        let cursor: Cursor | undefined
        const follower: Follower = {
          name: "test",
          cursor: Effect.sync(() => cursor),
          apply: (given) =>
            Effect.sync(() => {
              cursor = given.at(-1)
              heard.push(`+${given.map(({ height }) => height).join()}`)
            }),
          rewind: (to) =>
            Effect.sync(() => {
              cursor = to
              heard.push(`-${to.height}`)
            }),
          arrived: Effect.sync(() => void heard.push("here"))
        }
        yield* chain.sink.deliver([at(1)], false)
        yield* chain.control.register(follower)
        yield* chain.sink.deliver([at(2), at(3)], false)
        yield* chain.control.invalidate(at(3).hash)
        yield* chain.sink.deliver([], false)
        assert.deepStrictEqual(heard, ["+0,1", "here", "+2,3", "here", "-2", "here"])
      })
    ))
})
