import { assert, describe, it } from "@effect/vitest"
import { Clock, Config, ConfigProvider, Context, Effect, Exit, Layer, Logger, Redacted, Schema, Scope } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { MockTime } from "../../src/base/NodeClock.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import {
  Chain,
  Mempool,
  method,
  Metrics,
  NameClient,
  NameDb,
  Node,
  type NodeServices,
  PeerManager,
  route,
  RpcServer,
  Wallet
} from "../../src/node.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { copyOf, fillDirectory } from "../support/embedded.ts"

const quiet = Layer.provide(Logger.remove(Logger.defaultLogger))

const scope = Effect.runSync(Scope.make())

/** A directory with the chain of the fixtures. */
let filled = ""

const HEIGHT = 150

beforeAll(async () => {
  filled = await Effect.runPromise(Effect.provideService(temporaryDirectory, Scope.Scope, scope))
  await Effect.runPromise(fillDirectory(filled, HEIGHT))
}, 60_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const chainIn = (dataDir: string) => quiet(Chain.layer({ network: "regtest", dataDir, verifyThreads: 0 }))

/** A node composed by hand, without servers. */
const composed = (dataDir: string) =>
  quiet(PeerManager.layer({ maxPeers: 0 })).pipe(
    Layer.provideMerge(quiet(Wallet.layer())),
    Layer.provideMerge(quiet(Mempool.layer())),
    Layer.provideMerge(quiet(NameDb.layer())),
    Layer.provideMerge(chainIn(dataDir))
  )

const height = Effect.flatMap(Chain, ({ tip }) => Effect.map(tip, (found) => found.height))

/** What a request on loopback gets. */
const asked = (port: number, path: string, body?: object) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...body === undefined ? {} : { method: "POST", body: JSON.stringify({ id: 1, ...body }) },
      headers: { authorization: `Basic ${btoa("own:secret")}` }
    })
    const text = await response.text()
    return { status: response.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined }
  })

const ACCESS = { listenAddr: "127.0.0.1:0", rpcUser: "own", rpcPassword: Redacted.make("secret") }

