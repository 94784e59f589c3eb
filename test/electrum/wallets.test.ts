import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { eventually } from "../support/eventually.ts"
import { type ScannedScript, type ScannedScripts, scanScripts } from "../support/scriptScan.ts"
import { speaking, type TestClient } from "./client.ts"
import { filledDirectory, type HistoryRow, indexReady, onNode, provenRoot, tcpPort } from "./servedNode.ts"

const HEIGHT = 180

const filled = filledDirectory(HEIGHT)

const served = onNode(filled, {}, { electrumIndex: true })

const blocks = fixtureBlocks("regtest-names/blocks.dat.gz")

const chainTo = (height: number) => blocks.slice(0, height + 1)

const historyRows = (client: TestClient, hash: string) =>
  Effect.map(
    client.ask("blockchain.scripthash.get_history", hash),
    (rows) => rows as ReadonlyArray<HistoryRow>
  )

const statusOf = ({ history }: { readonly history: ReadonlyArray<HistoryRow> }): string =>
  toHex(sha256(Buffer.from(history.map(({ height, tx_hash }) => `${tx_hash}:${height}:`).join(""))))

const unspentOf = ({ coins }: ScannedScript, tip: number) =>
  [...coins.values()].filter(({ height, isName }) => !(isName && isExpired({ height }, tip + 1, regtestParams)))

/** Some scripts of a scan: those with the longest histories, and a few others. */
const someOf = (scanned: ScannedScripts): ReadonlyArray<readonly [string, ScannedScript]> => {
  const all = [...scanned].toSorted(([, a], [, b]) => b.history.length - a.history.length)
  return all.filter((_, at) => at < 10 || at % Math.ceil(all.length / 10) === 0)
}

/** Asks for everything about a script, and compares it with the scan. */
const isAsScanned = (client: TestClient, [hash, scanned]: readonly [string, ScannedScript], tip: number) =>
  Effect.gen(function*() {
    const unspent = unspentOf(scanned, tip)
    assert.deepStrictEqual(yield* client.ask("blockchain.scripthash.get_history", hash), scanned.history)
    assert.deepStrictEqual(
      yield* client.ask("blockchain.scripthash.listunspent", hash),
      unspent.map(({ isName: _, ...coin }) => coin)
    )
    assert.deepStrictEqual(yield* client.ask("blockchain.scripthash.get_balance", hash), {
      confirmed: unspent.reduce((sum, { value }) => sum + value, 0),
      unconfirmed: 0
    })
    assert.deepStrictEqual(yield* client.ask("blockchain.scripthash.get_mempool", hash), [])
    assert.strictEqual(yield* client.ask("blockchain.scripthash.subscribe", hash), statusOf(scanned))
  })

describe("wallets", () => {
  it.scopedLive("get what a scan of the blocks finds", () =>
    served(Effect.gen(function*() {
      yield* indexReady
      const client = yield* speaking(yield* tcpPort, "1.4.2")
      const scanned = someOf(scanScripts(chainTo(HEIGHT)))
      assert.isAbove(scanned.length, 15)
      for (const each of scanned) yield* isAsScanned(client, each, HEIGHT)
      assert.include(yield* client.ask("server.banner"), "addresses of wallets")
      assert.isNull(yield* client.ask("blockchain.scripthash.subscribe", "00".repeat(32)))
    })))

  it.scopedLive("get each transaction of a history, with its proof", () =>
    served(Effect.gen(function*() {
      yield* indexReady
      const client = yield* speaking(yield* tcpPort, "1.4.2")
      for (const [height, { header, transactions }] of chainTo(HEIGHT).entries()) {
        for (const [pos, { bytes, txid }] of height % 12 === 7 ? transactions.entries() : []) {
          const shown = displayHash(txid)
          assert.strictEqual(yield* client.ask("blockchain.transaction.get", shown), toHex(bytes))
          const proof = yield* client.ask("blockchain.transaction.get_merkle", shown, height)
          const { block_height, ...place } = proof as {
            readonly block_height: number
            readonly merkle: ReadonlyArray<string>
            readonly pos: number
          }
          assert.deepStrictEqual([block_height, place.pos], [height, pos])
          assert.strictEqual(provenRoot(shown, place), displayHash(header.merkleRoot))
          assert.strictEqual(yield* client.ask("blockchain.transaction.id_from_pos", height, pos), shown)
        }
      }
    })))

  it.scopedLive("hear of blocks that touch a script, and of a reorg", () =>
    served(Effect.gen(function*() {
      yield* indexReady
      const client = yield* speaking(yield* tcpPort, "1.4.2")
      const sink = yield* ChainSink
      const control = yield* ChainControl
      const chain = yield* Chain
      const after = scanScripts(chainTo(HEIGHT + 10))
      const all = scanScripts(chainTo(HEIGHT))
      const followed = new Set([...someOf(all), ...someOf(after)].map(([hash]) => hash))
      const before: ScannedScripts = new Map([...all].filter(([hash]) => followed.has(hash)))
      for (const hash of before.keys()) yield* client.call("blockchain.scripthash.subscribe", hash)
      yield* sink.deliver(blocks.slice(HEIGHT + 1, HEIGHT + 11), false)
      const touched = [...before].filter(([hash, known]) => statusOf(after.get(hash) ?? known) !== statusOf(known))
      assert.isAbove(touched.length, 2)
      const told = () => new Map(client.notes.map(({ params: [hash, status] = [] }) => [hash, status]))
      const isTold = (scanned: ScannedScripts) =>
        touched.every(([hash]) => told().get(hash) === statusOf(scanned.get(hash) ?? assert.fail()))
      yield* eventually("all are told", Effect.sync(() => isTold(after)))
      assert.strictEqual(told().size, touched.length)
      for (const [hash] of touched) yield* isAsScanned(client, [hash, after.get(hash) ?? assert.fail()], HEIGHT + 10)
      const first = (yield* chain.headerAt(HEIGHT + 1)) ?? assert.fail()
      yield* control.invalidate(first.hash)
      // The transactions wait in the mempool again.
      for (const [hash, known] of touched) {
        yield* eventually(
          "the status is that of the history",
          Effect.map(historyRows(client, hash), (rows) => told().get(hash) === statusOf({ history: rows }))
        )
        const rows = yield* historyRows(client, hash)
        assert.deepStrictEqual(rows.filter(({ height }) => height > 0), known.history)
        const waiting = rows.filter(({ height }) => height <= 0)
        assert.deepStrictEqual(
          (yield* client.ask("blockchain.scripthash.get_mempool", hash)) as ReadonlyArray<HistoryRow>,
          waiting
        )
      }
      assert.strictEqual(told().size, touched.length)
    })))

  it.scopedLive("get empty histories without the index, and the banner says that it is missing", () =>
    onNode(filled)(Effect.gen(function*() {
      const client = yield* speaking(yield* tcpPort, "1.4.2")
      assert.include(yield* client.ask("server.banner"), "no index of addresses")
      assert.deepStrictEqual(yield* client.ask("blockchain.scripthash.get_history", "00".repeat(32)), [])
    })))
})
