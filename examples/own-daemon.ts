// A daemon of one's own: a node made of its services, JSON-RPC with a method that svcd does not have, metrics, and the log of the
// application. Run: node own-daemon.js DIRECTORY [RPC_ADDRESS [METRICS_ADDRESS]]; then: svcd-cli -rpcuser own -rpcpassword secret greet you
import { Effect, Layer, Logger, Redacted, Schema } from "effect"
import { Chain, Mempool, method, Metrics, NameDb, Node, PeerManager, RpcServer, Wallet } from "svcd/node"

const [dataDir = "./node", listenAddr = "127.0.0.1:8336", metricsAddr = "127.0.0.1:9100"] = process.argv.slice(2)

const greet = method({
  name: "greet",
  summary: "Greets, with the height of the chain.",
  params: { guest: Schema.String.annotations({ description: "The guest." }) },
  results: Schema.Struct({ greeting: Schema.String, height: Schema.Number }),
  handler: ({ guest }) =>
    Effect.flatMap(Chain, ({ tip }) => Effect.map(tip, ({ height }) => ({ greeting: `hello ${guest}`, height })))
})

const node = PeerManager.layer({ maxPeers: 0 }).pipe(
  Layer.provideMerge(Wallet.layer()),
  Layer.provideMerge(Mempool.layer()),
  Layer.provideMerge(NameDb.layer()),
  Layer.provideMerge(Chain.layer({ network: "regtest", dataDir }))
)

const servers = Layer.merge(
  RpcServer.layer({
    listenAddr,
    rpcUser: "own",
    rpcPassword: Redacted.make("secret"),
    rateLimit: 600,
    methods: [greet]
  }),
  Metrics.layer({ listen: metricsAddr })
)

const log = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => console.error(logLevel.label, message))
)

Node.runDaemon(servers.pipe(Layer.provideMerge(node), Layer.provideMerge(log)))
