import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { Effect, FastCheck } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { compressAmount, writeVarInt } from "../../../src/chain/snapshot/compressedCoin.ts"
import {
  COUNT_OFFSET,
  decodeMetadata,
  encodeMetadata,
  METADATA_SIZE
} from "../../../src/chain/snapshot/snapshotFile.ts"
import { BadSnapshot, type SnapshotCoin, SnapshotReader } from "../../../src/chain/snapshot/SnapshotReader.ts"
import { SnapshotWriter } from "../../../src/chain/snapshot/SnapshotWriter.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import { MAX_MONEY } from "../../../src/protocol/amount.ts"
import { compare, concat, toHex } from "../../../src/protocol/bytes.ts"
import { networks } from "../../../src/protocol/networks.ts"
import { prevoutIndex, prevoutTxid } from "../../../src/protocol/transaction.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { bytesOf, hex } from "../../support/bytes.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { BASE, NETWORK, readSnapshot, shownCoin, snapshotOf, writeSnapshot } from "../../support/snapshots.ts"

const coins: FastCheck.Arbitrary<Coin> = FastCheck.record({
  value: FastCheck.oneof(FastCheck.nat(300), FastCheck.integer({ min: 0, max: MAX_MONEY })),
  script: FastCheck.oneof(bytesOf(0, 40), bytesOf(250, 260), FastCheck.constant(hex(`76a914${"ab".repeat(20)}88ac`))),
  height: FastCheck.oneof(FastCheck.nat(300), FastCheck.nat(0x7fffffff)),
  coinbase: FastCheck.boolean()
})

const outputs = FastCheck.record({
  txid: FastCheck.uint8Array({ minLength: 32, maxLength: 32, max: 1 }),
  index: FastCheck.oneof(FastCheck.nat(5), FastCheck.nat(100_000)),
  coin: coins
})

const sets = FastCheck.uniqueArray(outputs, {
  maxLength: 30,
  selector: ({ index, txid }) => `${txid.join()} ${index}`
}).map((list) => list.toSorted((a, b) => compare(a.txid, b.txid) || a.index - b.index))

/** One transaction with one coin of height 1 and 50 coins, to a script of one byte. */
const ONE = `${"11".repeat(32)}01000232${"07"}51`

const refused = (path: string, baseHeight?: number): string => {
  try {
    readSnapshot(path, baseHeight)
  } catch (cause) {
    if (cause instanceof BadSnapshot) return cause.message
    throw cause
  }
  return assert.fail("the file is accepted")
}

describe("a snapshot file", () => {
  it.scoped("has the coins that were written, in order", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      FastCheck.assert(FastCheck.property(sets, (set) => {
        rmSync(path, { force: true })
        writeSnapshot(path, set)
        assert.deepStrictEqual(readSnapshot(path), set.map(({ coin, index, txid }) => shownCoin(txid, index, coin)))
        assert.strictEqual(readFileSync(path).readUInt32LE(COUNT_OFFSET), set.length)
      }))
    }))

  it.scoped("has late outputs in the order of the reference node", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      const coin = { value: 1, script: hex("51"), height: 1, coinbase: false }
      const txid = new Uint8Array(32)
      const indexes = [0, 127, 128, 255, 256, 16_511, 16_512, 16_640, 20_000]
      writeSnapshot(path, indexes.map((index) => ({ txid, index, coin })))
      const file = readFileSync(path).subarray(METADATA_SIZE + 33)
      const found: Array<number> = []
      for (let at = 0; at < file.length; at += 5) {
        if (file[at] === 0xfd) {
          found.push(file.readUInt16LE(at + 1))
          at += 2
        } else found.push(file[at] ?? -1)
      }
      // LevelDB orders 80 00, 80 80 00, 80 81 00, 80 9b 20, 80 7f, 81 00, ff 7f as bytes.
      assert.deepStrictEqual(found, [0, 127, 128, 255, 16_512, 16_640, 20_000, 256, 16_511])
      assert.lengthOf(readSnapshot(path), indexes.length)
    }))

  it.scoped("of several megabytes has the coins and the base block that were written", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      const set = Array.from({ length: 300 }, (_, i) => ({
        txid: new Uint8Array(32).fill(i >> 8, 0, 1).fill(i & 0xff, 1, 2),
        index: 0,
        coin: { value: i, script: new Uint8Array(9_000 + i).fill(i & 0xff), height: i, coinbase: false }
      }))
      writeSnapshot(path, set)
      const reader = new SnapshotReader(path)
      const metadata = reader.metadata(NETWORK)
      reader.expect(300)
      const found: Array<SnapshotCoin> = []
      for (let coins = reader.coins(300); coins !== undefined; coins = reader.coins(300)) {
        // A turn of the event loop reads only some bytes, however many coins are asked for.
        assert.isBelow(coins.length, 60)
        found.push(...coins)
      }
      reader.close()
      assert.deepStrictEqual(metadata, { base: BASE, coins: 300 })
      assert.deepStrictEqual(
        found.map(({ coin, outpoint }) => shownCoin(prevoutTxid(outpoint), prevoutIndex(outpoint), coin)),
        set.map(({ coin, index, txid }) => shownCoin(txid, index, coin))
      )
    }))

  it.scoped("with more bytes in one transaction than a block holds is refused, and little of it is read", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      const txid = new Uint8Array(32).fill(1)
      const coin = { value: 1, script: new Uint8Array(9_000).fill(0x51), height: 1, coinbase: false }
      writeSnapshot(path, Array.from({ length: 200 }, (_, index) => ({ txid, index, coin })))
      const reader = new SnapshotReader(path)
      reader.metadata(NETWORK)
      reader.expect(300)
      const all = () => {
        while (reader.coins(1_000) !== undefined);
      }
      assert.throws(all, /after deserializing 112 coins - more outputs than a transaction can have/)
      reader.close()
    }))

  it.scoped("with keys to decompress is read in small parts, also within a transaction", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      const key = secp256k1.Point.BASE.toBytes(false)
      const coin = {
        value: 1,
        script: concat(Uint8Array.of(65), key, Uint8Array.of(0xac)),
        height: 1,
        coinbase: false
      }
      const txid = new Uint8Array(32).fill(1)
      writeSnapshot(path, Array.from({ length: 100 }, (_, index) => ({ txid, index, coin })))
      const reader = new SnapshotReader(path)
      reader.metadata(NETWORK)
      reader.expect(300)
      const parts: Array<number> = []
      for (let coins = reader.coins(1_000); coins !== undefined; coins = reader.coins(1_000)) parts.push(coins.length)
      reader.close()
      assert.deepStrictEqual(parts, [0, 0, 0, 0, 100])
    }))

  it.scoped("appears complete, and an abandoned one is removed", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      const writer = new SnapshotWriter({ path, network: NETWORK, base: BASE })
      assert.isTrue(existsSync(`${path}.incomplete`))
      assert.isFalse(existsSync(path))
      writer.abandon()
      assert.isFalse(existsSync(`${path}.incomplete`))
    }))
})

