import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat } from "../../../src/protocol/bytes.ts"
import { NANOS_PER_MS } from "../virtual/Timeline.ts"
import { SECOND } from "./links.ts"
import type { NetworkTime } from "./Pipe.ts"
import { SimNetwork } from "./SimNetwork.ts"
import type { SimSocket } from "./SimSocket.ts"

const [HERE, THERE] = ["5.9.0.1", "23.88.0.1"]
const PORT = 18_445

/** A clock that a test moves, in whose tasks streams have run their own tasks. */
class ManualTime implements NetworkTime {
  private readonly waiting: Array<{ readonly at: number; readonly task: () => void }> = []
  private nanos = 0

  now = (): number => this.nanos

  after = (nanos: number, task: () => void): () => void => {
    const entry = { at: this.nanos + nanos, task }
    this.waiting.push(entry)
    return () => {
      const index = this.waiting.indexOf(entry)
      if (index >= 0) this.waiting.splice(index, 1)
    }
  }

  /** Runs what is due within some time. */
  async pass(nanos: number): Promise<void> {
    const end = this.nanos + nanos
    for (;;) {
      await new Promise(setImmediate)
      const next = this.waiting.reduce<typeof this.waiting[number] | undefined>(
        (first, each) => first === undefined || each.at < first.at ? each : first,
        undefined
      )
      if (next === undefined || next.at > end) break
      this.waiting.splice(this.waiting.indexOf(next), 1)
      this.nanos = next.at
      next.task()
    }
    this.nanos = end
  }
}

/** A small generator of numbers, seeded by a text. */
const streamOf = (seed: number) => (name: string) => {
  let state = [...name].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), seed ^ 0x811c9dc5)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Read {
  readonly chunks: Array<{ readonly at: number; readonly bytes: Uint8Array }>
  ended: boolean
  closed: boolean
  error: string | undefined
}

/** Reads all of a socket as a peer does: on request. */
const reading = (socket: SimSocket, time: NetworkTime): Read => {
  const read: Read = { chunks: [], ended: false, closed: false, error: undefined }
  socket.on("readable", () => {
    for (;;) {
      const bytes: unknown = socket.read()
      if (!(bytes instanceof Uint8Array)) break
      read.chunks.push({ at: time.now(), bytes })
    }
  })
  socket.on("end", () => {
    read.ended = true
  })
  socket.on("close", () => {
    read.closed = true
  })
  socket.on("error", (error: NodeJS.ErrnoException) => {
    read.error = error.code
  })
  return read
}

const bytesOf = ({ chunks }: Read): Uint8Array => concat(...chunks.map(({ bytes }) => bytes))

/** Bytes whose positions a test can tell. */
const numbered = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) & 0xff)

const worldOf = (seed: number) => {
  const time = new ManualTime()
  const network = new SimNetwork({ time, streamOf: streamOf(seed) })
  const accepted: Array<SimSocket> = []
  network.listen({ host: THERE, port: PORT }, (socket) => accepted.push(socket))
  const failures: Array<string> = []
  const called: Array<SimSocket> = []
  const cancel = network.dial(HERE, { host: THERE, port: PORT }, {
    connected: (socket) => called.push(socket),
    failed: (code) => failures.push(code)
  })
  return { time, network, accepted, called, failures, cancel }
}

/** Both ends of a connection. */
const connected = async (seed: number) => {
  const world = worldOf(seed)
  await world.time.pass(10 * SECOND)
  const [caller] = world.called
  const [listener] = world.accepted
  if (caller === undefined || listener === undefined) throw new Error("the call was not accepted")
  return { ...world, caller, listener }
}

const seeds = FastCheck.nat({ max: 1_000_000 })

/** What happens to the links while bytes are on the way: the time of a cut, and how long it lasts, in milliseconds. */
const cuts = FastCheck.array(FastCheck.tuple(FastCheck.nat({ max: 20_000 }), FastCheck.nat({ max: 60_000 })), {
  maxLength: 4
})

