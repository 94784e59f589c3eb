import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Logger } from "effect"
import { join } from "node:path"
import { HashRows, hasNoHistory, prefixOf, scriptHashOf } from "../../../src/chain/indexes/hashRows.ts"
import * as Indexes from "../../../src/chain/indexes/Indexes.ts"
import type { ScriptIndex } from "../../../src/chain/indexes/ScriptIndex.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, fromBinaryString } from "../../../src/protocol/bytes.ts"
import { outpoint } from "../../../src/protocol/transaction.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { blocksOf, temporaryDirectory, type TestChain, withChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { fixtureJson } from "../../support/fixtures.ts"
import { checkAll, damageOf, doubted, flipByte, untilSound } from "../../support/liveDamage.ts"

interface Stale {
  readonly branches: ReadonlyArray<{
    readonly forkHeight: number
    readonly hashes: ReadonlyArray<string>
    readonly overtakenAt: number
  }>
}

const blocks = blocksOf("regtest-names/blocks.dat")
const stale = blocksOf("regtest-names/stale.dat")
const branches = fixtureJson<Stale>("regtest-names/stale.json").branches

const quiet = Logger.remove(Logger.defaultLogger)

const layerIn = (directory: string) =>
  Indexes.layer({
    directory: join(directory, "chainstate"),
    pageSize: 4096,
    params: regtestParams,
    filters: false,
    spenders: false,
    coinStats: false,
    scripts: true
  })

type Use<A, E, R> = (chain: TestChain, index: ScriptIndex) => Effect.Effect<A, E, R>

const enlisted = <A, E, R>(chain: TestChain, use: Use<A, E, R>) =>
  Effect.gen(function*() {
    const { followers, scripts } = yield* Indexes.Indexes
    yield* Effect.forEach(followers, chain.control.register, { discard: true })
    return yield* use(chain, scripts ?? assert.fail("no index"))
  })

const withIndex = <A, E>(directory: string, use: Use<A, E, never>) =>
  withChain(
    directory,
    (chain) => enlisted(chain, use).pipe(Effect.provide(layerIn(directory).pipe(Layer.provide(DataHealth.layer))))
  )

/** What a scan of blocks finds: heights by script hash, and by txid. */
const scan = (list: ReadonlyArray<Block>): ReadonlyMap<string, ReadonlySet<number>> => {
  const found = new Map<string, Set<number>>()
  const scripts = new Map<string, Uint8Array>()
  const note = (hash: Uint8Array, height: number): void => {
    const key = binaryString(hash)
    found.set(key, (found.get(key) ?? new Set()).add(height))
  }
  for (const [height, { transactions }] of list.entries()) {
    for (const { inputs, isCoinbase, outputs, txid } of transactions) {
      note(txid, height)
      for (const [vout, { script }] of outputs.entries()) {
        scripts.set(binaryString(outpoint(txid, vout)), script)
        if (!hasNoHistory(script)) note(scriptHashOf(script), height)
      }
      for (const { prevout } of isCoinbase ? [] : inputs) {
        note(scriptHashOf(scripts.get(binaryString(prevout)) ?? assert.fail("an unknown coin is spent")), height)
      }
    }
  }
  return found
}

/** The index has every place that a scan finds, and but few others. */
const isSound = (index: ScriptIndex, list: ReadonlyArray<Block>) =>
  Effect.gen(function*() {
    let [places, others] = [0, 0]
    for (const [key, wanted] of scan(list)) {
      const { at, heights } = yield* index.heights({ hash: fromBinaryString(key), limit: 10_000 })
      assert.strictEqual(at?.height, list.length - 1)
      assert.deepStrictEqual(heights, heights.toSorted((a, b) => a - b))
      assert.deepStrictEqual([...wanted].filter((height) => !heights.includes(height)), [])
      places += wanted.size
      others += heights.length - wanted.size
    }
    // Expired names and blocks that left the chain.
    assert.isBelow(others, places / 10)
  })

const submitAll = (chain: TestChain, list: ReadonlyArray<Block>) =>
  Effect.forEach(list, (block) => chain.sink.submit(block), { discard: true })

/** A branch of some blocks that the chain left again. */
const longBranch = () => {
  const branch = branches.find(({ hashes }) => hashes.length >= 3) ?? assert.fail("no branch")
  const before = branches.slice(0, branches.indexOf(branch)).reduce((sum, one) => sum + one.hashes.length, 0)
  return { ...branch, side: stale.slice(before, before + branch.hashes.length) }
}

