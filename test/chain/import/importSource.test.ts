import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { expandSource, openSource, removeFile, unpack } from "../../../src/chain/import/importSource.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { bytesOf, hex } from "../../support/bytes.ts"
import { withDirectory, withDirectoryAsync } from "../../support/temporary.ts"

const KEY = Buffer.from("0102030405060780", "hex")

const masked = (bytes: Uint8Array, key: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes, (byte, i) => byte ^ (key[i % 8] ?? 0))

describe("openSource", () => {
  it("openSource reads any part of a masked file unmasked", () => {
    withDirectory((directory) => {
      const path = join(directory, "file")
      const parts = FastCheck.tuple(bytesOf(0, 80), bytesOf(8), FastCheck.nat(90), FastCheck.nat(90))
      FastCheck.assert(FastCheck.property(parts, ([bytes, key, offset, length]) => {
        writeFileSync(path, masked(bytes, key))
        const source = openSource(path, Buffer.from(key))
        assert.strictEqual(source.size, bytes.length)
        assert.strictEqual(source.read(offset, length).toString("hex"), toHex(bytes.subarray(offset, offset + length)))
        source.close()
        const plain = openSource(path)
        assert.strictEqual(plain.read(0, 1000).toString("hex"), toHex(masked(bytes, key)))
        plain.close()
      }))
    })
  })

  it("openSource keeps the name to show", () => {
    withDirectory((directory) => {
      const path = join(directory, "file")
      writeFileSync(path, "x")
      const source = openSource(path, undefined, "shown")
      assert.strictEqual(source.path, "shown")
      source.close()
    })
  })
})

describe("expandSource", () => {
  it("expandSource returns a single file, and recognizes a packed one by its first bytes", () => {
    withDirectory((directory) => {
      const plain = join(directory, "bootstrap.dat")
      writeFileSync(plain, "fabe")
      assert.deepStrictEqual(expandSource(plain), { files: [plain], key: undefined, packed: false })
      writeFileSync(plain, gzipSync("x"))
      assert.deepStrictEqual(expandSource(plain), { files: [plain], key: undefined, packed: true })
      for (const short of ["", "\x1f"]) {
        writeFileSync(plain, short)
        assert.isFalse(expandSource(plain).packed)
      }
    })
  })

  it("expandSource returns the block files of a folder in order, with its key", () => {
    withDirectory((directory) => {
      const names = [
        "blk00010.dat",
        "blk00002.dat",
        "blk00000.dat",
        "rev00000.dat",
        "blk1.dat",
        "blk00003.dat.bak",
        "xblk00004.dat"
      ]
      for (const name of names) writeFileSync(join(directory, name), "x")
      const files = ["blk00000.dat", "blk00002.dat", "blk00010.dat"].map((name) => join(directory, name))
      assert.deepStrictEqual(expandSource(directory), { files, key: undefined, packed: false })
      writeFileSync(join(directory, "xor.dat"), KEY)
      assert.deepStrictEqual(expandSource(directory), { files, key: KEY, packed: false })
      // One file of the folder is masked too. A file with another name is not.
      assert.deepStrictEqual(expandSource(files[1] ?? "").key, KEY)
      writeFileSync(join(directory, "bootstrap.dat"), "x")
      assert.isUndefined(expandSource(join(directory, "bootstrap.dat")).key)
      writeFileSync(join(directory, "xor.dat"), new Uint8Array(8))
      assert.isUndefined(expandSource(directory).key)
    })
  })

  it("expandSource uses the folder `blocks` of a data directory", () => {
    withDirectory((directory) => {
      mkdirSync(join(directory, "blocks"))
      const file = join(directory, "blocks", "blk00000.dat")
      writeFileSync(file, "x")
      writeFileSync(join(directory, "blocks", "xor.dat"), KEY)
      assert.deepStrictEqual(expandSource(directory), { files: [file], key: KEY, packed: false })
    })
  })

  it.each([0, 7, 9])("expandSource refuses a key of %d bytes", (length) => {
    withDirectory((directory) => {
      writeFileSync(join(directory, "blk00000.dat"), "x")
      writeFileSync(join(directory, "xor.dat"), new Uint8Array(length).fill(1))
      assert.throws(() => expandSource(directory), `xor.dat has ${length} bytes instead of 8`)
    })
  })

  it("expandSource refuses a missing path", () => {
    withDirectory((directory) => {
      assert.throws(() => expandSource(directory), /no blk/)
      assert.throws(() => expandSource(join(directory, "nothing")), /ENOENT/)
    })
  })
})

describe("unpack", () => {
  it("unpack restores the bytes, and fails for a damaged or truncated file", () =>
    withDirectoryAsync(async (directory) => {
      const [from, to] = [join(directory, "packed.gz"), join(directory, "unpacked")]
      const bytes = hex("00ff".repeat(5000))
      const packed = gzipSync(bytes)
      writeFileSync(from, packed)
      await unpack({ path: from, to })
      const source = openSource(to)
      assert.strictEqual(source.read(0, 20_000).toString("hex"), toHex(bytes))
      source.close()
      removeFile(to)
      assert.isFalse(existsSync(to))
      removeFile(to)
      const damaged = Buffer.from(packed)
      damaged.writeUInt32LE(0, damaged.length - 8)
      for (const broken of [packed.subarray(0, packed.length - 9), damaged, Buffer.from("1f8b00", "hex")]) {
        writeFileSync(from, broken)
        let failed = false
        await unpack({ path: from, to }).catch(() => {
          failed = true
        })
        assert.isTrue(failed)
      }
    }))
})