describe("the layers of a node", () => {
  it.scopedLive("composed by hand, are the node of a directory that svcd filled", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* height, HEIGHT)
        const names = yield* NameDb
        assert.deepInclude(yield* names.cursor, { height: HEIGHT })
        const client = yield* NameClient
        yield* client.ready()
        assert.isAbove((yield* client.listNames()).length, 0)
        assert.deepInclude(yield* client.freshness, { height: HEIGHT, synced: true })
      }).pipe(Effect.provide(quiet(NameClient.layerNode()).pipe(Layer.provideMerge(composed(dataDir)))))
      // Closed in order, it opens again.
      assert.strictEqual(yield* Effect.provide(height, composed(dataDir)), HEIGHT)
    }))

  it.scopedLive("NameDb catches up with a chain that runs already, follows it, and leaves it alone when it is closed", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      yield* Effect.gen(function*() {
        const control = yield* ChainControl
        const chain = yield* Chain
        const context = yield* Effect.context<Layer.Layer.Success<ReturnType<typeof chainIn>>>()
        const own = yield* Scope.make()
        const names = Context.get(
          yield* Layer.buildWithScope(Layer.provide(quiet(NameDb.layer()), Layer.succeedContext(context)), own),
          NameDb
        )
        assert.deepInclude(yield* names.cursor, { height: HEIGHT })
        const { hash } = yield* chain.tip
        yield* control.invalidate(hash)
        assert.deepInclude(yield* names.cursor, { height: HEIGHT - 1 })
        yield* Scope.close(own, Exit.void)
        // Its file is closed: a follower that was still told would end the chain.
        yield* control.reconsider(hash)
        assert.strictEqual(yield* height, HEIGHT)
      }).pipe(Effect.provide(chainIn(dataDir)))
    }))

  it.scopedLive("RpcServer answers for them, with methods and documents of the application, where it says", () =>
    Effect.gen(function*() {
      const own = method({
        name: "tipheight",
        params: { plus: Schema.Number },
        results: Schema.Struct({ height: Schema.Number }),
        handler: ({ plus }) => Effect.map(height, (found) => ({ height: found + plus }))
      })
      const page = route({
        path: "/hello",
        authenticated: false,
        answer: ({ query }) => Effect.map(height, (found) => ({ body: `${query.get("guest")} at ${found}` }))
      })
      const server = quiet(RpcServer.layer({ ...ACCESS, methods: [own], routes: [page] }))
      const metrics = quiet(Metrics.layer({ listen: "127.0.0.1:0" }))
      yield* Effect.gen(function*() {
        const { address: { port } } = yield* RpcServer
        assert.isAbove(port, 0)
        const call = (method: string, ...params: ReadonlyArray<unknown>) => asked(port, "/", { method, params })
        assert.deepInclude((yield* call("getblockcount")).json, { result: HEIGHT })
        assert.deepInclude((yield* call("tipheight", 2)).json, { result: { height: HEIGHT + 2 } })
        assert.match((yield* call("help")).json.result, /== Application ==\ntipheight plus\n/)
        assert.match((yield* call("help", "tipheight")).json.result, /1\. plus +\(numeric, required\)/)
        assert.strictEqual((yield* asked(port, "/hello?guest=you")).text, `you at ${HEIGHT}`)
        assert.strictEqual((yield* asked(port, "/health")).status, 200)
        const { address, text } = yield* Metrics
        assert.match(yield* text, new RegExp(`^svcd_blockchain_height ${HEIGHT}$`, "m"))
        assert.match(
          (yield* asked(address?.port ?? 0, "/metrics")).text,
          new RegExp(`^svcd_blockchain_height ${HEIGHT}$`, "m")
        )
        // A call of `stop` ends the program that waits for it.
        const ended = yield* Effect.fork(Node.ended)
        yield* call("stop")
        yield* ended.await
      }).pipe(Effect.provide(Layer.merge(server, metrics).pipe(Layer.provideMerge(composed(yield* copyOf(filled))))))
    }))

  it.scopedLive("Node.layer is all of them with a client; the clock of the program stays its own", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      const node = quiet(Node.layer({ network: "regtest", dataDir, maxPeers: 0, verifyThreads: 0 }))
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* NameClient).mode, "embedded")
        yield* Effect.flatMap(MockTime, ({ set }) => set(1_000_000_000))
        assert.isAbove(yield* Clock.currentTimeMillis, 1_700_000_000_000)
      }).pipe(Effect.provide(node))
      const config = Node.layerConfig({
        network: Config.literal("regtest")("NETWORK"),
        dataDir: Config.string("DIRECTORY"),
        maxPeers: Config.succeed(0)
      })
      const found = yield* Effect.provide(height, quiet(config)).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["NETWORK", "regtest"], ["DIRECTORY", dataDir]])))
      )
      assert.strictEqual(found, HEIGHT)
    }))

  it.scopedLive("two nodes in one process have two directories, never one", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* copyOf(filled), yield* temporaryDirectory]
      const both = yield* Effect.all([
        Effect.provide(height, composed(first)),
        Effect.provide(height, composed(second))
      ], {
        concurrency: 2
      })
      assert.deepStrictEqual(both, [HEIGHT, 0])
      const taken = yield* Effect.provide(Effect.flip(Effect.provide(height, chainIn(first))), composed(first))
      assert.strictEqual(taken._tag, "DataDirectoryInUse")
    }))

  it.scopedLive("two nodes of one graph of layers are two", () =>
    Effect.gen(function*() {
      class First extends Context.Tag("test/First")<First, number>() {}
      class Second extends Context.Tag("test/Second")<Second, number>() {}
      const nodeIn = (dataDir: string) =>
        quiet(Node.layer({ network: "regtest", dataDir, maxPeers: 0, disableWallet: true }))
      const both = Layer.merge(
        Layer.provide(Layer.effect(First, height), nodeIn(yield* copyOf(filled))),
        Layer.provide(Layer.effect(Second, height), nodeIn(yield* temporaryDirectory))
      )
      assert.deepStrictEqual(yield* Effect.provide(Effect.all([First, Second]), both), [HEIGHT, 0])
    }))

  it.scopedLive("a listener that closes leaves the node and its other listeners alone", () =>
    Effect.gen(function*() {
      yield* Effect.gen(function*() {
        const services = yield* Effect.context<NodeServices>()
        const open = Effect.gen(function*() {
          const own = yield* Scope.make()
          const layer = Layer.provide(quiet(RpcServer.layer(ACCESS)), Layer.succeedContext(services))
          const { address } = Context.get(yield* Layer.buildWithScope(layer, own), RpcServer)
          return { port: address.port, close: Scope.close(own, Exit.void) }
        })
        const [first, second] = [yield* open, yield* open]
        const ended = yield* Effect.fork(Node.ended)
        yield* first.close
        assert.deepInclude((yield* asked(second.port, "/", { method: "getblockcount", params: [] })).json, {
          result: HEIGHT
        })
        const third = yield* open
        assert.deepInclude((yield* asked(third.port, "/", { method: "getblockcount", params: [] })).json, {
          result: HEIGHT
        })
        assert.isNull(ended.unsafePoll())
      }).pipe(Effect.provide(composed(yield* copyOf(filled))))
    }))

  it.scopedLive("a wallet that was loaded later leaves the chain when its layer closes", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      const below = quiet(Mempool.layer()).pipe(
        Layer.provideMerge(quiet(NameDb.layer())),
        Layer.provideMerge(chainIn(dataDir))
      )
      yield* Effect.gen(function*() {
        const services = yield* Effect.context<Layer.Layer.Success<typeof below>>()
        const own = yield* Scope.make()
        const wallets = Context.get(
          yield* Layer.buildWithScope(Layer.provide(quiet(Wallet.layer()), Layer.succeedContext(services)), own),
          Wallet
        )
        yield* wallets.create({
          name: "later",
          privateKeys: true,
          blank: false,
          passphrase: undefined,
          loadOnStart: undefined
        })
        yield* Scope.close(own, Exit.void)
        const { hash } = yield* Effect.flatMap(Chain, ({ tip }) => tip)
        const control = yield* ChainControl
        yield* control.invalidate(hash)
        yield* control.reconsider(hash)
        assert.strictEqual(yield* height, HEIGHT)
      }).pipe(Effect.provide(below))
    }))

  it.scopedLive("a wrong option is InvalidConfig with its field, before anything is opened", () =>
    Effect.gen(function*() {
      const dataDir = join(yield* temporaryDirectory, "node")
      const node = { network: "regtest", dataDir } as const
      const greet = method({ name: "greet", params: {}, results: Schema.Null, handler: () => Effect.succeed(null) })
      const fieldOf = <A, E extends { readonly _tag: string }>(layer: Layer.Layer<A, E>) =>
        Effect.map(
          Effect.flip(Effect.scoped(Layer.build(quiet(layer)))),
          (failure) => "field" in failure ? failure.field : failure._tag
        )
      // As a program in JavaScript may give them.
      const anyOptions = (options: object) => options as Parameters<typeof Node.layer>[0]
      assert.strictEqual(yield* fieldOf(Node.layer(anyOptions({ ...node, network: "moonnet" }))), "network")
      assert.strictEqual(yield* fieldOf(Node.layer({ ...node, maxPeers: -1 })), "maxPeers")
      assert.strictEqual(yield* fieldOf(Node.layer({ ...node, prune: 1_000, txIndex: true })), "prune")
      assert.strictEqual(yield* fieldOf(Chain.layer({ ...node, dbCache: 0 })), "dbCache")
      assert.strictEqual(yield* fieldOf(Node.layer(anyOptions({ ...node, maxPers: 3 }))), "maxPers")
      assert.isFalse(existsSync(dataDir))

      const above = <A, E extends { readonly _tag: string }>(layer: Layer.Layer<A, E, NodeServices>) =>
        fieldOf(Layer.provide(layer, composed(dataDir)))
      assert.strictEqual(yield* above(RpcServer.layer({ listenAddr: "0.0.0.0:0" })), "listenAddr")
      assert.strictEqual(yield* above(RpcServer.layer({ ...ACCESS, methods: [greet, greet] })), "methods")
      const named = (name: string) =>
        method({ name, params: {}, results: Schema.Null, handler: () => Effect.succeed(null) })
      assert.strictEqual(yield* above(RpcServer.layer({ ...ACCESS, methods: [named("my-method")] })), "methods")
      assert.strictEqual(yield* above(RpcServer.layer({ ...ACCESS, methods: [named("getblockcount")] })), "methods")
      const taken = route({ path: "/rpc", answer: () => Effect.succeed({ body: "" }) })
      assert.strictEqual(yield* above(RpcServer.layer({ ...ACCESS, routes: [taken] })), "routes")
      assert.strictEqual(yield* above(Metrics.layer({ listen: "here" })), "listen")
      // What the layers below said counts: the desk is for wallets.
      const walletless = quiet(PeerManager.layer({ maxPeers: 0 })).pipe(
        Layer.provideMerge(quiet(Wallet.layerNone)),
        Layer.provideMerge(quiet(Mempool.layer())),
        Layer.provideMerge(quiet(NameDb.layer())),
        Layer.provideMerge(chainIn(dataDir))
      )
      assert.strictEqual(
        yield* fieldOf(Layer.provide(RpcServer.layer({ ...ACCESS, webWallet: true }), walletless)),
        "webWallet"
      )
      assert.strictEqual(yield* above(Wallet.layer({ passphrase: Redacted.make("wrong") })), "passphrase")
    }))

  it("a layer without what it needs is a type error", () => {
    type Complete<L> = L extends Layer.Layer<infer _A, infer _E, infer R> ? [R] extends [never] ? true : false : false
    const complete: readonly [
      Complete<ReturnType<typeof composed>>,
      Complete<ReturnType<typeof NameDb.layer>>,
      Complete<ReturnType<typeof PeerManager.layer>>
    ] = [true, false, false]
    assert.strictEqual(complete.length, 3)
  })
})
