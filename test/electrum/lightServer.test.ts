import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Stream } from "effect"
import { makeElectrumServer } from "../../src/electrum/ElectrumServer.ts"
import { windowSources } from "../../src/electrum/sources/windowSources.ts"
import { Light } from "../../src/light/Light.ts"
import { LightPart } from "../../src/light/LightPart.ts"
import { makeNameAnswers, NameAnswers } from "../../src/light/NameAnswers.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { scriptKey } from "../../src/protocol/keys.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import { ServedBlocks } from "../network/sync/fakePeers.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { eventually } from "../support/eventually.ts"
import { following, lightLayer, type LightService, nextBlock, until, updated } from "../support/lightNode.ts"
import { speaking } from "./client.ts"
import { filledDirectory, historyOf, onNode, shownScriptHash, tcpPort } from "./servedNode.ts"

/** A light node and a full one on the same chain, as their clients see them. */

const HEIGHT = 180

const filled = filledDirectory(HEIGHT)

const served = onNode(filled)

const blocks = fixtureBlocks("regtest-names/blocks.dat.gz").slice(0, HEIGHT + 1)

/** A light node that has the chain, in place of the whole chain's names. */
const partOf = (light: LightService) =>
  LightPart.of({ current: () => light, hold: Effect.succeed(light), stays: true, failure: Effect.never })

const lightNode = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const context = yield* Layer.build(lightLayer(directory, { proofs: true }))
  return yield* Effect.provide(Light, context)
})

const lightServer = (light: LightService) =>
  Effect.gen(function*() {
    const part = partOf(light)
    const answers = yield* Effect.provideService(makeNameAnswers(), LightPart, part)
    const options = {
      listen: [{ host: "127.0.0.1", port: 0 }],
      tls: [],
      webSocket: [],
      secureWebSocket: [],
      certificate: undefined,
      key: undefined,
      hosts: [],
      directory: ""
    }
    const { addresses } = yield* makeElectrumServer(options).pipe(
      Effect.provideService(LightPart, part),
      Effect.provideService(NameAnswers, answers),
      Effect.provide(Logger.remove(Logger.defaultLogger))
    )
    return addresses.tcp[0]?.port ?? 0
  })

describe("the server of a light node", () => {
  it.scopedLive("answers as that of a full node for the names of its window", () =>
    served(Effect.gen(function*() {
      const light = yield* lightNode
      const port = yield* lightServer(light)
      const [full, other] = [yield* speaking(yield* tcpPort), yield* speaking(port)]
      const names = yield* NameDb
      const all = [...yield* Stream.runCollect(names.scan({}))].map(({ name }) => name)
      const [first = assert.fail("there is no name")] = all
      const early = yield* other.call("blockchain.scripthash.get_history", shownScriptHash(first))
      assert.deepStrictEqual(early.error, { code: 2, message: "syncing" })
      const { announce, connect } = yield* following(light)
      const peer = yield* connect(new ServedBlocks(blocks))
      yield* until(light, HEIGHT)

      let compared = 0
      const same = (method: string, ...params: ReadonlyArray<unknown>) =>
        Effect.gen(function*() {
          const [expected, found] = [yield* full.call(method, ...params), yield* other.call(method, ...params)]
          assert.deepStrictEqual({ ...found, id: 0 }, { ...expected, id: 0 }, method)
          compared++
        })
      for (const name of all) {
        const hash = shownScriptHash(name)
        yield* same("blockchain.scripthash.get_history", hash)
        yield* same("blockchain.scripthash.subscribe", hash)
        yield* same("blockchain.scripthash.listunspent", hash)
        yield* same("blockchain.scripthash.get_balance", hash)
        yield* same("blockchain.name.get_value_proof", hash)
        yield* same("blockchain.name.get_value_proof", hash, HEIGHT - 5)
        for (const { height, tx_hash } of yield* historyOf(full, name)) {
          yield* same("blockchain.transaction.get", tx_hash)
          yield* same("blockchain.transaction.get", tx_hash, true)
          yield* same("blockchain.transaction.get_merkle", tx_hash, height)
          yield* same("blockchain.block.header", height)
        }
      }
      assert.isAbove(compared, 60)
      yield* same("blockchain.scripthash.get_history", "00".repeat(32))
      // Errors are costly, so there are few.
      const [row = assert.fail("the name has no operation")] = yield* historyOf(full, first)
      yield* same("blockchain.transaction.get_merkle", row.tx_hash, row.height - 1)
      yield* same("blockchain.block.headers", HEIGHT - 10, 20)
      yield* same("blockchain.headers.subscribe")
      yield* same("blockchain.block.header", HEIGHT + 1)
      assert.deepInclude(yield* other.ask("server.features"), { pruning: 130 })
      assert.include(String(yield* other.ask("server.banner")), "light node")
      const position = yield* other.call("blockchain.transaction.id_from_pos", HEIGHT, 0)
      assert.include(position.error?.message, "no blocks")

      // A block that changes a name is told with its status.
      const last = yield* light.proofs.ofScript(nameIndexHash(first), 1)
      const { txid } = last[0] ?? assert.fail("the name has no operation")
      const transaction = blocks.flatMap(({ transactions }) => transactions).find((each) =>
        displayHash(each.txid) === displayHash(txid)
      ) ?? assert.fail("the transaction is in no block")
      const text = Buffer.from(first).toString()
      const next = nextBlock(blocks, { transactions: [updated(text, "next", transaction)] })
      peer.served.extend([next])
      yield* announce(peer, [next])
      yield* eventually("the client hears of it", Effect.sync(() => other.notes.length >= 2))
      const [header, status] = other.notes
      assert.deepStrictEqual([header?.method, status?.params?.[0]], [
        "blockchain.headers.subscribe",
        shownScriptHash(first)
      ])
    })))

  it.scopedLive("has no histories without what proofs need", () =>
    served(Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const context = yield* Layer.build(lightLayer(directory))
      const light = yield* Effect.provide(Light, context)
      const { connect } = yield* following(light)
      yield* connect(new ServedBlocks(blocks))
      yield* until(light, HEIGHT)
      const key = scriptKey(new Uint8Array(32))
      const node = { call: () => Effect.die("unused"), ask: () => Effect.die("unused") }
      const { histories } = windowSources(light, { answers: { complete: Effect.succeed(true) }, node })
      const { code, message } = yield* Effect.flip(histories.confirmed(key))
      assert.strictEqual(code, 2)
      assert.match(message, /^syncing: .*-nameproofs/u)
    })))
})
