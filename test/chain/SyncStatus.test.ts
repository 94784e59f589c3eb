import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { type BlocksAhead, Chain, type ChainProgress } from "../../src/chain/Chain.ts"
import type { ImportProgress } from "../../src/chain/import/ImportRun.ts"
import type { HeaderInfo } from "../../src/chain/index/headerInfo.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import { type ConsensusParams, mainnetParams, regtestParams } from "../../src/consensus/params.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { noTree } from "../support/noTree.ts"

/** The reported state of a chain. Tests can change it. */
interface Said {
  /** Seconds since 1970. */
  tipTime: number
  work: bigint
  missing: BlocksAhead | undefined
  importing: ImportProgress | undefined
}

const DAY = 86_400

/** 2033: the test's clock begins at 0. */
const NOW = 2_000_000_000

const IMPORTING: ImportProgress = {
  phase: "blocks",
  done: 1,
  total: 2,
  bytesDone: 1,
  bytesTotal: 2,
  height: 1,
  elapsedMs: 1
}

/** A chain of which only the position is read. */
const chainOf = (params: ConsensusParams, said: Said) => {
  const { header } = decodeBlock(params.network.genesisBlock)
  const tip = Effect.sync((): HeaderInfo => ({
    hash: header.hash,
    height: 7,
    header: Object.create(header, { time: { value: said.tipTime } }),
    chainwork: said.work,
    medianTimePast: 0,
    transactions: 1,
    size: 0,
    confirmations: 1,
    next: undefined
  }))
  const progress = Effect.sync((): ChainProgress => ({
    tip: { height: 7, hash: header.hash },
    headers: 7 + (said.missing?.count ?? 0),
    importing: said.importing,
    behind: said.missing !== undefined,
    missing: said.missing
  }))
  return Layer.mock(Chain, { params, tree: noTree, tip, progress })
}

/** Runs a test at `NOW` on a chain whose tip is recent and has enough work, unless the test changes it. */
const at = <A, E>(
  { expectsPeers = false, offline = false, params = mainnetParams }: {
    readonly expectsPeers?: boolean
    readonly offline?: boolean
    readonly params?: ConsensusParams
  },
  use: (status: typeof SyncStatus.SyncStatus.Service, said: Said) => Effect.Effect<A, E>
) =>
  Effect.suspend(() => {
    const said: Said = { tipTime: NOW, work: params.minimumChainWork, missing: undefined, importing: undefined }
    return TestClock.setTime(1000 * NOW).pipe(
      Effect.zipRight(Effect.flatMap(SyncStatus.SyncStatus, (status) => use(status, said))),
      Effect.provide(Layer.provide(SyncStatus.layer({ offline, expectsPeers }), chainOf(params, said)))
    )
  })

const both = (status: typeof SyncStatus.SyncStatus.Service) =>
  Effect.all({ syncing: status.syncing, initial: status.initialDownload })

const DONE = { syncing: false, initial: false }
const WAITING = { syncing: true, initial: true }

