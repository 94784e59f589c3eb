import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, PubSub, type Scope, Stream } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as AlertFile from "../../src/alerts/AlertFile.ts"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import { runExpiryAlerts } from "../../src/alerts/ExpiryAlerts.ts"
import * as AlertMail from "../../src/alerts/mail/AlertMail.ts"
import { queuesOf, withNotices } from "../../src/alerts/mail/mailQueue.ts"
import * as WatchList from "../../src/alerts/WatchList.ts"
import * as Scheduler from "../../src/base/Scheduler.ts"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { Chain } from "../../src/chain/Chain.ts"
import type { ChainEvent } from "../../src/chain/ChainEvent.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { NameAnswers } from "../../src/light/NameAnswers.ts"
import { namesExpiring } from "../../src/metrics/alertMetrics.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import type { WalletName } from "../../src/wallet/names/WalletNames.ts"
import { blockAt, hashAt, text, withNewDb } from "../names/blocks.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { fakeWallet, fakeWalletsLayer } from "../support/fakeWallet.ts"
import { noTree } from "../support/noTree.ts"
import { noWallets } from "../support/noWallets.ts"

const EXPIRES = "name expires soon. Renew it, or make sure that its owner does"
const WAITS = "name expires soon, and its renewal is unconfirmed. Raise the fee of the renewal if it stays unconfirmed"

interface World {
  readonly syncing: { now: boolean }
  /** Whether names.db has all blocks. */
  readonly complete: { now: boolean }
  /** Whether operations on the names wait for a block. */
  readonly pending: { now: boolean }
  readonly filename: string
  /** Connects a block without names, and tells the followers of the chain. */
  readonly block: Effect.Effect<void, unknown>
  readonly watch: typeof WatchList.WatchList.Service
  /** Names and blocks left of the warnings so far. */
  readonly warned: ReadonlyArray<string>
  /** The names of each mail. */
  readonly mailed: ReadonlyArray<ReadonlyArray<string>>
  readonly run: Effect.Effect<void, unknown, Scope.Scope>
}

/** A node on the private network, where a name lives for 30 blocks: d/a, d/b and d/c are registered in block 1. */
const world = (use: (world: World) => Effect.Effect<void, unknown, Scope.Scope>, wallets = noWallets) =>
  withNewDb((db) =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "alerts.json")
      const rand = Uint8Array.of(1)
      const names = ["d/a", "d/b", "d/c"].map((name) => ({ name: text(name), rand }))
      let height = 1
      yield* db.follower.apply([blockAt(0), blockAt(1, names)])
      const events = yield* PubSub.unbounded<ChainEvent>()
      const warned: Array<string> = []
      const mailed: Array<ReadonlyArray<string>> = []
      const mail = Layer.mock(AlertMail.AlertMail, {
        run: Effect.void,
        queued: (queues, notices) => {
          if (notices.length > 0) mailed.push(notices.map(({ name }) => Buffer.from(name).toString()))
          return withNotices(queuesOf(queues, ["a@x.example"]), notices)
        }
      })
      const syncing = { now: false }
      const complete = { now: true }
      const pending = { now: false }
      const collect = Logger.make<unknown, void>(({ message }) => {
        const [said, facts] = Array.isArray(message) ? message : [message]
        if (said === EXPIRES || said === WAITS) warned.push(`${facts.name} ${facts.blocksLeft}`)
      })
      const services = ExpiringNames.layer.pipe(
        Layer.provideMerge(WatchList.layerMemory),
        Layer.provideMerge(wallets),
        Layer.provideMerge(Layer.succeed(NameDb, db)),
        Layer.provideMerge(
          Layer.mock(Chain, {
            params: regtestParams,
            tree: noTree,
            subscription: Stream.fromPubSub(events, { scoped: true })
          })
        ),
        Layer.provideMerge(Layer.mock(NameAnswers, {
          fromWindow: () => false,
          atOnce: () => undefined,
          proofOfAbsence: () => "full",
          complete: Effect.sync(() => complete.now)
        })),
        Layer.provideMerge(Layer.mock(SyncStatus, { syncing: Effect.sync(() => syncing.now) })),
        Layer.provideMerge(Scheduler.layer)
      )
      const context = yield* Layer.build(services)
      const block = Effect.gen(function*() {
        height++
        yield* db.follower.apply([blockAt(height)])
        yield* turnOfEventLoop
        yield* PubSub.publish(events, {
          _tag: "BlockConnected",
          block: { height, hash: hashAt(height) },
          imported: false,
          transactions: 0
        })
      })
      yield* use({
        syncing,
        complete,
        pending,
        filename,
        block,
        watch: yield* Effect.provide(WatchList.WatchList, context),
        warned,
        mailed,
        run: runExpiryAlerts({ isPending: () => pending.now }).pipe(
          Effect.provide([
            Layer.succeedContext(context),
            AlertFile.layer(filename).pipe(Layer.provide(DataHealth.layer)),
            mail,
            Logger.replace(Logger.defaultLogger, collect)
          ])
        )
      })
    }).pipe(Effect.scoped)
  )

