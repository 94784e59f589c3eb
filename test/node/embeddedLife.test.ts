import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Layer, Logger, LogLevel, Scope, Stream } from "effect"
import { decodeConfig } from "../../src/client/config.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import { EmbeddedNode } from "../../src/node/clients.ts"
import { embeddedSettings } from "../../src/node/embedded.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"
import { temporaryDirectory, testChain } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { fillDirectory, nodeWithClient } from "../support/embedded.ts"
import { inTime } from "../support/eventually.ts"
import { embedded, filledDirectory, subscribed } from "./embeddedClient.ts"

/** How a node in its host's process starts and ends. */

describe("the embedded node", () => {
  it.scopedLive("starts few threads in its host", () =>
    Effect.sync(() => {
      const config = Either.getOrThrow(decodeConfig({ network: "regtest" }))
      const threads = [1, 2, 64].map((cores) => Either.getOrThrow(embeddedSettings(config, cores)).chain.verifyThreads)
      assert.deepStrictEqual(threads, [0, 1, 3])
    }))

  it.scopedLive("ends with the reason if the node has to stop, and its host continues", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* fillDirectory(dataDir, 5)
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const chain = yield* testChain
        const full = new StorageUnavailable({ file: "names.db", doing: "writing", reason: "the disk is full" })
        // Not the same object: a failure inside a span carries the span.
        const isFull = (failure: unknown): void =>
          assert.isTrue(failure instanceof StorageUnavailable && failure.message === full.message)
        const { hash, height } = yield* Effect.map(chain.tip, ({ header, height }) => ({ hash: header.hash, height }))
        yield* chain.control.register({
          name: "full",
          cursor: Effect.succeed({ hash, height }),
          apply: () => full,
          rewind: () => full
        })
        const listening = yield* Effect.fork(Effect.flip(Stream.runDrain(client.changes())))
        yield* subscribed
        const [block] = fixtureBlocks("regtest-names/blocks.dat.gz").slice(height + 1)
        if (block !== undefined) yield* Effect.exit(chain.sink.submit(block))
        isFull(yield* Effect.flip(client.failure))
        isFull(yield* Effect.flip(client.resolveName("d/x")))
        isFull(yield* Effect.flip(client.freshness))
        isFull(yield* Fiber.join(listening))
      }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))
    }))

  it.scopedLive("refuses calls once it is closed, and ends waiting calls", () =>
    Effect.gen(function*() {
      const dataDir = yield* filledDirectory
      const scope = yield* Scope.make()
      const name = "d/embermapleb831"
      const context = yield* Layer.buildWithScope(embedded({ dataDir }), scope)
      const client = yield* Effect.provide(NameClient, context)
      yield* client.resolveName(name)
      const listening = yield* Effect.fork(Effect.exit(Stream.runDrain(client.changes())))
      const ended = yield* Effect.fork(Effect.flip(client.failure))
      yield* subscribed
      yield* Scope.close(scope, Exit.void)
      const refused = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
        Effect.map(Effect.flip(call), ({ _tag }) => assert.strictEqual(_tag, "ClientClosed"))
      yield* refused(client.resolveName(name))
      yield* refused(client.listNames())
      yield* refused(client.registerName("d/x", ""))
      yield* refused(client.freshness)
      yield* refused(Stream.runDrain(client.changes()))
      assert.strictEqual((yield* Fiber.join(ended))._tag, "ClientClosed")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(listening)))
      // The directory is free again.
      yield* Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir }))
    }))

  it.scopedLive("one directory has one client; another network's is refused; an interrupted start leaves it free", () =>
    Effect.gen(function*() {
      const dataDir = yield* filledDirectory
      yield* Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir })))
        assert.strictEqual(error._tag, "DataDirectoryInUse")
      }).pipe(Effect.provide(embedded({ dataDir })))
      const error = yield* Effect.flip(
        Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir, network: "testnet" }))
      )
      assert.strictEqual(error._tag, "WrongNetwork")
      const begun = yield* Deferred.make<void>()
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => {
          if (String(message).includes("starting")) Deferred.unsafeDone(begun, Effect.void)
        })
      )
      const layer = EmbeddedNode.layer({ network: "regtest", dataDir, maxPeers: 0, disableWallet: true })
      const starting = yield* Effect.fork(
        Effect.never.pipe(
          Effect.provide(Layer.provideMerge(layer, logger)),
          Logger.withMinimumLogLevel(LogLevel.Debug)
        )
      )
      yield* inTime(Deferred.await(begun), "the start of the node")
      yield* Fiber.interrupt(starting)
      yield* Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir }))
    }))
})
