import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { framed, MessageFrames } from "../../../src/dns/wire/MessageFrames.ts"

const readAll = (reader: MessageFrames): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let next = reader.next(); next !== undefined; next = reader.next()) found.push(Buffer.from(next).toString("hex"))
  return found
}

/** The bytes in pieces of these lengths, again and again. */
const pieces = (bytes: Buffer, lengths: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const found: Array<Buffer> = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length] ?? 1
    found.push(bytes.subarray(at, at + length))
    at += length
  }
  return found
}

describe("MessageFrames", () => {
  it("finds the same messages however the stream is cut", () =>
    fc.assert(fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
      (messages, lengths) => {
        const reader = new MessageFrames()
        const found = pieces(Buffer.concat(messages.map(framed)), lengths).flatMap((piece) => {
          reader.push(piece)
          return readAll(reader)
        })
        assert.deepStrictEqual(found, messages.map((message) => Buffer.from(message).toString("hex")))
      }
    )))

  it("takes the longest message byte by byte", () => {
    const message = new Uint8Array(65_535).fill(7)
    const reader = new MessageFrames()
    const found = [...framed(message)].flatMap((byte) => {
      reader.push(Uint8Array.of(byte))
      return reader.next() ?? []
    })
    assert.lengthOf(found, 1)
    assert.isTrue(Buffer.from(message).equals(found[0] ?? new Uint8Array()))
  })

  it("keeps what waits for room", () => {
    const reader = new MessageFrames()
    reader.push(Buffer.concat([framed(Uint8Array.of(1)), framed(Uint8Array.of(2, 3)).subarray(0, 3)]))
    assert.deepStrictEqual(reader.next(), Buffer.from([1]))
    reader.push(Uint8Array.of(3))
    assert.deepStrictEqual(readAll(reader), ["0203"])
  })
})
