import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { ElectrumServer, type ElectrumServerOptions, Node, type NodeOptions, RpcServer } from "../../src/node.ts"
import { displayHash, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { merkleBranchRoot } from "../../src/protocol/merkle.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { copyOf, fillDirectory } from "../support/embedded.ts"
import { eventually } from "../support/eventually.ts"
import { speaking, type TestClient } from "./client.ts"

/** A whole node on a chain of the fixtures, with the server in front. */

const quiet = Layer.provide(Logger.remove(Logger.defaultLogger))

interface Served {
  readonly options: ElectrumServerOptions
  readonly node: NodeOptions
}

const nodeIn = (dataDir: string, { node, options }: Served) =>
  quiet(ElectrumServer.layer({ listen: ["127.0.0.1:0"], ...options })).pipe(
    Layer.provideMerge(quiet(RpcServer.layer({ listenAddr: "127.0.0.1:0" }))),
    Layer.provideMerge(
      quiet(
        Node.layer({
          network: "regtest",
          dataDir,
          maxPeers: 0,
          listen: "",
          verifyThreads: 0,
          disableWallet: true,
          ...node
        })
      )
    )
  )

type ServedNode = Layer.Layer.Success<ReturnType<typeof nodeIn>>

/** The data directory of a node with the chain up to a height, for all tests of a file. */
export const filledDirectory = (height: number): () => string => {
  const scope = Effect.runSync(Scope.make())
  let filled = ""
  beforeAll(async () => {
    filled = await Effect.runPromise(Effect.provideService(temporaryDirectory, Scope.Scope, scope))
    await Effect.runPromise(fillDirectory(filled, height))
  }, 60_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => filled
}

/** Runs a test on a copy of a data directory. */
export const onNode =
  (filled: () => string, options: ElectrumServerOptions = {}, node: NodeOptions = {}) =>
  <A, E>(test: Effect.Effect<A, E, ServedNode | Scope.Scope>) =>
    Effect.flatMap(
      copyOf(filled()),
      (dataDir) => Effect.scoped(Effect.provide(test, nodeIn(dataDir, { options, node })))
    )

export const tcpPort = Effect.map(ElectrumServer, ({ addresses: { tcp: [first] } }) => first?.port ?? 0)

/** Waits for the histories of wallets. */
export const indexReady = eventually(
  "the index is at the tip",
  Effect.flatMap(tcpPort, (port) =>
    Effect.scoped(Effect.gen(function*() {
      const client = yield* speaking(port, "1.4.2")
      const { error } = yield* client.call("blockchain.scripthash.get_history", "00".repeat(32))
      return error === undefined
    })))
)

/** As clients write it. */
export const shownScriptHash = (name: Uint8Array): string => displayHash(nameIndexHash(name))

export interface HistoryRow {
  readonly tx_hash: string
  readonly height: number
}

const isRows = (value: unknown): value is ReadonlyArray<HistoryRow> => Array.isArray(value)

export const historyOf = (client: TestClient, name: Uint8Array): Effect.Effect<ReadonlyArray<HistoryRow>> =>
  Effect.filterOrDieMessage(
    client.ask("blockchain.scripthash.get_history", shownScriptHash(name)),
    isRows,
    "a history is a list"
  )

const wire = (shown: string): Uint8Array => parseDisplayHash(shown) ?? new Uint8Array(32)

/** The merkle root of a block that a proof leads to, as shown. */
export const provenRoot = (
  txid: string,
  { merkle, pos }: { readonly merkle: ReadonlyArray<string>; readonly pos: number }
): string => displayHash(merkleBranchRoot(wire(txid), merkle.map(wire), pos))
