// The Electrum server of svcd over synthetic names, with room for more sessions than a node has, in a process of its own.
// Arguments: the file of names, and how many there are. Sends its port. On "block" it connects a block that changes each name,
// and sends when that was done; on "memory" it sends its resident bytes. It ends when the process that measures disconnects.

import { Effect, Layer, Logger, PubSub, Stream } from "effect"
import process from "node:process"
import { Budget, MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainCoins } from "../../src/chain/ChainCoins.ts"
import { ChainEvent } from "../../src/chain/ChainEvent.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { makeElectrumServer } from "../../src/electrum/ElectrumServer.ts"
import * as LightPart from "../../src/light/LightPart.ts"
import * as NameAnswers from "../../src/light/NameAnswers.ts"
import * as ScriptBook from "../../src/mempool/scripts/ScriptBook.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { headerId } from "../../src/protocol/keys.ts"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { mempoolWith } from "../../test/network/relay/fakePool.ts"
import { noTree } from "../../test/support/noTree.ts"
import { blockOf, openNames } from "./nameDb.ts"

const [filename = "", count = "1"] = process.argv.slice(2)

/** Sessions, and the memory that the budget has for them. */
const SESSIONS = 20_000
const BUDGET = 2 ** 32

const genesis = decodeBlock(regtestParams.network.genesisBlock)

const OFF = { tls: [], webSocket: [], secureWebSocket: [], certificate: undefined, key: undefined, hosts: [] }

const serving = Effect.gen(function*() {
  const { follower } = yield* NameDb
  const events = yield* PubSub.unbounded<ChainEvent>()
  let height = 0
  const connect = Effect.gen(function*() {
    const block = blockOf(height, { first: 0, count: Number(count), round: height })
    yield* follower.apply([block])
    height++
    const committed = performance.timeOrigin + performance.now()
    yield* PubSub.publish(events, ChainEvent.BlockConnected({ block, transactions: 1, imported: false }))
    return committed
  })
  yield* connect
  const tip = Effect.sync(() => ({
    hash: blockOf(height - 1, { first: 0, count: 0, round: 0 }).hash,
    height: height - 1,
    header: genesis.header,
    chainwork: 1n,
    medianTimePast: genesis.header.time,
    transactions: 1,
    size: 0,
    confirmations: 1,
    next: undefined
  }))
  const chain = Layer.mock(Chain, {
    params: regtestParams,
    tree: {
      ...noTree,
      at: () => headerId(0),
      hash: () => genesis.header.hash,
      height: () => height - 1,
      tip: () => headerId(height - 1)
    },
    tip,
    toldTip: tip,
    subscription: Stream.fromPubSub(events, { scoped: true })
  })
  const answers = NameAnswers.layer(Effect.succeed(false)).pipe(
    Layer.provideMerge(chain),
    Layer.provide(Layer.mock(ChainCoins, {})),
    Layer.provide(Layer.mock(SyncStatus, { initialDownload: Effect.succeed(false) })),
    Layer.provideMerge(LightPart.layerWhole)
  )
  const rest = Layer.mergeAll(
    answers,
    Layer.provide(Dispatch.layer({}), Lifecycle.layer),
    mempoolWith({}),
    ScriptBook.layerNoBook,
    Layer.succeed(Budget, new MemoryBudget(BUDGET))
  )
  const server = makeElectrumServer(
    { ...OFF, directory: "", listen: [{ host: "127.0.0.1", port: 0 }] },
    { sessions: SESSIONS }
  )
  const { addresses } = yield* Effect.provide(server, yield* Layer.build(rest))
  process.on("message", (asked) => {
    if (asked === "memory") {
      globalThis.gc?.()
      setImmediate(() => process.send?.({ bytes: process.memoryUsage().rss }))
      return
    }
    void Effect.runPromise(Effect.map(connect, (committed) => process.send?.({ committed })))
  })
  process.send?.({ port: addresses.tcp[0]?.port })
  return yield* Effect.never
})

process.on("disconnect", () => process.exit())

await Effect.runPromise(
  Effect.scoped(Effect.provide(serving, Layer.provideMerge(openNames(filename), DataHealth.layer))).pipe(
    Effect.provide(Logger.remove(Logger.defaultLogger))
  )
)
