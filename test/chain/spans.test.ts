import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, type Scope } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Follower } from "../../src/chain/write/Follower.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"
import { blocksOf, chainLayer, temporaryDirectory, type TestChain, testChain } from "../support/chain.ts"
import { fixtureBytes } from "../support/fixtures.ts"
import { fundedDirectory, type LiveNode, withWallets } from "../support/liveWallets.ts"
import { SpanLog } from "../support/spans.ts"

const FIXTURE = "regtest-names/blocks.dat"

const all = blocksOf(FIXTURE)

const blocks = all.slice(1, 2)

/** More blocks than a batch of an import has. Each follows its magic and its length. */
const IMPORTED_BYTES = all.slice(0, 100).reduce((sum, { bytes }) => sum + 8 + bytes.length, 0)

/** The paths of spans below one. */
const below = (door: string, paths: ReadonlyArray<string>) => [door, ...paths.map((path) => `${door} > ${path}`)]

const FOLLOW = below("svcd.chain.follow", [
  "svcd.names.apply",
  "svcd.wallet.apply",
  "svcd.mempool.apply",
  "svcd.chain.publish"
])

const CONNECT = below("svcd.chain.connect", ["svcd.chain.verify"])

/** The way of a block from a door of the chain. The door itself stores last: then nothing is left to be stored. */
const wayFrom = (door: string) => below(door, [...CONNECT, "svcd.chain.commit", ...FOLLOW, "svcd.chain.commit"])

const traces = ({ spans }: SpanLog): number => new Set(spans.map(({ traceId }) => traceId)).size

/** The attributes of the spans with a name, and whether they failed. */
const facts = (log: SpanLog, name: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  log.named(name).map(({ attributes, exit }) => ({
    ...Object.fromEntries(attributes),
    failed: exit === undefined || Exit.isFailure(exit)
  }))

/** Runs work on a node with names, a wallet and a mempool. */
const onNode = <A, E>(use: (node: LiveNode, log: SpanLog) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const log = new SpanLog()
    yield* withWallets(yield* fundedDirectory, (node) => use(node, log)).pipe(Effect.provide(log.layer))
  })

/** Runs work on a chain of its own. */
const onChain = <A, E>(use: (chain: TestChain, log: SpanLog) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const log = new SpanLog()
    const layer = Layer.provideMerge(chainLayer(yield* temporaryDirectory), log.layer)
    yield* Effect.flatMap(testChain, (chain) => use(chain, log)).pipe(Effect.provide(layer))
  })

