import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { readdirSync } from "node:fs"
import type { Follower } from "../../src/chain/write/Follower.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { displayHash, fromHex, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { blocksOf, coinState, temporaryDirectory, verdictOf, withChain } from "../support/chain.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { atTip, blocks, type CoinState, expected, FILE, filled, sameState, submitAll } from "./filled.ts"

interface Stale {
  readonly chainTips: number
  readonly branches: ReadonlyArray<{
    readonly forkHeight: number
    readonly hashes: ReadonlyArray<string>
    readonly overtakenAt: number
    readonly atStaleTip: { readonly hash: string; readonly utxo: CoinState }
    readonly afterReorg: CoinState
  }>
}

interface FailedReorgs {
  readonly branches: ReadonlyArray<{
    readonly mainTipHeight: number
    readonly blocks: ReadonlyArray<{ readonly blockHex: string; readonly coreResult: string | null }>
    readonly tipAfter: CoinState
  }>
}

const bytesOf = (hex: string): Uint8Array => fromHex(hex) ?? new Uint8Array(0)

const recordingFollower = (): Follower & { readonly seen: Array<string> } => {
  const seen: Array<string> = []
  return {
    name: "recording",
    seen,
    cursor: Effect.sync(() => undefined),
    apply: (batch) => Effect.sync(() => void seen.push(...batch.map(({ hash }) => displayHash(hash)))),
    rewind: ({ height }) => Effect.sync(() => void (seen.length = height + 1))
  }
}

