import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { SnapshotWriter } from "../../src/chain/snapshot/SnapshotWriter.ts"
import { Snapshots } from "../../src/chain/Snapshots.ts"
import { CoinStats } from "../../src/chain/state/coinStats.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { concat } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { nameScript } from "../../src/protocol/nameOperation.ts"
import { networks } from "../../src/protocol/networks.ts"
import { outpoint } from "../../src/protocol/transaction.ts"
import { benchChain } from "./chain.ts"
import { minedHeaders } from "./minedHeaders.ts"

const COINS = 1_000_000

/** One coin in this many holds a name. */
const NAMES_EVERY = 20

const BASE_HEIGHT = 100

/** A million coins in the order of their keys: to key hashes, and some with names. */
const coins = function*(): Iterable<{ readonly txid: Uint8Array; readonly coin: Coin }> {
  const counter = new DataView(new ArrayBuffer(4))
  for (let i = 0; i < COINS; i++) {
    counter.setUint32(0, i)
    const number = new Uint8Array(counter.buffer.slice(0))
    const digest = hash256(number)
    const address = concat(Uint8Array.of(0x76, 0xa9, 20), digest.subarray(0, 20), Uint8Array.of(0x88, 0xac))
    const name = concat(Uint8Array.of(0x64, 0x2f), digest.subarray(0, 8))
    const script = i % NAMES_EVERY === 0
      ? nameScript({ op: "name_update", name, value: digest }, address)
      : address
    const coin = { value: 1_000_000 + i, script, height: BASE_HEIGHT - i % 20, coinbase: false }
    yield { txid: concat(number, digest.subarray(0, 28)), coin }
  }
}

/** Loads a snapshot of a million coins into a new chain, with its names, and writes it again. */
export const benchSnapshot = async (): Promise<object> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  try {
    for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))
    const headers = [...minedHeaders({ atOnce: BASE_HEIGHT, count: BASE_HEIGHT })].flat()
    const base = headers.at(-1)?.header.hash ?? new Uint8Array(32)
    const stats = new CoinStats("hash_serialized_3")
    const path = join(directory, "set.dat")
    const program = Effect.gen(function*() {
      const snapshots = yield* Snapshots
      yield* (yield* ChainSink).acceptHeaders(headers)
      const started = performance.now()
      yield* snapshots.load(path)
      const loaded = performance.now()
      yield* snapshots.dump(join(directory, "again.dat"), "tip")
      const dumped = performance.now()
      return {
        coins: COINS,
        names: COINS / NAMES_EVERY,
        megabytes: statSync(path).size / 1e6,
        loadedPerSecond: 1000 * COINS / (loaded - started),
        dumpedPerSecond: 1000 * COINS / (dumped - loaded),
        goal: "200,000 coins per second"
      }
    })
    const writer = new SnapshotWriter({ path, network: networks.regtest, base })
    for (const { coin, txid } of coins()) {
      writer.add(txid, 0, coin)
      stats.add(outpoint(txid, 0), coin)
    }
    writer.finish()
    return await Effect.runPromise(Effect.provide(program, quiet(directory, stats.finish().hash)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const quiet = (directory: string, snapshotHash?: Uint8Array) =>
  Layer.merge(benchChain(directory, 0, snapshotHash), Logger.remove(Logger.defaultLogger))
