import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, FastCheck } from "effect"
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import { attempt } from "../../../src/chain/attempt.ts"
import { PAGE_BYTES } from "../../../src/chain/index/headerPage.ts"
import { ChainDatabase, type Changes } from "../../../src/chain/state/ChainDatabase.ts"
import { coinKey, encodeCoin } from "../../../src/chain/state/coinCodec.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import { EMPTY, fromBinaryString, toHex } from "../../../src/protocol/bytes.ts"
import { type NameKey, nameKey } from "../../../src/protocol/keys.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { StorageCorrupted, StorageUnavailable } from "../../../src/storage/errors.ts"
import { LOG_BYTES } from "../../../src/storage/PageGuard.ts"
import { withDirectory, withDirectoryAsync } from "../../support/temporary.ts"

const key = (n: number, index = 0): string => outpointKey(outpoint(new Uint8Array(32).fill(n), index))
const coin = (value: number): Coin => ({
  value,
  script: new Uint8Array(40).fill(value),
  height: value,
  coinbase: false
})

const commit = (database: ChainDatabase, changes: Partial<Changes>): void =>
  database.commit({
    pages: [],
    headerCount: 0,
    bestHash: new Uint8Array(32),
    coins: [],
    spent: [],
    claims: [],
    ...changes
  })

const withDatabase = <A>(work: (database: ChainDatabase, directory: string) => A): A =>
  withDirectory((directory) => {
    const database = new ChainDatabase(directory, 4096)
    try {
      return work(database, directory)
    } finally {
      database.close()
    }
  })

