import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, TestClock } from "effect"
import { MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import { Pace } from "../../../src/network/peer/Pace.ts"
import { encodeFrame } from "../../../src/network/wire/framing.ts"
import { encodeMessage, type Message } from "../../../src/network/wire/message.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { eventually, inTime, pause, settled } from "../../support/eventually.ts"
import { versionMessage } from "../../support/network.ts"
import { openPair, pair, recorder, type TestHandler } from "./pairs.ts"

describe("PeerConnection", () => {
  it.scoped("the connection stops reading while a handler is busy, so that the peer must wait", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const { handler, heard } = recorder({ received: () => Deferred.await(go) })
      const { connection, remote } = yield* openPair({ handlers: [handler] })
      const payload = new Uint8Array(100_000)
      const frame = encodeFrame(regtest.magic, "getaddr", [payload])
      for (let i = 0; i < 400; i++) yield* remote.sendBytes(frame)
      yield* settled("nothing more is read", () => connection.counters.bytesReceived)
      assert.isAbove(remote.socket.writableLength, 20_000_000)
      assert.isBelow(connection.counters.bytesReceived, 400_000)
      yield* Deferred.succeed(go, void 0)
      // The time for reading them is measured and charged to the peer.
      yield* Effect.fork(Effect.forever(Effect.zipRight(TestClock.adjust("1 seconds"), pause)))
      yield* remote.alive
      assert.deepStrictEqual(heard, ["connected"])
    }))

  const BLOB: Message = { type: "unknown", command: "blob", payload: new Uint8Array(500_000) }

  it.scoped("a handler waits while the peer does not read its answers, which limits the memory for them", () =>
    Effect.gen(function*() {
      let served = 0
      const { handler } = recorder({
        received: (peer) =>
          Effect.gen(function*() {
            for (let i = 0; i < 100; i++) {
              yield* peer.send(BLOB)
              served += 1
            }
          })
      })
      const { connection, remote } = yield* openPair({ handlers: [handler] })
      remote.socket.pause()
      yield* remote.send({ type: "getaddr" })
      yield* settled("nothing more is served", () => served)
      // The system's buffers add to the soft limit.
      assert.isBelow(served, 40)
      assert.isFalse(connection.closed)
      remote.socket.resume()
      yield* eventually("everything is served", () => remote.bytesReceived > 50_000_000)
      assert.strictEqual(served, 100)
    }))

  it.scoped("a peer is disconnected when posted messages exceed the hard limit", () =>
    Effect.gen(function*() {
      const { ended, opened, remote } = yield* openPair()
      remote.socket.pause()
      const peer = yield* opened
      for (let i = 0; i < 100 && !peer.closed; i++) peer.post(BLOB)
      assert.isTrue(peer.closed)
      assert.isFalse((yield* ended).misbehaving)
    }))

  it.scoped("senders continue when the connection is closed", () =>
    Effect.gen(function*() {
      const { connection, ended, opened, remote } = yield* openPair()
      remote.socket.pause()
      const peer = yield* opened
      const sending = yield* Effect.fork(Effect.forEach(Array.from({ length: 50 }), () => peer.send(BLOB)))
      yield* settled("nothing more is sent", () => connection.counters.bytesSent)
      peer.disconnect({ reason: "enough", misbehaving: false })
      yield* inTime(Fiber.join(sending), "the sender")
      yield* ended
    }))

  /** A pace with its shared part used up, until time passes. */
  const exhausted = Effect.map(Clock.currentTimeNanos, (nanos) => {
    const now = Number(nanos) / 1e6
    const pace = new Pace(now)
    pace.spent(100_000, now)
    return pace
  })
  /** A handler that takes half a millisecond per message, by its own meter. */
  const costly = () => {
    let time = 0
    const { handler, heard } = recorder()
    const received: TestHandler["received"] = (peer, message) => {
      time += 0.5
      return handler.received(peer, message)
    }
    return { heard, handler: { ...handler, received }, meter: () => time }
  }
  const FLOOD: ReadonlyArray<Message> = Array.from({ length: 300 }, () => ({ type: "getaddr" }))

  it.scoped("a flooding peer is throttled within a chunk, and other inbound peers are not", () =>
    Effect.gen(function*() {
      const pace = yield* exhausted
      const { handler, heard, meter } = costly()
      const flooder = yield* openPair({ handlers: [handler], meter, pace })
      const address = { network: "ipv4" as const, bytes: Uint8Array.of(192, 0, 2, 1) }
      const honest = yield* openPair({ pace, facts: { address } })
      yield* TestClock.adjust("250 millis")
      yield* flooder.remote.sendBytes(Buffer.concat(FLOOD.map((message) => encodeMessage(regtest.magic, message))))
      for (let i = 0; i < 10; i++) yield* honest.remote.alive
      const before = heard.length
      assert.isBelow(before, 150)
      yield* TestClock.adjust("1 seconds")
      yield* eventually("the flood continues after a while", () => heard.length > before)
      yield* settled("the flood pauses", () => heard.length)
      assert.isBelow(heard.length, 301)
      for (let i = 0; i < 30; i++) yield* TestClock.adjust("1 seconds")
      yield* eventually("all messages are handled", () => heard.length === 301)
    }))

  it.scoped("a message is charged while it is handled, and its peer waits for its turn", () =>
    Effect.gen(function*() {
      let time = 0
      let steps = 0
      const { handler } = recorder({
        received: (peer) =>
          Effect.repeatN(
            Effect.suspend(() => {
              time += 10
              steps += 1
              return peer.turn
            }),
            99
          )
      })
      const { remote } = yield* openPair({ handlers: [handler], meter: () => time, pace: yield* exhausted })
      yield* TestClock.adjust("250 millis")
      yield* remote.send({ type: "getaddr" })
      yield* eventually("the work begins", () => steps > 0)
      yield* settled("the work pauses", () => steps)
      assert.isBelow(steps, 20)
      const before = steps
      yield* TestClock.adjust("1 seconds")
      yield* eventually("the work continues", () => steps > before)
      for (let i = 0; i < 60; i++) yield* TestClock.adjust("1 seconds")
      yield* eventually("the work is complete", () => steps === 100)
    }))

  it.scoped("a slow handshake does not throttle the peer", () =>
    Effect.gen(function*() {
      let time = 0
      const { handler } = recorder({ connected: () => Effect.sync(() => void (time += 200)) })
      const { remote } = yield* openPair({ handlers: [handler], meter: () => time, pace: yield* exhausted })
      assert.strictEqual(time, 200)
      for (let i = 0; i < 10; i++) yield* remote.alive
    }))

  it.scoped("a message without memory for it is not decoded", () =>
    Effect.gen(function*() {
      const { ended, opened, remote } = yield* openPair({ budget: new MemoryBudget(4_000_000) })
      yield* opened
      // Invalid data, which the decoder would drop without penalty.
      yield* remote.send({ type: "unknown", command: "block", payload: new Uint8Array(200_000) })
      assert.include((yield* ended).reason, "out of memory budget: a message of type block")
    }))

  it.scoped("an outbound peer is not throttled", () =>
    Effect.gen(function*() {
      const { handler, heard, meter } = costly()
      const { remote } = yield* pair({ handlers: [handler], meter, pace: yield* exhausted, facts: { type: "manual" } })
      yield* remote.expect("version")
      yield* remote.send(versionMessage(), { type: "verack" }, ...FLOOD)
      yield* remote.alive
      assert.lengthOf(heard, 301)
    }))

  it.scoped("a disconnection is detected while the peer is throttled", () =>
    Effect.gen(function*() {
      const { handler, heard, meter } = costly()
      const { ended, remote } = yield* openPair({ handlers: [handler], meter, pace: yield* exhausted })
      yield* remote.send(...FLOOD)
      yield* eventually("the flood begins", () => heard.length > 1)
      yield* settled("the flood pauses", () => heard.length)
      yield* Effect.sync(() => remote.socket.end())
      assert.strictEqual((yield* ended).reason, "the peer closed the connection")
      assert.isBelow(heard.length, 60)
    }))

  it.scoped("a requested block is read while the peer is throttled, but not data in front of it", () =>
    Effect.gen(function*() {
      const pace = yield* exhausted
      const { handler, heard, meter } = costly()
      const { opened, remote } = yield* openPair({ handlers: [handler], meter, pace })
      const peer = yield* opened
      const block: Message = { type: "block", block: decodeBlock(regtest.genesisBlock) }
      peer.post({ type: "getdata", items: [{ type: 2, hash: new Uint8Array(32) }] })
      yield* remote.expect("getdata")
      yield* remote.send(block)
      yield* eventually("the block is read", () => heard.includes("block"))
      yield* remote.send(...FLOOD)
      yield* eventually("the flood begins", () => heard.length > 10)
      // The peer is throttled now. A block would be read, but it is behind other data.
      peer.post({ type: "getdata", items: [{ type: 2, hash: new Uint8Array(32) }] })
      yield* remote.expect("getdata")
      yield* settled("the flood pauses", () => heard.length)
      yield* remote.send(block)
      yield* settled("the flood pauses", () => heard.length)
      assert.lengthOf(heard.filter((type) => type === "block"), 1)
      assert.isBelow(heard.length, 60)
    }))

  it.scoped("other fibers get a turn while many short messages are handled", () =>
    Effect.gen(function*() {
      let handled = 0
      const busy = recorder({ received: () => Effect.sync(() => void (handled += 1)) })
      const { remote } = yield* openPair({ handlers: [busy.handler], meter: () => handled })
      let before = 0
      let longest = 0
      const look = (): void => {
        longest = Math.max(longest, handled - before)
        before = handled
        if (handled < 300) setImmediate(look)
      }
      look()
      yield* remote.sendBytes(Buffer.concat(FLOOD.map((each) => encodeMessage(regtest.magic, each))))
      yield* eventually("all are handled", () => handled === 300)
      // A stretch of five milliseconds, by the meter, or two between two checks.
      assert.isBelow(longest, 15)
    }))
})
