import { assert, describe, it } from "@effect/vitest"
import { PassThrough } from "node:stream"
import { type Body, BodyReader } from "../../src/rpc/requestBody.ts"

/** Reads what is written to a stream; collects what is said of it. */
const reading = (reader: BodyReader) => {
  const stream = new PassThrough()
  const bodies: Array<Body> = []
  reader.read(stream, (body) => bodies.push(body))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    bodies,
    write: async (bytes: number) => {
      stream.write(Buffer.alloc(bytes, 0x20))
      await turn()
    },
    end: async () => {
      stream.end()
      await turn()
    },
    destroy: async () => {
      stream.destroy()
      await turn()
    }
  }
}

const tags = (bodies: ReadonlyArray<Body>): ReadonlyArray<string> => bodies.map(({ _tag }) => _tag)

describe("BodyReader", () => {
  it("collects a body of the largest size, and no larger one", async () => {
    const reader = new BodyReader(100, 1_000)
    const fits = reading(reader)
    await fits.write(60)
    await fits.write(40)
    assert.deepStrictEqual(fits.bodies, [])
    await fits.end()
    const [body] = fits.bodies
    assert.strictEqual(body?._tag === "Complete" ? body.bytes.length : 0, 100)

    const large = reading(reader)
    await large.write(60)
    await large.write(41)
    assert.deepStrictEqual(tags(large.bodies), ["TooLarge"])
    await large.write(41)
    await large.end()
    assert.deepStrictEqual(tags(large.bodies), ["TooLarge"])
  })

  it("takes no more memory for a body in many pieces, and has them all in order", () => {
    const bytes = 400_000
    const stream = new PassThrough()
    const bodies: Array<Body> = []
    new BodyReader(bytes, bytes).read(stream, (body) => bodies.push(body))
    const before = process.memoryUsage().heapUsed
    for (let at = 0; at < bytes; at++) stream.emit("data", new Uint8Array([at % 251]))
    assert.isBelow(process.memoryUsage().heapUsed - before, 40e6)
    stream.emit("end")
    const [body] = bodies
    assert.deepStrictEqual(
      body?._tag === "Complete"
        ? Buffer.from(body.bytes).equals(Uint8Array.from({ length: bytes }, (_, at) => at % 251))
        : body,
      true
    )
  })

  it("takes an empty body for a complete one", async () => {
    const empty = reading(new BodyReader(100, 1_000))
    await empty.end()
    assert.deepStrictEqual(empty.bodies, [{ _tag: "Complete", bytes: new Uint8Array(0) }])
  })

  it("says nothing of a body whose client went away", async () => {
    const gone = reading(new BodyReader(100, 1_000))
    await gone.write(50)
    await gone.destroy()
    assert.deepStrictEqual(gone.bodies, [])
  })

  it("has no room for large bodies while others fill it, has room for small ones, and for all again afterwards", async () => {
    const reader = new BodyReader(1_000_000, 500_000)
    const first = reading(reader)
    await first.write(450_000)
    const second = reading(reader)
    await second.write(65_536)
    await second.end()
    assert.deepStrictEqual(tags(second.bodies), ["Complete"])
    const third = reading(reader)
    await third.write(100_000)
    assert.deepStrictEqual(tags(third.bodies), ["NoRoom"])
    await first.destroy()
    const fourth = reading(reader)
    await fourth.write(400_000)
    await fourth.end()
    assert.deepStrictEqual(tags(fourth.bodies), ["Complete"])
  })

  it.each([[undefined, false], ["100", false], ["101", true], ["99999999999", true]])(
    "judges the announced size %s",
    (announced, tooLarge) => {
      assert.strictEqual(new BodyReader(100, 1_000).isTooLarge(announced), tooLarge)
    }
  )
})
