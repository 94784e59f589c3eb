import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { join } from "node:path"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { nameEffects } from "../../src/consensus/names.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { NameDb, NameEntry } from "../../src/names/NameDb.ts"
import { addressOf } from "../../src/protocol/address.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { hex } from "../support/bytes.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { applyAll, batches, dump, withDb, withNewDb } from "./blocks.ts"

/** A row of `name_scan` or `name_history` with hex encodings, as the reference node printed it. */
interface NameRow {
  readonly name: string
  readonly value: string
  readonly txid: string
  readonly vout: number
  readonly address: string
  readonly height: number
}

interface Checkpoint {
  readonly height: number
  readonly names: { readonly total: number; readonly active: number }
  readonly nameScanHex: ReadonlyArray<NameRow>
}

type Db = typeof NameDb.Service

const connected = (block: Block, height: number): ConnectedBlock => ({
  height,
  hash: block.hash,
  block,
  effects: nameEffects(block, height, regtestParams)
})

const rowOf = (record: NameEntry): NameRow => ({
  name: toHex(record.name),
  value: toHex(record.value),
  txid: displayHash(record.txid),
  vout: record.vout,
  address: addressOf(regtest, record.address) ?? "<nonstandard>",
  height: record.height
})

const expectedRow = ({ address, height, name, txid, value, vout }: NameRow): NameRow => ({
  name,
  value,
  txid,
  vout,
  address,
  height
})

const scanned = (db: Db) =>
  Effect.map(Stream.runCollect(db.scan({})), (records) => Chunk.toReadonlyArray(records).map(rowOf))

const chain = fixtureBlocks("regtest-names/blocks.dat").map(connected)

describe("regtest-names", () => {
  it.effect("names.db has the reference node's names at every checkpoint, in its order", () => {
    const { checkpoints } = fixtureJson<{ readonly checkpoints: ReadonlyArray<Checkpoint> }>(
      "regtest-names/expected.json"
    )
    return withNewDb((db) =>
      Effect.gen(function*() {
        let next = 0
        for (const { height, nameScanHex, names } of checkpoints) {
          yield* applyAll(db, batches(chain.slice(next, height + 1), 7))
          next = height + 1
          assert.deepStrictEqual(yield* scanned(db), nameScanHex.map(expectedRow), `at height ${height}`)
          const stats = yield* db.stats({ tipHeight: height, params: regtestParams })
          assert.deepStrictEqual({ total: stats.names, active: stats.active }, {
            total: names.total,
            active: names.active
          })
        }
        assert.strictEqual(next, 601)
      })
    )
  })

  it.effect("names.db has every record, history and hash at the tip", () => {
    const { names } = fixtureJson<{
      readonly names: ReadonlyArray<{
        readonly nameHex: string
        readonly show: NameRow & { readonly expired: boolean }
        readonly history: ReadonlyArray<NameRow>
      }>
    }>("regtest-names/tip-names.json")
    return withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [chain])
        for (const { history, nameHex, show } of names) {
          const name = hex(nameHex)
          const record = yield* db.resolve(name)
          assert.deepStrictEqual(rowOf(record), expectedRow(show))
          assert.deepStrictEqual(yield* db.resolveByHash(hash256(name)), record)
          assert.deepStrictEqual((yield* db.history(name)).map(rowOf), history.map(expectedRow))
          assert.strictEqual(yield* db.heightOfTransaction(record.txid), record.height)
          const active = yield* Effect.exit(db.resolveActive(name, { tipHeight: 600, params: regtestParams }))
          assert.strictEqual(active._tag, show.expired ? "Failure" : "Success")
        }
        const operations = names.reduce((sum, { history }) => sum + history.length, 0)
        const stats = yield* db.stats({ tipHeight: 600, params: regtestParams })
        assert.deepStrictEqual([stats.names, stats.operations], [names.length, operations])
      })
    )
  })

  it.scoped("names.db is the same whether or not losing branches were the best chain for a while", () => {
    const { branches } = fixtureJson<{
      readonly branches: ReadonlyArray<{
        readonly forkHeight: number
        readonly length: number
        readonly firstRecord: number
        readonly atStaleTip: Checkpoint
      }>
    }>("regtest-names/stale.json")
    const stale = fixtureBlocks("regtest-names/stale.dat")
    return Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [straight, winding] = [join(directory, "straight.db"), join(directory, "winding.db")]
      yield* withDb(straight, (db) => applyAll(db, batches(chain, 100)))
      yield* withDb(winding, (db) =>
        Effect.gen(function*() {
          let next = 0
          for (const { atStaleTip, firstRecord, forkHeight, length } of branches) {
            yield* applyAll(db, batches(chain.slice(next, forkHeight + 1), 50))
            next = forkHeight + 1
            const branch = stale.slice(firstRecord, firstRecord + length)
            yield* applyAll(db, batches(branch.map((block, i) => connected(block, next + i)), 4))
            assert.deepStrictEqual(yield* scanned(db), atStaleTip.nameScanHex.map(expectedRow), `from ${forkHeight}`)
            const fork = chain[forkHeight]
            yield* db.follower.rewind({ height: forkHeight, hash: fork?.hash ?? new Uint8Array(32) })
          }
          yield* applyAll(db, batches(chain.slice(next), 50))
        }))
      assert.deepStrictEqual(dump(winding), dump(straight))
    })
  })
})

describe("regtest-coinbase-names", () => {
  it.effect("names.db has the names that coinbases created", () => {
    const blocks = fixtureBlocks("regtest-coinbase-names/blocks.dat").map(connected)
    const expected = fixtureJson<{ readonly checkpoints?: ReadonlyArray<Checkpoint> }>(
      "regtest-coinbase-names/expected.json"
    )
    return withNewDb((db) =>
      Effect.gen(function*() {
        let next = 0
        for (const { height, nameScanHex } of expected.checkpoints ?? []) {
          yield* applyAll(db, batches(blocks.slice(next, height + 1), 9))
          next = height + 1
          assert.deepStrictEqual(yield* scanned(db), nameScanHex.map(expectedRow), `at height ${height}`)
        }
        assert.isAbove(next, 0)
      })
    )
  })
})
