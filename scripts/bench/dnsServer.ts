// The DNS server of svcd over a names.db, signed, in a process of its own. Argument: the file of names.
// Sends its port, and ends when the process that measures it disconnects.

import { Effect, Layer, Logger } from "effect"
import process from "node:process"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainCoins } from "../../src/chain/ChainCoins.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { mainnetParams } from "../../src/consensus/params.ts"
import * as Responder from "../../src/dns/Responder.ts"
import { makeServer } from "../../src/dns/serve/DnsServer.ts"
import * as LightPart from "../../src/light/LightPart.ts"
import * as NameAnswers from "../../src/light/NameAnswers.ts"
import { SyncReporter } from "../../src/light/SyncReporter.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import { regtest } from "../../src/protocol/networks.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { noTree } from "../../test/support/noTree.ts"
import { newSigner, PLAIN_RESPONDER } from "../dns/memoryNode.ts"
import { openNames } from "./nameDb.ts"

const [filename = ""] = process.argv.slice(2)

const { header } = decodeBlock(regtest.genesisBlock)

/** A chain whose last block is that of the names. */
const chain = Layer.unwrapEffect(Effect.map(NameDb, ({ cursor }) => {
  const tip = Effect.map(Effect.orDie(cursor), (at) => ({
    hash: at?.hash ?? EMPTY,
    height: at?.height ?? 0,
    header,
    chainwork: 1n,
    medianTimePast: header.time,
    transactions: 1,
    size: 0,
    confirmations: 1,
    next: undefined
  }))
  return Layer.mock(Chain, { params: mainnetParams, tree: noTree, tip, toldTip: tip })
}))

const answers = NameAnswers.layer(Effect.succeed(false)).pipe(
  Layer.provideMerge(chain),
  Layer.provide(Layer.mock(ChainCoins, {})),
  Layer.provide(Layer.mock(SyncStatus, { initialDownload: Effect.succeed(false) })),
  Layer.provideMerge(DataHealth.layer),
  Layer.provideMerge(LightPart.layerWhole),
  Layer.provideMerge(openNames(filename))
)

const responder = Responder.layer({ ...PLAIN_RESPONDER, signer: newSigner().signer }).pipe(
  Layer.provide(answers),
  Layer.provide(Layer.mock(SyncReporter, {}))
)

const off = { tls: [], https: [], http: [], certificate: undefined, key: undefined, rate: undefined }

const serving = Effect.gen(function*() {
  const { addresses } = yield* makeServer({ ...off, listen: [{ host: "127.0.0.1", port: 0 }] })
  process.send?.(addresses.dns[0]?.port)
  return yield* Effect.never
})

process.on("disconnect", () => process.exit())

await Effect.runPromise(
  Effect.scoped(Effect.provide(serving, responder)).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)
