import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { once } from "node:events"
import { PassThrough, Readable } from "node:stream"
import { MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { type Body, type BodyMemory, BodyRate, BodyReader } from "../../src/http/requestBody.ts"
import { collectGarbage } from "../../src/node/releaseMemory.ts"
import { CallerMemory } from "../../src/rpc/CallerMemory.ts"

/** The memory for all bodies, of which one caller may hold half. */
const memoryOf = (bytes: number) => {
  const budget = new MemoryBudget(bytes * 5)
  return new CallerMemory(budget, "test", () => {})
}

const PLENTY = memoryOf(2 ** 30)

/** Reads the bytes written to a stream; collects the results. */
const reading = (reader: BodyReader, memory: BodyMemory = PLENTY) => {
  const stream = new PassThrough()
  const bodies: Array<Body> = []
  reader.read(stream, memory, (body) => bodies.push(body))
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

describe("the rate of long bodies", () => {
  const MEBIBYTE = 2 ** 20

  it("lets 2 MiB pass at once, then 32 KiB a millisecond", () => {
    const rate = new BodyRate()
    assert.isAtMost(rate.waitAfter(2 * MEBIBYTE, 1_000), 0)
    assert.strictEqual(rate.waitAfter(MEBIBYTE, 1_000), 32)
    assert.strictEqual(rate.waitAfter(MEBIBYTE, 1_032), 32)
  })

  it("lets callers wait for each other", () => {
    const rate = new BodyRate()
    rate.waitAfter(2 * MEBIBYTE, 0)
    assert.deepStrictEqual([1, 2, 3].map(() => rate.waitAfter(65_536, 0)), [2, 4, 6])
  })

  it("saves up no more than 2 MiB", () => {
    const rate = new BodyRate()
    rate.waitAfter(1, 0)
    assert.strictEqual(rate.waitAfter(3 * MEBIBYTE, 3_600_000), 32)
  })
})

describe("BodyReader", () => {
  it("reads a body of the maximum size, and no larger one", async () => {
    const reader = new BodyReader(100)
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

  it.effect("needs no more memory for a body in many pieces, and keeps all pieces in order", () =>
    Effect.gen(function*() {
      const bytes = 100_000
      let at = 0
      const allRead = yield* Deferred.make<void>()
      const stream = new Readable({
        highWaterMark: 1,
        read() {
          if (at < bytes) this.push(new Uint8Array([at++ % 251]))
          else Deferred.unsafeDone(allRead, Effect.void)
        }
      })
      const bodies: Array<Body> = []
      yield* collectGarbage
      const before = process.memoryUsage().heapUsed
      new BodyReader(bytes).read(stream, PLENTY, (body) => bodies.push(body))
      yield* Deferred.await(allRead)
      yield* collectGarbage
      assert.isBelow(process.memoryUsage().heapUsed - before, 5e6)
      stream.push(null)
      yield* Effect.promise(() => once(stream, "end"))
      const [body] = bodies
      assert.deepStrictEqual(
        body?._tag === "Complete"
          ? Buffer.from(body.bytes).equals(Uint8Array.from({ length: bytes }, (_, at) => at % 251))
          : body,
        true
      )
    }))

  it("treats an empty body as complete", async () => {
    const empty = reading(new BodyReader(100))
    await empty.end()
    assert.deepStrictEqual(empty.bodies.map((body) => body._tag === "Complete" && body.bytes.length), [0])
  })

  it("reports nothing about a body whose client disconnects", async () => {
    const gone = reading(new BodyReader(100))
    await gone.write(50)
    await gone.destroy()
    assert.deepStrictEqual(gone.bodies, [])
  })

  it("refuses more than a caller may hold, except small bodies, and accepts it again afterwards", async () => {
    const reader = new BodyReader(1_000_000)
    const memory = memoryOf(1_000_000)
    const first = reading(reader, memory)
    await first.write(450_000)
    assert.strictEqual(first.bodies.length, 0)
    const small = reading(reader, memory)
    await small.write(16_384)
    await small.end()
    assert.deepStrictEqual(tags(small.bodies), ["Complete"])
    const third = reading(reader, memory)
    await third.write(100_000)
    assert.deepStrictEqual(tags(third.bodies), ["NoRoom"])
    await first.destroy()
    const fourth = reading(reader, memory)
    await fourth.write(400_000)
    await fourth.end()
    assert.deepStrictEqual(tags(fourth.bodies), ["Complete"])
  })

  it("makes room for one caller by disconnecting the one that holds the most", async () => {
    const reader = new BodyReader(1_000_000)
    const budget = new MemoryBudget(500_000)
    const ended: Array<string> = []
    const caller = (name: string) => new CallerMemory(budget, name, () => void ended.push(name))
    const [large, larger, small] = [caller("large"), caller("larger"), caller("small")]
    await reading(reader, large).write(55_000)
    await reading(reader, larger).write(60_000)
    const body = reading(reader, small)
    await body.write(50_000)
    await body.end()
    assert.deepStrictEqual(ended, ["larger"])
    assert.deepStrictEqual(tags(body.bodies), ["Complete"])
    small.close()
    large.close()
    assert.strictEqual(budget.held("rpc_bodies"), 0)
  })

  it("reads slowly from a caller that holds more than others while room is short", async () => {
    const memory = memoryOf(1_000_000)
    const stream = new PassThrough()
    const counted: BodyMemory = {
      take: (kind, bytes) => memory.take(kind, bytes),
      give: (kind, bytes) => memory.give(kind, bytes),
      isTight: () => true
    }
    new BodyReader(1_000_000).read(stream, counted, () => {})
    stream.write("a")
    await new Promise((resolve) => setImmediate(resolve))
    assert.isFalse(stream.isPaused())
    const resumed = new Promise<number>((resolve) => stream.once("resume", () => resolve(performance.now())))
    const since = performance.now()
    stream.write(Buffer.alloc(20_000))
    // A pause of 20 ms: a turn of the event loop, which others wait for, may take as long on a busy machine.
    assert.isAtLeast(await resumed - since, 15)
  })

  it("reads pieces of a few long bodies in each turn of the event loop, and short ones at once", async () => {
    const reader = new BodyReader(1_000_000)
    const begin = (bytes: number) => {
      const stream = new PassThrough()
      reader.read(stream, PLENTY, () => {})
      stream.write(Buffer.alloc(bytes))
      return stream
    }
    const long = Array.from({ length: 10 }, () => begin(20_000))
    const short = begin(10_000)
    await new Promise((resolve) => process.nextTick(resolve))
    assert.isTrue(long.every((stream) => stream.isPaused()))
    assert.isFalse(short.isPaused())
    const waiting: Array<number> = []
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      waiting.push(long.filter((stream) => stream.isPaused()).length)
    }
    assert.deepStrictEqual(waiting, [6, 2, 0])
  })
})