describe("spans of the chain", () => {
  it.scopedLive("the way of a submitted block through names, wallet and mempool is one trace", () =>
    onNode(({ chain, mine }, log) =>
      Effect.gen(function*() {
        log.forget()
        const { hash } = yield* mine()
        const { height } = yield* chain.tip
        assert.deepStrictEqual(log.paths, wayFrom("svcd.chain.submit"))
        assert.strictEqual(traces(log), 1)
        const block = { hash: displayHash(hash), failed: false }
        assert.deepStrictEqual(facts(log, "svcd.chain.submit"), [{ ...block, result: "connected" }])
        assert.deepStrictEqual(facts(log, "svcd.chain.connect"), [{ ...block, height, blocks: 1 }])
        assert.deepStrictEqual(facts(log, "svcd.names.apply"), [{ blocks: 1, height, failed: false }])
        assert.deepStrictEqual(facts(log, "svcd.wallet.apply"), [{ blocks: 1, height, failed: false }])
        assert.deepStrictEqual(facts(log, "svcd.chain.commit"), [
          { stored: true, failed: false },
          { stored: false, failed: false }
        ])
      })
    ))

  it.scopedLive("the way of a block from a peer is one trace, which begins with the delivery", () =>
    Effect.gen(function*() {
      const log = new SpanLog()
      const use = ({ chain }: LiveNode) =>
        Effect.suspend(() => {
          log.forget()
          return chain.sink.deliver(blocks, false)
        })
      const { judged } = yield* withWallets(yield* temporaryDirectory, use).pipe(Effect.provide(log.layer))
      assert.deepStrictEqual(judged.map(({ reject }) => reject), [undefined])
      assert.deepStrictEqual(log.paths.slice(0, wayFrom("").length), wayFrom("svcd.chain.deliver"))
      assert.deepStrictEqual(facts(log, "svcd.chain.deliver"), [{ blocks: 1, bulk: false, failed: false }])
    }))

  it.scopedLive("a reorg shows each block that it disconnects, and the followers that roll back", () =>
    onNode(({ chain, mine }, log) =>
      Effect.gen(function*() {
        const first = yield* mine()
        const { height } = yield* chain.tip
        const second = yield* mine()
        log.forget()
        yield* chain.control.invalidate(first.hash)
        const rolledBack = below("svcd.chain.follow", [
          "svcd.names.rewind",
          "svcd.wallet.rewind",
          "svcd.mempool.rewind",
          "svcd.mempool.reorg",
          "svcd.chain.publish"
        ])
        const disconnect = "svcd.chain.disconnect"
        assert.deepStrictEqual(
          log.paths,
          below("svcd.chain.invalidate", [
            disconnect,
            disconnect,
            "svcd.chain.commit",
            ...rolledBack,
            "svcd.chain.commit"
          ])
        )
        assert.strictEqual(traces(log), 1)
        assert.deepStrictEqual(facts(log, disconnect), [
          { hash: displayHash(second.hash), height: height + 1, failed: false },
          { hash: displayHash(first.hash), height, failed: false }
        ])
      })
    ))

  it.scopedLive("an import is a span alone, and each of its batches is a trace", () =>
    onChain((chain, log) =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "blocks.dat")
        writeFileSync(file, fixtureBytes(FIXTURE).subarray(0, IMPORTED_BYTES))
        log.forget()
        const { stored } = yield* chain.sink.importFrom([file])
        assert.deepStrictEqual(facts(log, "svcd.chain.import"), [{ files: 1, failed: false }])
        assert.isFalse(log.paths.some((path) => path.startsWith("svcd.chain.import >")))
        const batches = log.named("svcd.chain.importBatch")
        assert.isAbove(batches.length, 1)
        assert.strictEqual(new Set(batches.map(({ traceId }) => traceId)).size, batches.length)
        const connected = log.named("svcd.chain.connect").map(({ attributes }) => Number(attributes.get("blocks")))
        assert.strictEqual(connected.reduce((sum, count) => sum + count, 0), stored)
      })
    ))

  it.scopedLive("a span ends with the failure of its door, and so do the spans around it", () =>
    onChain((chain, log) =>
      Effect.gen(function*() {
        const failure = new StorageUnavailable({ file: "names.db", doing: "writing", reason: "ENOSPC" })
        const follower: Follower = {
          name: "full",
          cursor: Effect.map(chain.tip, ({ hash, height }) => ({ hash, height })),
          apply: () => Effect.fail(failure),
          rewind: () => Effect.void
        }
        yield* chain.control.register(follower)
        log.forget()
        const [block] = blocks
        if (block === undefined) return assert.fail("the fixture has no blocks")
        assert.strictEqual((yield* Effect.flip(chain.sink.submit(block))).message, failure.message)
        const trace = log.named("svcd.chain.submit")[0]?.traceId
        const ends = log.spans.filter(({ traceId }) => traceId === trace).map((
          { exit, name }
        ) => [name, exit === undefined ? "runs" : Exit.isFailure(exit)])
        assert.deepStrictEqual(ends, [
          ["svcd.chain.submit", true],
          ["svcd.chain.connect", false],
          ["svcd.chain.verify", false],
          ["svcd.chain.commit", false],
          ["svcd.chain.follow", true]
        ])
      })
    ))
})
