import { assert, describe, it } from "@effect/vitest"
import { briefBytes } from "../../../src/dns/wire/briefBytes.ts"

describe("briefBytes", () => {
  it("gives zeros that no other piece shares", () => {
    const pieces = Array.from({ length: 3_000 }, (_, i) => briefBytes(i * 7 % 5_000))
    for (const [i, piece] of pieces.entries()) {
      assert.strictEqual(piece.length, i * 7 % 5_000)
      assert.isTrue(piece.every((byte) => byte === 0))
      piece.fill(255)
    }
  })

  it("gives one block to small pieces, and none to large ones", () => {
    const [first, second, large] = [briefBytes(100), briefBytes(100), briefBytes(60_000)]
    assert.strictEqual(first.buffer, second.buffer)
    assert.strictEqual(large.byteLength, large.buffer.byteLength)
  })
})