describe("metadata", () => {
  const good = encodeMetadata(NETWORK, { base: BASE, coins: 5 })
  const changed = (at: number, byte: number): Uint8Array => good.with(at, byte)

  it("come back", () => {
    assert.deepStrictEqual(decodeMetadata(NETWORK, good), { base: BASE, coins: 5 })
  })

  it.each([
    ["wrong magic", changed(0, 0), /^Invalid UTXO set snapshot magic bytes\./],
    ["another version", changed(5, 9), /^Version of snapshot 9 does not match any of the supported versions\.$/],
    ["an unknown network", changed(7, 0), /^This snapshot has been created for an unrecognized network\./],
    [
      "another network",
      encodeMetadata(networks.mainnet, { base: BASE, coins: 5 }),
      /^The network of the snapshot \(main\) does not match the network of this node \(regtest\)\.$/
    ],
    ["an early end", good.subarray(0, 20), /end of file$/],
    ["nothing", new Uint8Array(0), /end of file$/]
  ])("with %s are refused", (_, bytes, expected) => {
    assert.match(String(decodeMetadata(NETWORK, bytes)), expected)
  })
})

describe("a wrong file", () => {
  const cases: ReadonlyArray<readonly [what: string, coins: number, bytes: string, expected: string]> = [
    ["ends early", 1, ONE.slice(0, -2), "Bad snapshot format or truncated snapshot after deserializing 0 coins"],
    ["has fewer coins", 2, ONE, "Bad snapshot format or truncated snapshot after deserializing 1 coins"],
    ["has more coins", 1, ONE + ONE, "Bad snapshot - coins left over after deserializing 1 coins"],
    ["has none", 0, ONE, "Bad snapshot - coins left over after deserializing 0 coins"],
    [
      "has more outputs than coins",
      1,
      ONE.replace("0100", "0200"),
      "Mismatch in coins count in snapshot metadata and actual snapshot data"
    ],
    [
      "has a transaction twice",
      2,
      ONE + ONE,
      "Bad snapshot data after deserializing 1 coins - transactions out of order"
    ],
    [
      "has an output twice",
      2,
      `${"11".repeat(32)}02000232075100023207${"51"}`,
      "Bad snapshot data after deserializing 2 coins - the same output twice"
    ],
    [
      "has too much money",
      1,
      ONE.replace("0232", `02${toHex(writeVarInt(new Writer(), compressAmount(MAX_MONEY + 1)).toBytes())}`),
      "Bad snapshot data after deserializing 0 coins - bad tx out value"
    ]
  ]
  it.scoped.each(cases)("that %s is refused", ([, count, bytes, expected]) =>
    Effect.gen(function*() {
      const path = yield* snapshotOf(yield* temporaryDirectory, count, hex(bytes))
      assert.strictEqual(refused(path), expected)
    }))

  it.scoped("with a coin above the base block is refused", () =>
    Effect.gen(function*() {
      const path = yield* snapshotOf(yield* temporaryDirectory, 1, hex(ONE))
      assert.strictEqual(refused(path, 0), "Bad snapshot data after deserializing 0 coins")
      assert.lengthOf(readSnapshot(path, 1), 1)
    }))

  it.scoped("with a changed byte is refused as such, or read", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "set.dat")
      FastCheck.assert(FastCheck.property(sets, FastCheck.nat(), FastCheck.nat(255), (set, place, byte) => {
        rmSync(path, { force: true })
        writeSnapshot(path, set)
        const file = readFileSync(path)
        file[METADATA_SIZE + place % Math.max(1, file.length - METADATA_SIZE)] = byte
        writeFileSync(path, file)
        const reader = new SnapshotReader(path)
        reader.metadata(NETWORK)
        reader.expect(0x7fffffff)
        try {
          while (reader.coins(10) !== undefined);
        } catch (cause) {
          assert.instanceOf(cause, BadSnapshot)
        } finally {
          reader.close()
        }
      }))
    }))
})
