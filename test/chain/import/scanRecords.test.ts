import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openSource, type SourceFile } from "../../../src/chain/import/importSource.ts"
import { scanRecords, type ScanTrouble } from "../../../src/chain/import/scanRecords.ts"
import { type Bytes, concat, toHex } from "../../../src/protocol/bytes.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { bytesOf, hex } from "../../support/bytes.ts"
import { withDirectory } from "../../support/temporary.ts"

const MAGIC = regtest.magic
const WINDOW = 4 * 1024 * 1024
const HEAD = 16_384

const sourceOf = (bytes: Bytes): SourceFile => ({
  path: "memory",
  size: bytes.length,
  read: (offset, length) => Buffer.from(bytes.subarray(offset, offset + length)),
  close: () => undefined
})

const u32 = (value: number): Uint8Array => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const recordOf = (content: Bytes, magic: Bytes = MAGIC, size = content.length): Uint8Array =>
  concat(magic, u32(size), content)

const block = (fill: number, size = 100): Uint8Array => new Uint8Array(size).fill(fill)

/** The records as `offset:size:first byte`, and the problems as `!offset`. */
const scanned = (source: SourceFile | Bytes): ReadonlyArray<string> => {
  const found: Array<string> = []
  const file = source instanceof Uint8Array ? sourceOf(source) : source
  const trouble = ({ offset }: ScanTrouble) => void found.push(`!${offset}`)
  for (const { head, offset, size } of scanRecords(file, { magic: MAGIC, trouble })) {
    assert.strictEqual(head.length, Math.min(size, HEAD))
    assert.strictEqual(toHex(head), file.read(offset, head.length).toString("hex"))
    found.push(`${offset}:${size}:${head[0]}`)
  }
  return found
}