describe("ChainDatabase", () => {
  it("a new ChainDatabase is empty, and stores its position", () => {
    withDirectory((directory) => {
      const first = new ChainDatabase(directory, 4096)
      assert.isUndefined(first.state())
      assert.isUndefined(first.coin(key(1)))
      assert.isUndefined(first.claim(nameKey(Uint8Array.of(97))))
      assert.deepStrictEqual([...first.pages()], [])
      commit(first, { headerCount: 7, bestHash: new Uint8Array(32).fill(3) })
      first.close()
      const second = new ChainDatabase(directory, 4096)
      assert.strictEqual(second.state()?.headerCount, 7)
      assert.strictEqual(toHex(second.state()?.bestHash ?? new Uint8Array(0)), "03".repeat(32))
      assert.strictEqual(second.size() % 4096, 0)
      second.close()
    })
  })

  it("an error while the log is copied is a StorageFailure, which callers can act on", () => {
    withDatabase((database) => {
      const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
      const copy = vi.spyOn(database.sums, "copyLog").mockImplementation(() => {
        throw full
      })
      try {
        database.copyLog()
        assert.fail("it must fail")
      } catch (cause) {
        assert.isTrue(cause instanceof StorageUnavailable, String(cause))
      } finally {
        copy.mockRestore()
      }
    })
  })

  it("ChainDatabase pages through coins in the order of txid and index", () => {
    withDatabase((database) => {
      const keys = [key(1), key(1, 1), key(1, 255), key(1, 256), key(2), key(0x80, 3), key(0xff, 0xffffffff)]
      commit(database, { coins: keys.toReversed().map((key, i) => [coinKey(key), encodeCoin(coin(i))] as const) })
      const seen: Array<string> = []
      for (let after: string | undefined;;) {
        const page = database.coinsAfter(after, 3)
        if (page.length === 0) break
        for (const [outpoint] of page) seen.push(after = outpoint)
      }
      assert.deepStrictEqual(seen, keys)
    })
  })

  it("ChainDatabase pages through claims in the order of bytes, the empty name first", () => {
    withDatabase((database) => {
      const names = ["", "\x00", "a", "a\x00", "ab", "b", "\xff"].map((name) => nameKey(fromBinaryString(name)))
      commit(database, {
        claims: names.toReversed().map((name, i) => [name, { height: i, outpoint: key(i) }] as const)
      })
      const seen: Array<string> = []
      for (let after: NameKey | undefined;;) {
        const page = database.claimsAfter(after, 2)
        if (page.length === 0) break
        for (const [name] of page) seen.push(after = name)
      }
      assert.deepStrictEqual(seen, names)
      assert.deepStrictEqual(database.claim(nameKey(EMPTY)), { height: 6, outpoint: key(6) })
      const between = database.claimsBetween(2, 4).map(([name]) => name)
      assert.deepStrictEqual(between.sort(), ["a", "a\x00", "ab"].sort())
      commit(database, { claims: [[nameKey(EMPTY), undefined]] })
      assert.isUndefined(database.claim(nameKey(EMPTY)))
    })
  })

  it("ChainDatabase stores the pages of the index, each a copy that can be viewed as words", () => {
    withDatabase((database) => {
      const pages = [2, 0, 1].map((page) => ({ page, bytes: new Uint8Array(PAGE_BYTES).fill(page + 1) }))
      commit(database, { pages, headerCount: 1500 })
      const read = [...database.pages()]
      assert.deepStrictEqual(read.map(([first]) => first), [1, 2, 3])
      assert.isTrue(read.every(({ byteOffset, length }) => byteOffset % 4 === 0 && length === PAGE_BYTES))
    })
  })

  it.each([
    ["a gap", [0, 2], PAGE_BYTES],
    ["a page of the wrong size", [0], PAGE_BYTES - 1]
  ])("ChainDatabase refuses %s in the pages", (_, numbers, size) => {
    withDatabase((database) => {
      commit(database, { pages: numbers.map((page) => ({ page, bytes: new Uint8Array(size) })) })
      assert.throws(() => [...database.pages()], StorageCorrupted, /of the block index/)
    })
  })

  it("a failing commit stores nothing", () => {
    withDatabase((database) => {
      commit(database, { coins: [[coinKey(key(1)), encodeCoin(coin(1))]], headerCount: 1 })
      const broken = {
        coins: [[coinKey(key(2)), encodeCoin(coin(2))]] as const,
        spent: [coinKey(key(1))],
        // The iteration of a later list fails.
        get claims(): never {
          throw new Error("broken")
        }
      }
      assert.throws(() => database.commit({ pages: [], headerCount: 2, bestHash: new Uint8Array(32), ...broken }))
      assert.throws(() =>
        database.commit({
          pages: [],
          headerCount: 2,
          bestHash: new Uint8Array(32),
          coins: broken.coins,
          spent: broken.spent,
          claims: (function*(): Iterable<readonly [NameKey, undefined]> {
            yield [nameKey(EMPTY), undefined]
            throw new Error("broken")
          })()
        })
      )
      assert.isUndefined(database.coin(key(2)))
      assert.strictEqual(database.coin(key(1))?.value, 1)
      assert.strictEqual(database.state()?.headerCount, 1)
    })
  })

  it("ChainDatabase reports a row that does not decode", () => {
    withDatabase((database, directory) => {
      commit(database, { coins: [[coinKey(key(1)), encodeCoin(coin(1))]] })
      const other = new SQLite(join(directory, "chainstate.db"))
      other.prepare("UPDATE coins SET coin = ?").run(Buffer.from("fd", "hex"))
      other.close()
      assert.throws(() => database.coin(key(1)), StorageCorrupted, /a row does not decode/)
      assert.throws(() => database.coinsAfter(undefined, 10), StorageCorrupted, /a row does not decode/)
    })
  })
})

/** Reads the whole database. */
const readEverything = (directory: string): void => {
  const database = new ChainDatabase(directory, 4096)
  try {
    database.state()
    for (const page of database.pages()) assert.strictEqual(page.length, PAGE_BYTES)
    database.coinsAfter(undefined, 10_000)
    database.claimsAfter(undefined, 10_000)
    database.claimsBetween(0, 10)
    database.coin(key(1))
  } finally {
    database.close()
  }
}