describe("Chain", () => {
  it.scopedLive(
    "calls the mempool's follower last, even where a wallet's registers later",
    () =>
      Effect.gen(function*() {
        const called: Array<string> = []
        const follower = (name: string, last: boolean): Follower => ({
          name,
          last,
          cursor: Effect.sync(() => undefined),
          apply: () => Effect.sync(() => void called.push(name)),
          rewind: () => Effect.void
        })
        yield* withChain(yield* temporaryDirectory, (chain) =>
          Effect.gen(function*() {
            for (const each of [follower("names", false), follower("mempool", true), follower("wallet", false)]) {
              yield* chain.control.register(each)
            }
            called.length = 0
            assert.deepStrictEqual(yield* submitAll(chain, 1, 2), [])
            assert.deepStrictEqual(called, ["names", "wallet", "mempool"])
          }))
      }),
    60_000
  )

  it.scopedLive(
    "importing a packed block file gives the reference node's state, and a restart keeps it",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const first = yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            const report = yield* chain.sink.importFrom([FILE])
            assert.deepInclude(report, { stored: 600, known: 1, refused: 0, orphans: 0, height: 600 })
            return yield* coinState(chain)
          }))
        atTip(first, "after the import")
        const second = yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(chain.control.repairs, [])
            return yield* coinState(chain)
          }))
        atTip(second, "after the restart")
        assert.deepStrictEqual(readdirSync(directory).sort(), ["blocks", "chainstate"])
      }),
    60_000
  )

  it.scopedLive(
    "the chain has the reference node's coins after every 25th of single blocks",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            let height = 0
            for (const checkpoint of expected.checkpoints) {
              assert.deepStrictEqual(yield* submitAll(chain, height + 1, checkpoint.height + 1), [])
              height = checkpoint.height
              sameState(yield* coinState(chain), checkpoint.utxo, `height ${height}`)
            }
          }))
      }),
    120_000
  )

  it.scopedLive(
    "the chain reaches the same state with a cache so small that all reads go to the database",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const state = yield* withChain(
          directory,
          (chain) => Effect.zipRight(chain.sink.importFrom([FILE]), coinState(chain)),
          undefined,
          20_000
        )
        atTip(state, "small cache")
      }),
    120_000
  )

  it.scopedLive(
    "disconnecting and reconnecting 300 blocks gives the right state at both ends",
    () =>
      Effect.gen(function*() {
        const directory = yield* filled
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            const above = blocks[301]?.hash ?? new Uint8Array(32)
            yield* chain.control.invalidate(above)
            const at300 = expected.checkpoints.find(({ height }) => height === 300)
            if (at300 !== undefined) sameState(yield* coinState(chain), at300.utxo, "height 300")
            yield* chain.control.reconsider(above)
            atTip(yield* coinState(chain), "after reconsidering")
          }))
      }),
    60_000
  )

  it.scopedLive(
    "the chain and a follower follow stale branches while they are longest, and then the main chain",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const stale = new Map(blocksOf("regtest-names/stale.dat").map((block) => [displayHash(block.hash), block]))
        const { branches, chainTips } = fixtureJson<Stale>("regtest-names/stale.json")
        const follower = recordingFollower()
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            yield* chain.control.register(follower)
            let height = 0
            for (const { afterReorg, atStaleTip, forkHeight, hashes, overtakenAt } of branches) {
              yield* submitAll(chain, height + 1, forkHeight + 1)
              for (const hash of hashes) {
                const block = stale.get(hash)
                if (block !== undefined) assert.isNull(verdictOf(yield* chain.sink.submit(block)))
              }
              sameState(yield* coinState(chain), atStaleTip.utxo, `branch from ${forkHeight}`)
              assert.strictEqual(follower.seen.at(-1), atStaleTip.hash)
              const verdicts = yield* submitAll(chain, forkHeight + 1, overtakenAt + 1)
              assert.deepStrictEqual(verdicts, hashes.map(() => "inconclusive"))
              sameState(yield* coinState(chain), afterReorg, `main chain after the branch from ${forkHeight}`)
              height = overtakenAt
            }
            yield* submitAll(chain, height + 1, blocks.length)
            atTip(yield* coinState(chain), "end")
            assert.strictEqual((yield* chain.branches).length, chainTips)
            assert.deepStrictEqual(follower.seen, blocks.map((block) => displayHash(block.hash)))
          }))
      }),
    120_000
  )

  it.scopedLive(
    "the chain leaves a longer branch with an invalid last block, and restores its state",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const { branches } = fixtureJson<FailedReorgs>("regtest-names/failed-reorgs.json")
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            let height = 0
            for (const branch of branches) {
              yield* submitAll(chain, height + 1, branch.mainTipHeight + 1)
              height = branch.mainTipHeight
              const verdicts = yield* Effect.forEach(
                branch.blocks,
                ({ blockHex }) => Effect.map(chain.sink.submit(decodeBlock(bytesOf(blockHex))), verdictOf)
              )
              assert.deepStrictEqual(
                verdicts,
                branch.blocks.map(({ coreResult }) => coreResult?.replace("block-script", "mempool-script") ?? null)
              )
              sameState(yield* coinState(chain), branch.tipAfter, `after the branch at ${height}`)
            }
            yield* submitAll(chain, height + 1, blocks.length)
            atTip(yield* coinState(chain), "end")
          }))
      }),
    60_000
  )

  it.scopedLive("the chain publishes blocks in order, after they are stored", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const listening = yield* Effect.fork(Stream.runCollect(Stream.take(chain.events, 3)))
          // The listener subscribes in its first turn.
          yield* Effect.yieldNow({ priority: 1 })
          yield* submitAll(chain, 1, 4)
          const events = Chunk.toReadonlyArray(yield* Fiber.join(listening))
          assert.deepStrictEqual(events.map(({ _tag, block }) => [_tag, block.height]), [
            ["BlockConnected", 1],
            ["BlockConnected", 2],
            ["BlockConnected", 3]
          ])
        }))
    }))

  it.scopedLive("the chain does not mark a hash invalid for a malleable fault", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [, first] = blocks
      assert.isDefined(first)
      const broken = Uint8Array.from(first.bytes)
      broken[broken.length - 1] = 1
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.strictEqual(verdictOf(yield* chain.sink.submit(decodeBlock(broken))), "bad-txnmrklroot")
          assert.isNull(verdictOf(yield* chain.sink.submit(first)))
          assert.strictEqual(verdictOf(yield* chain.sink.submit(first)), "duplicate")
        }))
    }))

  it.scopedLive("the chain reports an unknown hash as unknown", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const nowhere = parseDisplayHash("11".repeat(32)) ?? new Uint8Array(32)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* Effect.flip(chain.header(nowhere)))._tag, "BlockNotFound")
          assert.strictEqual((yield* Effect.flip(chain.block(nowhere)))._tag, "BlockNotFound")
          assert.strictEqual((yield* Effect.flip(chain.control.invalidate(nowhere)))._tag, "BlockNotFound")
        }))
    }))
})
