import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { appendFileSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { concat, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { BlockFiles, type Place } from "../../src/storage/BlockFiles.ts"
import { StorageCorrupted, StorageUnavailable } from "../../src/storage/errors.ts"
import { bytesOf, hex } from "../support/bytes.ts"
import { withDirectory, withDirectoryAsync } from "../support/temporary.ts"

const HASH = new Uint8Array(32).fill(5)
const MAX_FILE_SIZE = 128 * 1024 * 1024

const withFiles = (work: (files: BlockFiles, directory: string) => void): void =>
  withDirectory((directory) => {
    const files = new BlockFiles(directory, regtest.magic)
    try {
      work(files, directory)
    } finally {
      files.close()
    }
  })

/** Returns the error of `work`, which has to be of this class and name this file. */
const corrupted = (file: string, work: () => unknown): string => {
  try {
    work()
  } catch (cause) {
    if (!(cause instanceof StorageCorrupted)) throw cause
    assert.strictEqual(cause.file, file)
    assert.include(cause.message, file)
    return cause.found
  }
  return assert.fail("nothing was thrown")
}

describe("records", () => {
  it("records are in the file as the reference node writes them", () => {
    withFiles((files, directory) => {
      assert.deepStrictEqual(files.appendBlock(hex("aabbcc")), { file: 0, offset: 8, size: 3 })
      assert.deepStrictEqual(files.appendBlock(hex("")), { file: 0, offset: 19, size: 0 })
      const path = join(directory, "blk00000.dat")
      assert.strictEqual(readFileSync(path).toString("hex"), "fabfb5da03000000aabbccfabfb5da00000000")
      assert.strictEqual(files.path("blk", 0), path)
      assert.strictEqual(files.path("undo", 12345), join(directory, "undo12345.dat"))
      assert.strictEqual(files.sizeOf("blk", 0), 19)
      assert.strictEqual(files.sizeOf("undo", 0), 0)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    })
  })

  it("records are read back in any order, even after a reopening", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(FastCheck.boolean(), bytesOf(0, 300)), { maxLength: 12 }),
        (list) =>
          withDirectory((directory) => {
            const places: Array<Place> = []
            const check = (files: BlockFiles): void => {
              for (const [i, [isBlock, bytes]] of [...list.entries()].reverse()) {
                const place = places[i]
                if (place === undefined) continue
                assert.strictEqual(toHex(isBlock ? files.readBlock(place) : files.readUndo(HASH, place)), toHex(bytes))
              }
            }
            for (const [half, part] of [list.slice(0, 6), list.slice(6)].entries()) {
              const files = new BlockFiles(directory, regtest.magic)
              for (const [isBlock, bytes] of part) {
                places.push(isBlock ? files.appendBlock(bytes) : files.appendUndo(HASH, bytes))
              }
              if (half === 0) files.sync()
              check(files)
              const onDisk = [
                ...files.numbers("blk").map((n) => files.path("blk", n)),
                ...files.numbers("undo").map((n) => files.path("undo", n))
              ]
              assert.strictEqual(files.sizeOnDisk, onDisk.reduce((sum, path) => sum + statSync(path).size, 0))
              files.close()
            }
          })
      ),
      { numRuns: 30 }
    )
  })

  it("records can be appended during the sync of earlier ones", async () => {
    await withDirectoryAsync(async (directory) => {
      const files = new BlockFiles(directory, regtest.magic)
      const first = files.appendBlock(hex("aabbcc"))
      let turns = 0
      setImmediate(() => void turns++)
      const syncing = files.syncAside()
      const second = files.appendBlock(hex("dd"))
      await syncing
      assert.strictEqual(turns, 1, "others had their turn")
      files.sync()
      await files.syncAside()
      assert.deepStrictEqual([first, second].map((place) => toHex(files.readBlock(place))), ["aabbcc", "dd"])
      files.close()
    })
  })

  it("records that begin or end beyond the end of the file are corruption", () => {
    withFiles((files) => {
      const place = files.appendBlock(hex("aabbcc"))
      const path = files.path("blk", 0)
      assert.include(corrupted(path, () => files.readBlock({ ...place, size: 4 })), "ends after the end of the file")
      assert.include(corrupted(path, () => files.readBlock({ ...place, offset: 9 })), "offset 9")
      assert.include(
        corrupted(path, () => files.readBlock({ ...place, offset: 0xffffffff })),
        "ends after the end of the file"
      )
      const missing = files.path("blk", 3)
      assert.include(corrupted(missing, () => files.readBlock({ ...place, file: 3 })), "ends after the end of the file")
    })
  })

  it("records that are cut off or deleted while the file is open are corruption", () => {
    withFiles((files) => {
      const place = files.appendBlock(hex("aabbcc"))
      const path = files.path("blk", 0)
      truncateSync(path, 10)
      assert.include(corrupted(path, () => files.readBlock(place)), "only 2 of 3 bytes")
      unlinkSync(path)
      corrupted(path, () => files.readBlock(place))
    })
  })
})