describe("scanRecords", () => {
  it("scanRecords finds adjacent records", () => {
    assert.deepStrictEqual(scanned(concat(recordOf(block(1)), recordOf(block(2, 80)), recordOf(block(3)))), [
      "8:100:1",
      "116:80:2",
      "204:100:3"
    ])
  })

  it.each([
    ["nothing", ""],
    ["zeros", "00".repeat(50)],
    ["less than a frame", "fabfb5da64"],
    ["the beginning of a magic", "fabfb5"],
    ["the magic of another network", `${toHex(mainnet.magic)}64000000${"00".repeat(100)}`]
  ])("finds nothing in %s", (_, bytes) => {
    assert.deepStrictEqual(scanned(hex(bytes)), [])
  })

  it.each(["00", "fa", "fabf", "fabfb5", "fafafabf", "00".repeat(1000), "fabfb5db"])(
    "steps over %s between records",
    (garbage) => {
      const bytes = concat(hex(garbage), recordOf(block(1)), hex(garbage), recordOf(block(2)), hex(garbage))
      const length = garbage.length / 2
      assert.deepStrictEqual(scanned(bytes), [`${length + 8}:100:1`, `${2 * length + 116}:100:2`])
    }
  )

  it("scanRecords skips a record of another network", () => {
    assert.deepStrictEqual(scanned(concat(recordOf(block(1), mainnet.magic), recordOf(block(2)))), ["116:100:2"])
  })

  it.each([0, 79, 4_000_001, 0x7fffffff, 0xffffffff])(
    "scanRecords reports the wrong length %d, and continues after its magic",
    (size) => {
      assert.deepStrictEqual(scanned(concat(recordOf(block(1), MAGIC, size), recordOf(block(2)))), ["!0", "116:100:2"])
    }
  )

  it("scanRecords accepts lengths from 80 to 4,000,000", () => {
    assert.deepStrictEqual(scanned(recordOf(block(1, 80))), ["8:80:1"])
    assert.deepStrictEqual(scanned(recordOf(block(1, 4_000_000))), ["8:4000000:1"])
  })

  it("scanRecords reports that the file ends within a record, and finds the records inside of it", () => {
    const cut = recordOf(block(1)).subarray(0, 107)
    assert.deepStrictEqual(scanned(cut), ["!0"])
    // An incomplete record, then others.
    assert.deepStrictEqual(scanned(concat(recordOf(block(1, 20), MAGIC, 500), recordOf(block(2)))), ["!0", "36:100:2"])
  })

  it("scanRecords ends at every truncation, with every complete record", () => {
    const whole = concat(recordOf(block(1)), hex("fabf"), recordOf(block(2)))
    for (let length = 0; length <= whole.length; length++) {
      const found = scanned(whole.subarray(0, length)).filter((one) => !one.startsWith("!"))
      assert.deepStrictEqual(found, [...length >= 108 ? ["8:100:1"] : [], ...length >= 218 ? ["118:100:2"] : []])
    }
  })

  it("scanRecords finds records at any border of the window", () => {
    // Garbage up to the border, then a record whose frame or content crosses it.
    for (let shift = -12; shift <= 4; shift++) {
      const run = new Uint8Array(WINDOW + shift)
      const expected = [`${run.length + 8}:100:7`, `${run.length + 116}:100:8`]
      assert.deepStrictEqual(scanned(concat(run, recordOf(block(7)), recordOf(block(8)))), expected, `${shift}`)
    }
    for (let shift = -12; shift <= 4; shift++) {
      const first = recordOf(block(7, 3_900_000))
      const second = recordOf(block(8, WINDOW - first.length - 8 + shift))
      const expected = ["8:3900000:7", `${first.length + 8}:${second.length - 8}:8`, `${WINDOW + shift + 8}:100:9`]
      assert.deepStrictEqual(scanned(concat(first, second, recordOf(block(9)))), expected, `${shift}`)
    }
  })

  it("scanRecords finds a record whose magic crosses the border after the start of another", () => {
    const run = new Uint8Array(WINDOW - 2)
    run.set(hex("fabf"), WINDOW - 4)
    assert.deepStrictEqual(scanned(concat(run, recordOf(block(7)))), [`${WINDOW + 6}:100:7`])
  })

  it("scanRecords finds the same as a naive search, with any garbage", () => {
    const piece = FastCheck.oneof(
      bytesOf(0, 12),
      FastCheck.constantFrom(hex("fa"), hex("fabfb5"), MAGIC, mainnet.magic),
      FastCheck.integer({ min: 80, max: 90 }).map((size) => recordOf(block(1, size))),
      FastCheck.integer({ min: 80, max: 300 }).map((size) => recordOf(block(2, 80), MAGIC, size))
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(piece, { maxLength: 12 }), (pieces) => {
        const bytes = concat(...pieces)
        const expected: Array<string> = []
        for (let at = 0; at + 8 <= bytes.length;) {
          const frame = Buffer.from(bytes.subarray(at, at + 8))
          const size = frame.readUInt32LE(4)
          if (!frame.subarray(0, 4).equals(MAGIC)) at++
          else if (size < 80 || size > 4_000_000 || at + 8 + size > bytes.length) expected.push(`!${at++}`)
          else {
            expected.push(`${at + 8}:${size}:${bytes[at + 8]}`)
            at += 8 + size
          }
        }
        assert.deepStrictEqual(scanned(bytes), expected)
      }),
      { numRuns: 400 }
    )
  })

  it("scanRecords scans a masked file of the reference node, its unused end included", () => {
    withDirectory((directory) => {
      const key = Buffer.from("1122334455667788", "hex")
      const bytes = concat(recordOf(block(1)), recordOf(block(2, 133)), recordOf(block(3)))
      // The end is zero on disk. Unmasked, it reads as the key, repeated.
      const onDisk = concat(bytes.map((byte, i) => byte ^ (key[i % 8] ?? 0)), new Uint8Array(5000))
      const path = join(directory, "blk00000.dat")
      writeFileSync(path, onDisk)
      const source = openSource(path, key)
      assert.deepStrictEqual(scanned(source), ["8:100:1", "116:133:2", "257:100:3"])
      source.close()
    })
  })
})