describe("a damaged database", () => {
  it("a damaged database is readable or fails with a StorageFailure that names the file", () => {
    withDirectory((directory) => {
      const sound = new ChainDatabase(directory, 4096)
      commit(sound, {
        coins: Array.from({ length: 250 }, (_, n) => [coinKey(key(n)), encodeCoin(coin(n))] as const),
        claims: Array.from(
          { length: 250 },
          (_, n) => [nameKey(fromBinaryString(`name ${n}`)), { height: n, outpoint: key(n) }] as const
        ),
        pages: [{ page: 0, bytes: new Uint8Array(PAGE_BYTES).fill(7) }],
        headerCount: 1
      })
      sound.close()
      const file = join(directory, "chainstate.db")
      const bytes = readFileSync(file)
      let failures = 0
      const damage = FastCheck.record({
        // The first pages have the header and the schema. They are damaged as often as all other pages.
        at: FastCheck.oneof(FastCheck.nat(4095), FastCheck.nat(bytes.length - 1)),
        length: FastCheck.constantFrom(1, 4, 200),
        fill: FastCheck.nat(255)
      })
      FastCheck.assert(
        FastCheck.property(damage, ({ at, fill, length }) => {
          const broken = Buffer.from(bytes)
          broken.fill(fill, at, Math.min(at + length, broken.length))
          writeFileSync(file, broken)
          try {
            readEverything(directory)
          } catch (cause) {
            failures++
            if (!(cause instanceof StorageCorrupted) && !(cause instanceof StorageUnavailable)) throw cause
            assert.strictEqual(cause.file, file)
          }
        }),
        { numRuns: 150 }
      )
      assert.isAbove(failures, 5)
    })
  })

  it("damage that a copy of the log finds is reported, at once and aside", async () => {
    for (const how of ["at once", "aside"] as const) {
      await withDirectoryAsync(async (directory) => {
        const reported: Array<StorageCorrupted> = []
        const database = new ChainDatabase(directory, 4096, (damage) => reported.push(damage))
        const rows = Array.from({ length: 250 }, (_, n) => [coinKey(key(n)), encodeCoin(coin(n))] as const)
        commit(database, { coins: rows })
        database.sums.copyLog()
        const bytes = readFileSync(database.file)
        // The last byte of each page but the first, so that each row that is replaced meets it.
        for (let end = 2 * 4096; end <= bytes.length; end += 4096) bytes[end - 1] = 1 ^ (bytes[end - 1] ?? 0)
        const file = openSync(database.file, "r+")
        writeSync(file, bytes)
        commit(database, { coins: [...rows, [coinKey(key(251)), Buffer.alloc(LOG_BYTES)]] })
        const work = how === "aside"
          ? database.committedAside()
          : attempt(() => database.committed())
        const failure = await Effect.runPromise(Effect.flip(work))
        assert.instanceOf(failure, StorageCorrupted, how)
        assert.deepStrictEqual(reported, [failure])
        database.close()
        closeSync(file)
      })
    }
  })

  it.each([0.3, 0.6, 0.9])("a database cut off after %d of its length is corrupted", (part) => {
    withDirectory((directory) => {
      const sound = new ChainDatabase(directory, 4096)
      commit(sound, { coins: Array.from({ length: 250 }, (_, n) => [coinKey(key(n)), encodeCoin(coin(n))] as const) })
      sound.close()
      const file = join(directory, "chainstate.db")
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * part)))
      assert.throws(() => readEverything(directory), StorageCorrupted)
    })
  })

  it("a database of another program is refused", () => {
    withDirectory((directory) => {
      const other = new SQLite(join(directory, "chainstate.db"))
      other.exec("CREATE TABLE things (a); PRAGMA user_version = 1")
      other.close()
      assert.throws(() => new ChainDatabase(directory, 4096), StorageCorrupted)
    })
  })
})