describe("SyncStatus", () => {
  it.effect("the node is syncing while it loads, even with a recent tip", () =>
    at({}, (status) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* both(status), WAITING)
        yield* status.loaded
        assert.deepStrictEqual(yield* both(status), DONE)
      })))

  for (const params of [mainnetParams, regtestParams]) {
    it.effect(`${params.network.chainName}: an old tip ends the initial download only where blocks come at will`, () =>
      at({ params }, (status, said) =>
        Effect.gen(function*() {
          said.tipTime = NOW - DAY - 1
          yield* status.loaded
          assert.deepStrictEqual(yield* both(status), params === regtestParams ? DONE : WAITING)
        })))
  }

  it.effect("a tip of exactly one day is recent, and one second more is old", () =>
    at({}, (status, said) =>
      Effect.gen(function*() {
        yield* status.loaded
        said.tipTime = NOW - DAY - 1
        assert.isTrue(yield* status.initialDownload)
        said.tipTime = NOW - DAY
        assert.isFalse(yield* status.initialDownload)
      })))

  for (const params of [mainnetParams, { ...regtestParams, minimumChainWork: 100n }]) {
    it.effect(`${params.network.chainName}: the initial download lasts until the chain has the minimum work`, () =>
      at({ params }, (status, said) =>
        Effect.gen(function*() {
          yield* status.loaded
          said.work = params.minimumChainWork - 1n
          assert.deepStrictEqual(yield* both(status), WAITING)
          said.work = params.minimumChainWork
          assert.deepStrictEqual(yield* both(status), DONE)
        })))
  }

  it.effect("the node never returns to the initial download, whatever the clock does", () =>
    at({}, (status, said) =>
      Effect.gen(function*() {
        yield* status.loaded
        assert.deepStrictEqual(yield* both(status), DONE)
        yield* TestClock.adjust("30 days")
        assert.deepStrictEqual(yield* both(status), DONE)
        said.tipTime = 0
        said.work = 0n
        assert.deepStrictEqual(yield* both(status), DONE)
      })))

  it.effect("the node is syncing while known blocks are missing, and while it imports", () =>
    at({}, (status, said) =>
      Effect.gen(function*() {
        yield* status.loaded
        for (const change of [{ missing: { count: 3, since: NOW } }, { importing: IMPORTING }]) {
          Object.assign(said, change)
          assert.deepStrictEqual(yield* both(status), { syncing: true, initial: false })
          Object.assign(said, { missing: undefined, importing: undefined })
          assert.deepStrictEqual(yield* both(status), DONE)
        }
      })))

  it.effect("up to two fresh blocks that are on their way do not count, for ten minutes", () =>
    at({}, (status, said) =>
      Effect.gen(function*() {
        yield* status.loaded
        said.missing = { count: 2, since: NOW - 300 }
        assert.isFalse(yield* status.syncing)
        yield* TestClock.adjust("5 minutes")
        assert.isFalse(yield* status.syncing)
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* status.syncing)
        said.missing = { count: 3, since: NOW + 301 }
        assert.isTrue(yield* status.syncing)
      })))

  it.effect("a node that looks for no peers expects no blocks, even with an old tip", () =>
    at({ offline: true }, (status, said) =>
      Effect.gen(function*() {
        said.tipTime = NOW - 365 * DAY
        yield* status.loaded
        assert.deepStrictEqual(yield* both(status), { syncing: false, initial: true })
        said.missing = { count: 3, since: NOW }
        assert.deepStrictEqual(yield* both(status), WAITING)
      })))

  it.effect("an offline node with the beginning of a chain misses blocks", () =>
    at({ offline: true }, (status, said) =>
      Effect.gen(function*() {
        said.work = mainnetParams.minimumChainWork - 1n
        yield* status.loaded
        assert.deepStrictEqual(yield* both(status), WAITING)
      })))

  for (const params of [mainnetParams, regtestParams]) {
    it.effect(`${params.network.chainName}: waits for the first peer that has told all its headers, once`, () =>
      at({ params, expectsPeers: true }, (status) =>
        Effect.gen(function*() {
          yield* status.loaded
          assert.deepStrictEqual(yield* both(status), { syncing: true, initial: false })
          yield* status.answered
          assert.deepStrictEqual(yield* both(status), DONE)
        })))
  }

  it.effect("an offline node expects no answers from peers", () =>
    at({ expectsPeers: true, offline: true }, (status) =>
      Effect.gen(function*() {
        yield* status.loaded
        assert.isFalse(yield* status.syncing)
      })))

  it.effect("the node is loading until it has loaded, and while it imports", () =>
    at({}, (status, said) =>
      Effect.gen(function*() {
        assert.isTrue(yield* status.loading)
        yield* status.loaded
        assert.isFalse(yield* status.loading)
        said.importing = IMPORTING
        assert.isTrue(yield* status.loading)
      })))
})
