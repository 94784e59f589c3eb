// What a program infers over the layers of svcd/node can be exported: compiled with --declaration from the package.
import { Context, Effect, Layer, Schema } from "effect"
import {
  Chain,
  Mempool,
  method,
  Metrics,
  NameClient,
  NameDb,
  Node,
  PeerManager,
  route,
  RpcServer,
  Wallet
} from "svcd/node"

export const chain = Chain.layer({ network: "regtest", dataDir: "." })
export const names = NameDb.layer()
export const mempool = Mempool.layer({ minRelayTxFee: "0.002" })
export const wallet = Wallet.layer()
export const peers = PeerManager.layer({ maxPeers: 8 })
export const metrics = Metrics.layer({ listen: "127.0.0.1:0" })
export const client = NameClient.layerNode()
export const node = Node.layer({ network: "regtest", dataDir: ".", maxPeers: 0 })
export const ended = Node.ended
export const height = Effect.flatMap(Chain, ({ tip }) => tip)

class Greeting extends Context.Tag("app/Greeting")<Greeting, string>() {}
class Counter extends Context.Tag("app/Counter")<Counter, number>() {}

export const greet = method({
  name: "greet",
  params: { guest: Schema.String, times: Schema.optionalWith(Schema.Number, { default: () => 1 }) },
  results: Schema.String,
  handler: ({ guest }) => Effect.map(Greeting, (greeting) => `${greeting} ${guest}`)
})
export const count = method({
  name: "count",
  params: {},
  results: Schema.Number,
  handler: () => Effect.map(Counter, (counted) => counted)
})
export const page = route({ path: "/height", answer: () => Effect.map(Chain, () => ({ body: "" })) })

/** Handlers with different services. */
export const server = RpcServer.layer({ methods: [greet, count], routes: [page] })
export const needs: Layer.Layer<RpcServer, never> extends Layer.Layer<RpcServer, never, never> ? true : false = true
export const daemon = Layer.provideMerge(
  Layer.provide(server, Layer.merge(Layer.succeed(Greeting, "hello"), Layer.succeed(Counter, 1))),
  node
)
export const run = () => Node.runDaemon(daemon)
