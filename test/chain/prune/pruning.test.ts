import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { lastUnneeded } from "../../../src/chain/prune/pruneLocks.ts"
import type { Follower } from "../../../src/chain/write/Follower.ts"
import { temporaryDirectory, type TestChain } from "../../support/chain.ts"
import { BLOCKS as blocks, MANUAL, onPruned as run, SOURCE as source, TIP } from "../../support/prunedChain.ts"

const filesOf = (directory: string, family: "blk" | "undo") =>
  readdirSync(join(directory, "blocks")).filter((name) => name.startsWith(family)).sort()

const bytesOf = (directory: string): number =>
  [...filesOf(directory, "blk"), ...filesOf(directory, "undo")].reduce(
    (sum, name) => sum + statSync(join(directory, "blocks", name)).size,
    0
  )

/** The height of the first block that can be read, apart from genesis. */
const firstStored = (chain: TestChain) =>
  Effect.gen(function*() {
    for (let height = 1; height <= TIP; height++) {
      const block = yield* Effect.either(chain.block(source.blockAt(height).hash))
      if (Either.isRight(block)) return height
      assert.strictEqual(block.left._tag, "BlockUnavailable")
    }
    return TIP + 1
  })

/** Fills a directory and prunes it. Returns the height of the last pruned block. */
const pruned = (directory: string) =>
  run(directory, MANUAL, (chain) =>
    Effect.gen(function*() {
      yield* chain.sink.deliver(blocks.slice(1), false)
      yield* chain.control.pruning.upTo(TIP)
      return yield* chain.control.pruning.prunedTo
    }))

const follower = (over: Partial<Follower> = {}): Follower => ({
  name: "an index",
  cursor: Effect.succeed(undefined),
  apply: () => Effect.void,
  rewind: () => Effect.void,
  ...over
})