describe("undo data", () => {
  it("undo data are checked against the block and every byte", () => {
    withFiles((files, directory) => {
      const undo = hex("0102030405060708")
      const place = files.appendUndo(HASH, undo)
      assert.strictEqual(place.size, undo.length + 4)
      const checksum = toHex(hash256(concat(HASH, undo)).subarray(0, 4))
      const stored = toHex(readFileSync(join(directory, "undo00000.dat")))
      assert.strictEqual(stored, `${toHex(regtest.magic)}0c000000${toHex(undo)}${checksum}`)
      assert.strictEqual(toHex(files.readUndo(HASH, place)), toHex(undo))
      const path = join(directory, "undo00000.dat")
      assert.include(
        corrupted(path, () => files.readUndo(new Uint8Array(32), place)),
        "checksum of the record at offset 8"
      )
      const sound = readFileSync(path)
      for (let at = place.offset; at < sound.length; at++) {
        const broken = Buffer.from(sound)
        broken[at] = (broken[at] ?? 0) ^ 0x10
        writeFileSync(path, broken)
        corrupted(path, () => files.readUndo(HASH, place))
      }
      writeFileSync(path, sound)
      for (const size of [0, 1, 3, 4, 11]) corrupted(path, () => files.readUndo(HASH, { ...place, size }))
      assert.strictEqual(toHex(files.readUndo(HASH, place)), toHex(undo))
    })
  })
})

describe("cut", () => {
  it("cut removes the records after an offset, and appending continues there", () => {
    withFiles((files) => {
      const first = files.appendBlock(hex("aabbcc"))
      const second = files.appendBlock(hex("dd"))
      assert.strictEqual(files.cut("blk", 0, { end: 11 }), 9)
      assert.strictEqual(files.cut("blk", 0, { end: 11 }), 0)
      assert.strictEqual(files.cut("blk", 0, { end: 100 }), 0)
      assert.strictEqual(files.cut("blk", 7, { end: 0 }), 0)
      assert.strictEqual(files.sizeOnDisk, 11)
      corrupted(files.path("blk", 0), () => files.readBlock(second))
      assert.deepStrictEqual(files.appendBlock(hex("ee")), { file: 0, offset: 19, size: 1 })
      assert.strictEqual(toHex(files.readBlock(first)), "aabbcc")
      assert.strictEqual(toHex(files.readBlock(second)), "ee")
    })
  })

  it("cut removes an incomplete record that existed at the start", () => {
    withDirectory((directory) => {
      const before = new BlockFiles(directory, regtest.magic)
      before.appendBlock(hex("aabbcc"))
      before.close()
      appendFileSync(join(directory, "blk00000.dat"), hex("fabfb5da640000"))
      const after = new BlockFiles(directory, regtest.magic)
      assert.strictEqual(after.sizeOnDisk, 18)
      assert.strictEqual(after.cut("blk", 0, { end: 11 }), 7)
      assert.strictEqual(statSync(join(directory, "blk00000.dat")).size, 11)
      after.close()
    })
  })
})

describe("a full file", () => {
  it.each([
    ["one byte short of full is still used", 8 + 101, 0],
    ["exactly full begins a new one", 8 + 100, 1]
  ])("%s", (_, left, expected) => {
    withDirectory((directory) => {
      // A sparse file uses no disk space.
      const path = join(directory, "blk00000.dat")
      writeFileSync(path, "")
      truncateSync(path, MAX_FILE_SIZE - left)
      const files = new BlockFiles(directory, regtest.magic)
      const place = files.appendBlock(new Uint8Array(100).fill(7))
      assert.strictEqual(place.file, expected)
      assert.strictEqual(place.offset, expected === 0 ? MAX_FILE_SIZE - 101 : 8)
      assert.deepStrictEqual(files.numbers("blk"), expected === 0 ? [0] : [0, 1])
      assert.strictEqual(files.appendBlock(hex("01")).file, 1)
      assert.strictEqual(files.readBlock(place)[99], 7)
      // A new block file begins a new undo file.
      assert.strictEqual(files.appendUndo(HASH, hex("01")).file, 1)
      files.close()
      const again = new BlockFiles(directory, regtest.magic)
      assert.strictEqual(again.appendBlock(hex("02")).file, 1)
      again.close()
    })
  })
})

describe("a folder", () => {
  it("the folder may contain other files, and block files with gaps", () => {
    withDirectory((directory) => {
      for (
        const name of ["blk00003.dat", "blk00001.dat", "blk1.dat", "rev00009.dat", "blk00009.dat.old", "xblk00008.dat"]
      ) {
        writeFileSync(join(directory, name), "x")
      }
      const files = new BlockFiles(directory, regtest.magic)
      assert.deepStrictEqual(files.numbers("blk"), [1, 3])
      assert.strictEqual(files.appendBlock(hex("aa")).file, 3)
      files.close()
    })
  })

  it("a missing folder is unavailable", () => {
    withDirectory((directory) => {
      const missing = join(directory, "missing")
      assert.throws(() => new BlockFiles(missing, regtest.magic), StorageUnavailable)
    })
  })

  it("a folder that disappears is unavailable", () => {
    withDirectory((directory) => {
      writeFileSync(join(directory, "file"), "")
      assert.throws(() => new BlockFiles(join(directory, "file"), regtest.magic), StorageUnavailable, /reading .*file/)
    })
  })
})