describe("SimNetwork", () => {
  it("bytes arrive whole and in order, whatever cuts the link for a while", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(
        seeds,
        FastCheck.array(FastCheck.nat({ max: 100_000 }), { maxLength: 8 }),
        cuts,
        async (seed, sizes, times) => {
          const { caller, listener, network, time } = await connected(seed)
          const read = reading(listener, time)
          const sent = numbered(sizes.reduce((sum, size) => sum + size, 0))
          let at = 0
          for (const size of sizes) caller.write(sent.subarray(at, at += size))
          caller.end()
          for (const [from, lasting] of times) {
            time.after(from * NANOS_PER_MS, () => {
              const join = network.cut({ from: new Set([HERE]), to: new Set([THERE]) })
              time.after(lasting * NANOS_PER_MS, join)
            })
          }
          await time.pass(600 * SECOND)
          assert.deepStrictEqual(bytesOf(read), sent)
          assert.strictEqual(read.ended, true)
          assert.strictEqual(read.error, undefined)
        }
      ),
      { numRuns: 15 }
    )
  })

  it("a broken connection has delivered a prefix", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(
        seeds,
        FastCheck.nat({ max: 300_000 }),
        FastCheck.nat({ max: 3_000 }),
        async (seed, size, after) => {
          const { caller, listener, network, time } = await connected(seed)
          const read = reading(listener, time)
          const sent = numbered(size)
          caller.write(sent)
          time.after(after * NANOS_PER_MS, () => network.reset(HERE, THERE))
          await time.pass(600 * SECOND)
          const got = bytesOf(read)
          assert.deepStrictEqual(got, sent.subarray(0, got.length))
          assert.strictEqual(read.error, "ECONNRESET")
          assert.strictEqual(read.closed, true)
          assert.strictEqual(network.openAt(HERE), 0)
        }
      ),
      { numRuns: 15 }
    )
  })

  it("one seed gives the same chunks at the same times", async () => {
    const run = async (seed: number) => {
      const { caller, listener, time } = await connected(seed)
      const read = reading(listener, time)
      for (const size of [24, 1_000, 70_000, 3, 40_000]) caller.write(numbered(size))
      await time.pass(600 * SECOND)
      return read.chunks.map(({ at, bytes }) => [at, bytes.length])
    }
    for (const seed of [1, 2, 3, 4]) assert.deepStrictEqual(await run(seed), await run(seed))
    assert.notDeepEqual(await run(1), await run(2))
  })

  it("a reader that does not read holds the writer back", async () => {
    const { caller, listener, time } = await connected(5)
    let taken = 0
    const next = (): void => {
      caller.write(numbered(0x4000), () => {
        taken += 0x4000
        next()
      })
    }
    next()
    await time.pass(600 * SECOND)
    assert.isAtMost(taken, 0x10000 * 4)
    const before = taken
    const read = reading(listener, time)
    await time.pass(10 * SECOND)
    assert.isAbove(taken, before)
    assert.isAbove(bytesOf(read).length, before)
    caller.destroy()
  })

  it("a call over a cut link succeeds after the cut, and otherwise fails after two minutes", async () => {
    const first = worldOf(6)
    const join = first.network.cut({ from: new Set([THERE]), to: undefined })
    await first.time.pass(5 * SECOND)
    assert.strictEqual(first.called.length, 0)
    join()
    await first.time.pass(20 * SECOND)
    assert.strictEqual(first.called.length, 1)

    const second = worldOf(6)
    second.network.cut({ from: undefined, to: new Set([THERE]) })
    await second.time.pass(200 * SECOND)
    assert.deepStrictEqual(second.failures, ["ETIMEDOUT"])
  })

  it("a call is refused where nobody listens, and answers nothing once it was cancelled", async () => {
    const { cancel, called, network, time } = worldOf(7)
    cancel()
    const failures: Array<string> = []
    network.dial(HERE, { host: THERE, port: PORT + 1 }, {
      connected: () => assert.fail("nobody listens"),
      failed: (code) => failures.push(code)
    })
    await time.pass(10 * SECOND)
    assert.deepStrictEqual(failures, ["ECONNREFUSED"])
    assert.strictEqual(called.length, 0)
  })

  it("a host without power leaves half-open connections, and answers with a reset when it is back", async () => {
    const { caller, listener, network, time } = await connected(8)
    const [ours, theirs] = [reading(caller, time), reading(listener, time)]
    network.kill(THERE, false)
    await time.pass(3_600 * SECOND)
    assert.strictEqual(ours.closed, false)
    assert.strictEqual(theirs.closed, false)
    caller.write(numbered(10))
    await time.pass(60 * SECOND)
    assert.strictEqual(ours.closed, false)
    network.listen({ host: THERE, port: PORT }, () => {})
    await time.pass(60 * SECOND)
    assert.strictEqual(ours.error, "ECONNRESET")
  })

  it("a system gives a connection up that nothing answers", async () => {
    const { caller, network, time } = await connected(9)
    const ours = reading(caller, time)
    network.kill(THERE, false)
    caller.write(numbered(10))
    await time.pass(3_600 * SECOND)
    assert.strictEqual(ours.error, "ETIMEDOUT")
  })

  it("a killed process sends what its system has, then the end", async () => {
    const { caller, listener, network, time } = await connected(10)
    const ours = reading(caller, time)
    listener.write(numbered(30_000))
    network.kill(THERE, true)
    await time.pass(60 * SECOND)
    assert.deepStrictEqual(bytesOf(ours), numbered(30_000))
    assert.strictEqual(ours.ended, true)
    assert.strictEqual(ours.closed, true)
    assert.strictEqual(network.openAt(HERE), 0)
    assert.strictEqual(network.openAt(THERE), 0)
  })

  it("bytes that nobody reads are answered with a reset", async () => {
    const { caller, listener, time } = await connected(11)
    caller.write(numbered(200_000))
    await time.pass(60 * SECOND)
    const ours = reading(caller, time)
    listener.destroy()
    await time.pass(60 * SECOND)
    assert.strictEqual(ours.error, "ECONNRESET")
  })

  it("a torn message breaks its connection within it, once", async () => {
    const { accepted, called, caller, listener, network, time } = await connected(12)
    const [ours, theirs] = [reading(caller, time), reading(listener, time)]
    network.links.tear({ from: HERE, to: THERE }, "break")
    listener.write(numbered(1_000))
    caller.write(numbered(100))
    await time.pass(10 * SECOND)
    assert.deepStrictEqual(bytesOf(ours), numbered(1_000))
    assert.deepStrictEqual(bytesOf(theirs), numbered(100))
    caller.write(numbered(1_000))
    caller.write(numbered(100))
    await time.pass(10 * SECOND)
    assert.deepStrictEqual(bytesOf(theirs), concat(numbered(100), numbered(500)))
    assert.strictEqual(ours.error, "ECONNRESET")
    assert.strictEqual(theirs.error, "ECONNRESET")
    network.dial(HERE, { host: THERE, port: PORT }, { connected: (socket) => called.push(socket), failed: assert.fail })
    await time.pass(10 * SECOND)
    const again = accepted[1]
    if (again === undefined) return assert.fail("the second call was not accepted")
    const later = reading(again, time)
    called[1]?.write(numbered(1_000))
    await time.pass(10 * SECOND)
    assert.deepStrictEqual(bytesOf(later), numbered(1_000))
  })

  it("a stalled message goes on when the fault ends, and the connection is steady from then on", async () => {
    const { caller, listener, network, time } = await connected(13)
    const [way, theirs] = [{ from: HERE, to: THERE }, reading(listener, time)]
    const made = network.steadySince(HERE, THERE)
    assert.isDefined(made)
    network.change((links) => links.tear(way, "stall"))
    assert.strictEqual(network.steadySince(THERE, HERE), made)
    caller.write(numbered(1_000))
    await time.pass(60 * SECOND)
    assert.deepStrictEqual(bytesOf(theirs), numbered(500))
    assert.isUndefined(network.steadySince(HERE, THERE))
    network.change((links) => links.tear(way, undefined))
    // From the arrival of what waited.
    const since = network.steadySince(HERE, THERE)
    assert.isDefined(since)
    assert.isAbove(since, time.now())
    await time.pass(10 * SECOND)
    assert.isBelow(since, time.now())
    assert.deepStrictEqual(bytesOf(theirs), numbered(1_000))
  })

  it("gives another free port each time, and none at which somebody listens", () => {
    const network = new SimNetwork({ time: new ManualTime(), streamOf: streamOf(12) })
    const [first = 0, second = 0] = [network.freePort(HERE), network.freePort(HERE)]
    assert.isAbove(second, first)
    network.listen({ host: HERE, port: second + 1 }, () => {})
    assert.strictEqual(network.freePort(HERE), second + 2)
    assert.strictEqual(network.freePort(THERE), first)
  })
})