describe("pruning", () => {
  it.scoped("removes whole files below the last 288 blocks, with their undo data, and says which blocks it had", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const last = yield* pruned(directory)
      assert.isAtLeast(last, 1)
      assert.isAtMost(last, TIP - 288)
      assert.notInclude(filesOf(directory, "blk"), "blk00000.dat")
      assert.notInclude(filesOf(directory, "undo"), "undo00000.dat")
      yield* run(directory, MANUAL, (chain) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* chain.control.pruning.prunedTo, last)
          assert.strictEqual(yield* firstStored(chain), last + 1)
          const gone = yield* Effect.flip(chain.block(source.blockAt(last).hash))
          assert.strictEqual(gone._tag === "BlockUnavailable" && gone.pruned, true)
          assert.strictEqual(yield* chain.control.sizeOnDisk, bytesOf(directory))
          assert.isFalse(chain.tree.losses.any)
          assert.strictEqual((yield* chain.tip).height, TIP)
        }))
    }))

  it.scoped("a node killed before or after the files are removed starts with the same chain", () =>
    Effect.gen(function*() {
      const [directory, saved] = [yield* temporaryDirectory, yield* temporaryDirectory]
      yield* run(directory, MANUAL, (chain) => chain.sink.deliver(blocks.slice(1), false))
      const all = [...filesOf(directory, "blk"), ...filesOf(directory, "undo")]
      for (const name of all) copyFileSync(join(directory, "blocks", name), join(saved, name))
      yield* run(directory, MANUAL, ({ control }) => control.pruning.upTo(TIP))
      const left = bytesOf(directory)
      const gone = all.filter((name) => !existsSync(join(directory, "blocks", name)))
      assert.isAbove(gone.length, 2)
      for (const name of gone) copyFileSync(join(saved, name), join(directory, "blocks", name))
      yield* run(directory, MANUAL, (chain) =>
        Effect.gen(function*() {
          assert.match(chain.control.repairs.join(), /removed \d+ bytes of pruned blocks/)
          assert.strictEqual(bytesOf(directory), left)
          assert.strictEqual((yield* chain.tip).height, TIP)
          assert.isFalse(chain.tree.losses.any)
        }))
    }))

  it.scoped("keeps the files below their target while blocks arrive", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const free = 17 * 1024 * 1024
      const target = free + 62 * 1024
      yield* run(directory, { target, after: 100 }, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(1, 200), false)
          yield* chain.control.pruning.begin
          yield* chain.sink.deliver(blocks.slice(200), false)
          assert.isBelow(bytesOf(directory), target - free)
          assert.isAbove(yield* chain.control.pruning.prunedTo, 0)
        }))
    }))

  it.scoped("a follower stores what it holds before the blocks of it are removed", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* run(directory, MANUAL, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(1), false)
          const left: Array<number> = []
          const settle = Effect.sync(() => void left.push(bytesOf(directory)))
          yield* chain.control.register(follower({ bulk: { hold: () => Effect.void, settle } }))
          left.length = 0
          yield* chain.control.pruning.upTo(TIP)
          assert.lengthOf(left, 1)
          assert.isAbove(left[0] ?? 0, bytesOf(directory))
        }))
    }))

  it("keeps what a follower has not read yet, and ten blocks below", () => {
    const at = (height: number) => ({ cursor: { height, hash: source.blockAt(0).hash } })
    assert.strictEqual(lastUnneeded({ settledHeight: 700 }, [at(700)]), 689)
    assert.strictEqual(lastUnneeded({ settledHeight: 700 }, [at(700), at(50), at(900)]), 39)
    assert.isBelow(lastUnneeded({ settledHeight: 700 }, [at(700), { cursor: undefined }]), 0)
  })

  it.scoped("refuses a follower that needs pruned blocks", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const last = yield* pruned(directory)
      yield* run(directory, MANUAL, ({ control }) =>
        Effect.gen(function*() {
          const index = follower({ background: true, needsCoins: true })
          const late = yield* Effect.flip(control.register(index))
          assert.strictEqual(late._tag, "BlocksPruned")
          assert.match(late.message, /an index best block of the index goes beyond pruned data \(including undo data\)/)
          const { hash } = source.blockAt(last)
          yield* control.register(follower({ cursor: Effect.succeed({ height: last, hash }) }))
        }))
    }))

  it.scoped("a pruned block never leaves the chain, and its header is still served", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const last = yield* pruned(directory)
      yield* run(directory, MANUAL, (chain) =>
        Effect.gen(function*() {
          const refused = yield* Effect.flip(chain.control.invalidate(source.blockAt(last).hash))
          assert.strictEqual(refused._tag, "BeyondPruned")
          assert.strictEqual((yield* chain.tip).height, TIP)
          yield* chain.control.invalidate(source.blockAt(last + 1).hash)
          assert.strictEqual((yield* chain.tip).height, last)
          yield* chain.control.reconsider(source.blockAt(last + 1).hash)
          assert.strictEqual((yield* chain.tip).height, TIP)
          const id = chain.tree.find(source.blockAt(1).hash)
          assert.lengthOf(yield* chain.fullHeaders([id]), 1)
        }))
    }))

  it.scoped("a pruned block that is submitted is stored again, without a verdict", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const last = yield* pruned(directory)
      yield* run(directory, MANUAL, (chain) =>
        Effect.gen(function*() {
          const block = source.blockAt(last)
          assert.strictEqual((yield* chain.sink.submit(block)).type, "inconclusive")
          assert.deepStrictEqual((yield* chain.block(block.hash)).bytes, block.bytes)
          assert.strictEqual((yield* chain.sink.submit(block)).type, "duplicate")
        }))
    }))

  it.scoped("a pruned directory is refused without -prune, and starts from genesis if its chain state is gone", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* pruned(directory)
      const refused = yield* Effect.flip(run(directory, undefined, () => Effect.void))
      assert.match(refused.message, /rebuild the database using -reindex to go back to unpruned mode/)
      rmSync(join(directory, "chainstate"), { recursive: true })
      yield* run(directory, undefined, (chain) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* chain.tip).height, 0)
          assert.isBelow(bytesOf(directory), 2_000)
          yield* chain.sink.deliver(blocks.slice(1), false)
          assert.strictEqual((yield* chain.tip).height, TIP)
          assert.isFalse(chain.tree.losses.any)
        }))
      assert.isFalse(existsSync(join(directory, "blocks", "PRUNED")))
    }))
})