describe("runExpiryAlerts", () => {
  it.live("says nothing while the index of the names is rebuilt", () =>
    world(({ block, complete, run, warned, watch }) =>
      Effect.gen(function*() {
        yield* watch.add([text("d/a")])
        complete.now = false
        for (let i = 0; i < 20; i++) yield* block
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, [])
        complete.now = true
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, ["d/a 10"])
      })
    ))

  it.live("does not trust an operation that waits for a block until the name expires", () =>
    world(({ block, pending, run, warned, watch }) =>
      Effect.gen(function*() {
        yield* watch.add([text("d/a")])
        pending.now = true
        for (let i = 0; i < 20; i++) yield* block
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, [])
        for (let i = 0; i < 8; i++) yield* block
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, ["d/a 2"])
      })
    ))

  it.live("gives no notice twice on a disk that takes no file, and goes on without one that cannot be read", () =>
    world(({ block, filename, run, warned, watch }) =>
      Effect.gen(function*() {
        yield* watch.add([text("d/a")])
        mkdirSync(filename)
        // No draft of the file can be written.
        mkdirSync(`${filename}.new`)
        for (let i = 0; i < 20; i++) yield* block
        yield* Effect.scoped(Effect.gen(function*() {
          yield* run
          assert.deepStrictEqual(warned, ["d/a 10"])
          yield* watch.add([text("d/none")])
          yield* turnOfEventLoop
          yield* turnOfEventLoop
        }))
        assert.deepStrictEqual(warned, ["d/a 10"])
      })
    ))

  it.live("logs each notice of a watched name once, even across restarts, and shows it in the metric", () =>
    world(({ block, run, warned, watch }) =>
      Effect.gen(function*() {
        yield* watch.add([text("d/a"), text("d/none")])
        yield* Effect.scoped(Effect.gen(function*() {
          yield* run
          assert.deepStrictEqual(warned, [])
          // Block 15: the name expires at 31, in 16 blocks.
          for (let i = 0; i < 13; i++) yield* block
          assert.deepStrictEqual(warned, [])
          yield* block
          yield* eventually("the first notice", () => warned.length === 1)
          assert.strictEqual(namesExpiring.of("8w").value(), 1)
          assert.strictEqual(namesExpiring.of("4w").value(), 0)
          yield* block
        }))
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, ["d/a 16"])
        // While the node does not run, the name passes two notices.
        for (let i = 0; i < 12; i++) yield* block
        yield* Effect.scoped(run)
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, ["d/a 16", "d/a 3"])
        assert.strictEqual(namesExpiring.of("2w").value(), 1)
        assert.strictEqual(namesExpiring.of("1w").value(), 0)
      })
    ))

  it.live("queues one mail for the notices of a block, on disk with them", () =>
    world(({ block, filename, mailed, run, watch }) =>
      Effect.gen(function*() {
        yield* watch.add([text("d/a"), text("d/b")])
        for (let i = 0; i < 14; i++) yield* block
        yield* Effect.scoped(run)
        yield* Effect.scoped(run)
        assert.deepStrictEqual(mailed, [["d/a", "d/b"]])
        const { mail: [queue], told } = yield* AlertFile.AlertFile.pipe(
          Effect.map(({ current }) => current()),
          Effect.provide(AlertFile.layer(filename).pipe(Layer.provide(DataHealth.layer)))
        )
        assert.strictEqual(told.length, 2)
        assert.deepStrictEqual(queue?.waiting?.names.map(({ mine, pending }) => [mine, pending]), [
          [false, false],
          [false, false]
        ])
      })
    ))

  it.live("gives no notice of a name of a coinbase that is longer than the rules allow, and goes on with the others", () => {
    const own = (name: Uint8Array): WalletName => ({
      name,
      operation: { op: "name_update", name, value: text("v") },
      txid: hashAt(1),
      vout: 0,
      script: text("a"),
      height: 1,
      mine: true
    })
    const { wallet } = fakeWallet({ list: () => [own(new Uint8Array(300).fill(97)), own(text("d/own"))] })
    return world(({ block, mailed, run, warned }) =>
      Effect.gen(function*() {
        for (let i = 0; i < 14; i++) yield* block
        yield* Effect.scoped(run)
        yield* Effect.scoped(run)
        assert.deepStrictEqual(warned, ["d/own 16"])
        assert.deepStrictEqual(mailed, [["d/own"]])
      }), fakeWalletsLayer([wallet]))
  })

  it.live("reports a name that is added late, at once", () =>
    world(({ block, run, warned, watch }) =>
      Effect.gen(function*() {
        for (let i = 0; i < 24; i++) yield* block
        yield* run
        assert.deepStrictEqual(warned, [])
        yield* watch.add([text("d/b")])
        yield* eventually("the notice", () => warned.length === 1)
        assert.deepStrictEqual(warned, ["d/b 6"])
        yield* watch.remove([text("d/b")])
        yield* eventually("the metric", () => namesExpiring.of("8w").value() === 0)
      })
    ))

  it.live("is silent while blocks are downloaded", () =>
    world(({ block, run, syncing, warned, watch }) =>
      Effect.gen(function*() {
        yield* watch.add([text("d/a")])
        for (let i = 0; i < 24; i++) yield* block
        syncing.now = true
        yield* run
        assert.deepStrictEqual(warned, [])
        syncing.now = false
        yield* block
        yield* eventually("the notice", () => warned.length === 1)
        assert.deepStrictEqual(warned, ["d/a 5"])
      })
    ))
})