describe("rows of hashes", () => {
  it("come in the order of the table, each once", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.array(FastCheck.uint8Array({ minLength: 5, maxLength: 32 }), { maxLength: 20 }),
      (hashes) => {
        const prefixes = hashes.map(prefixOf)
        const expected = hashes.map((hash) => Number(BigInt(`0x${Buffer.from(hash.subarray(0, 5)).toString("hex")}`)))
        assert.deepStrictEqual(prefixes, expected)
      }
    ))
    const rows = new HashRows(
      blocks.slice(0, 100).map((block, height) => ({ block, height, hash: block.hash, effects: [] }))
    )
    const listed = [...rows.inOrder(64)].flat()
    const keys = listed.map(({ height, prefix }) => prefix * 1_000 + height)
    assert.deepStrictEqual(keys, [...new Set(keys)].toSorted((a, b) => a - b))
    assert.isAbove(listed.length, 100)
  })
})

describe("the index of scripts", () => {
  it.scopedLive("follows the chain block by block, in batches, and after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withIndex(directory, (chain, index) =>
        Effect.gen(function*() {
          yield* submitAll(chain, blocks.slice(1, 60))
          yield* isSound(index, blocks.slice(0, 60))
          yield* chain.sink.deliver(blocks.slice(60, 250), false)
          yield* isSound(index, blocks.slice(0, 250))
        }))
      yield* withIndex(directory, (chain, index) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(250), false)
          yield* isSound(index, blocks)
          const { heights } = yield* index.heights({
            hash: blocks[9]?.transactions[0]?.txid ?? assert.fail(),
            limit: 9
          })
          assert.deepStrictEqual(heights, [9])
          const paid = scriptHashOf(blocks[9]?.transactions[0]?.outputs[0]?.script ?? assert.fail())
          const all = yield* index.heights({ hash: paid, limit: 10_000 })
          const above = yield* index.heights({ hash: paid, limit: 10_000, above: 300 })
          assert.deepStrictEqual(above.heights, all.heights.filter((height) => height > 300))
          assert.lengthOf((yield* index.heights({ hash: paid, limit: 1 })).heights, 1)
        }))
    }))

  it.scopedLive("leaves a branch with the chain", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const { forkHeight, overtakenAt, side } = longBranch()
      yield* withIndex(directory, (chain, index) =>
        Effect.gen(function*() {
          yield* submitAll(chain, [...blocks.slice(1, forkHeight + 1), ...side])
          yield* isSound(index, [...blocks.slice(0, forkHeight + 1), ...side])
          yield* submitAll(chain, blocks.slice(forkHeight + 1, overtakenAt + 1))
          yield* isSound(index, blocks.slice(0, overtakenAt + 1))
        }))
    }))

  it.scopedLive("continues when it was off for a while and the chain left its last blocks", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const { forkHeight, overtakenAt, side } = longBranch()
      yield* withIndex(directory, (chain) => submitAll(chain, [...blocks.slice(1, forkHeight + 1), ...side]))
      yield* withChain(directory, (chain) => submitAll(chain, blocks.slice(forkHeight + 1, overtakenAt + 20)))
      yield* withIndex(directory, (_, index) => isSound(index, blocks.slice(0, overtakenAt + 20)))
    }))

  it.scopedLive("catches up in the background with a chain that was there before", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) => chain.sink.deliver(blocks.slice(1), false))
      yield* withIndex(directory, (_, index) =>
        Effect.gen(function*() {
          yield* eventually("the index is at the tip", Effect.map(index.at, (at) => at?.height === blocks.length - 1))
          yield* isSound(index, blocks)
        }))
    }).pipe(Effect.provide(quiet)))

  it.scopedLive("is rebuilt while the chain runs, when a bit flips", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const some = blocks.slice(0, 120)
      yield* withIndex(directory, (chain) => submitAll(chain, some.slice(1)))
      yield* withChain(directory, (chain) =>
        enlisted(chain, (_, index) =>
          Effect.gen(function*() {
            flipByte(join(directory, "chainstate", "electrum.db"), 3 * 4096 - 20)
            yield* checkAll("electrum.db")
            assert.deepStrictEqual(yield* doubted, ["electrum.db"])
            assert.strictEqual(yield* damageOf("electrum.db"), 1)
            yield* untilSound
            yield* isSound(index, some)
          })).pipe(Effect.provide(layerIn(directory))))
    }).pipe(Effect.provide(quiet)))
})
