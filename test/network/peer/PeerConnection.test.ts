import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, TestClock } from "effect"
import { createServer, type Socket } from "node:net"
import { MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import { turnOfEventLoop } from "../../../src/base/turnOfEventLoop.ts"
import type { MessageTable } from "../../../src/network/messageTable.ts"
import type { Disconnection, Peer, PeerHandler } from "../../../src/network/Peer.ts"
import { Pace } from "../../../src/network/peer/Pace.ts"
import {
  type ConnectionContext,
  type ConnectionFacts,
  OUTBOX_LIMITS,
  PeerConnection
} from "../../../src/network/peer/PeerConnection.ts"
import { Turns } from "../../../src/network/peer/Turns.ts"
import { encodeFrame } from "../../../src/network/wire/framing.ts"
import { encodeMessage, type Message } from "../../../src/network/wire/message.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { eventually, inTime, pause, settled } from "../../support/eventually.ts"
import { ampleBudget } from "../../support/memory.ts"
import { type RemotePeer, remotePeer, versionMessage } from "../../support/network.ts"
import { messagesTo } from "../../support/receive.ts"

/** A connection and its remote end. */
interface Pair {
  readonly connection: PeerConnection
  readonly remote: RemotePeer
  readonly ended: Effect.Effect<Disconnection>
  readonly fiber: Fiber.RuntimeFiber<Disconnection>
  /** The peer after the handshake. */
  readonly opened: Effect.Effect<Peer>
  readonly context: ConnectionContext
}

const UP: ConnectionFacts["introduction"] = {
  services: 0x409n,
  userAgent: "/svcd:test/",
  startHeight: 7,
  nonce: 99n,
  isOwnNonce: () => false,
  nearTip: false
}

/** A handler of peers and of all their messages. */
interface TestHandler extends PeerHandler {
  readonly received: (peer: Peer, message: Message) => Effect.Effect<void>
}

interface PairOptions {
  readonly handlers?: ReadonlyArray<TestHandler>
  /** Gives each message to the handlers by default. */
  readonly messages?: MessageTable
  readonly facts?: Partial<ConnectionFacts>
  readonly outbox?: ConnectionContext["outbox"]
  readonly pace?: Pace
  readonly budget?: MemoryBudget
  /** The time measurement; it stands still by default. */
  readonly meter?: () => number
  readonly pardoned?: (reason: string) => void
}

const pair = (options: PairOptions = {}) =>
  Effect.gen(function*() {
    const { handlers = [] } = options
    const arrived = yield* Deferred.make<Socket>()
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const listener = createServer((socket) => Deferred.unsafeDone(arrived, Effect.succeed(socket)))
        listener.listen(0, "127.0.0.1", () => resume(Effect.succeed(listener)))
      }),
      (listener) => Effect.sync(() => listener.close())
    )
    const bound = server.address()
    const remote = yield* remotePeer(typeof bound === "object" && bound !== null ? bound.port : 0)
    let nonce = 0n
    const context: ConnectionContext = {
      magic: regtest.magic,
      handlers,
      messages: options.messages ?? messagesTo((peer, message) =>
        Effect.forEach(handlers, ({ received }) => received(peer, message), { discard: true })
      ),
      totals: { sent: 0, received: 0 },
      nonce: () => ++nonce,
      outbox: options.outbox ?? OUTBOX_LIMITS,
      pace: options.pace ?? new Pace(0),
      turns: new Turns(() => 0),
      meter: options.meter ?? (() => 0),
      budget: options.budget ?? ampleBudget(),
      peerTimeout: 60_000,
      pardoned: (_, offence) => void options.pardoned?.(offence.reason)
    }
    const connection = yield* PeerConnection.make(yield* Deferred.await(arrived), {
      id: peerId(1),
      type: "inbound",
      address: { network: "ipv4", bytes: Uint8Array.of(127, 0, 0, 1) },
      port: 1234,
      name: "127.0.0.1:1234",
      permissions: new Set(),
      bind: undefined,
      expectedServices: 0n,
      introduction: UP,
      ...options.facts
    }, context)
    const opened = yield* Deferred.make<Peer>()
    const fiber = yield* Effect.fork(connection.run((peer) => Effect.asVoid(Deferred.succeed(opened, peer))))
    const made: Pair = {
      connection,
      remote,
      context,
      fiber,
      ended: inTime(Fiber.join(fiber), "the end of the connection"),
      opened: inTime(Deferred.await(opened), "the handshake")
    }
    return made
  })

/** A pair after its handshake. */
const openPair = (options: PairOptions = {}) =>
  Effect.gen(function*() {
    const made = yield* pair(options)
    yield* made.remote.call({ features: [{ type: "wtxidrelay" }, { type: "sendaddrv2" }] })
    yield* made.remote.expect("ping")
    return made
  })

/** A handler that records its calls. */
const recorder = (changes: Partial<TestHandler> = {}) => {
  const heard: Array<string> = []
  const handler: TestHandler = {
    connected: () => Effect.sync(() => void heard.push("connected")),
    received: (_, message) => Effect.sync(() => void heard.push(message.type)),
    gone: () => Effect.sync(() => void heard.push("gone")),
    ...changes
  }
  return { heard, handler }
}

describe("PeerConnection", () => {
  it.scoped("an inbound connection completes the handshake in order, then pings", () =>
    Effect.gen(function*() {
      const { opened, remote } = yield* pair()
      const theirs = yield* remote.call({ features: [{ type: "wtxidrelay" }, { type: "sendaddrv2" }] })
      assert.strictEqual(theirs.version, 110_016)
      assert.strictEqual(theirs.services, 0x409n)
      assert.strictEqual(theirs.startHeight, 7)
      assert.strictEqual(theirs.sender?.nonce, 99n)
      const peer = yield* opened
      assert.isTrue(peer.hello.wtxidRelay)
      assert.isTrue(peer.hello.addrV2)
      yield* remote.expect("ping")
      assert.deepStrictEqual(
        remote.received.map(({ type }) => type),
        ["version", "wtxidrelay", "sendaddrv2", "verack", "ping"]
      )
    }))

  it.scoped("an outbound connection sends version first, and nothing more before an answer", () =>
    Effect.gen(function*() {
      const { opened, remote } = yield* pair({ facts: { type: "outbound-full-relay" } })
      yield* remote.expect("version")
      yield* remote.send(versionMessage({ version: 70_015 }))
      yield* remote.expect("verack")
      assert.deepStrictEqual(remote.received.map(({ type }) => type), ["version", "verack"])
      yield* remote.send({ type: "verack" })
      assert.strictEqual((yield* opened).hello.commonVersion, 70_015)
    }))

  it.scoped("messages before the handshake are ignored, even misbehaviour", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder()
      const { remote } = yield* pair({ handlers: [handler] })
      yield* remote.send({ type: "verack" }, { type: "ping", nonce: 5n }, { type: "mempool" })
      yield* remote.sendBytes(encodeFrame(regtest.magic, "inv", [Uint8Array.of(0xfe, 0xff, 0xff, 0xff, 0)]))
      yield* remote.send(versionMessage(), { type: "ping", nonce: 6n }, { type: "getaddr" }, { type: "verack" })
      yield* remote.alive
      assert.strictEqual(remote.count("pong"), 1)
      assert.deepStrictEqual(heard, ["connected"])
    }))

  it.scoped("messages are passed on in order; a second version, a second verack and unknown commands are ignored", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder()
      const { remote } = yield* openPair({ handlers: [handler] })
      const unknown: Message = { type: "unknown", command: "frobnicate", payload: Uint8Array.of(1) }
      yield* remote.send(versionMessage(), { type: "verack" }, unknown, { type: "getaddr" }, {
        type: "notfound",
        items: []
      })
      yield* remote.alive
      assert.strictEqual(remote.count("version"), 1)
      assert.deepStrictEqual(heard, ["connected", "getaddr", "notfound"])
    }))

  it.scoped("the features that the peer requests are recorded", () =>
    Effect.gen(function*() {
      const { opened, remote } = yield* openPair()
      yield* remote.send(
        { type: "sendheaders" },
        { type: "feefilter", feeRate: 100_000 },
        { type: "sendcmpct", highBandwidth: true, version: 2n },
        { type: "sendcmpct", highBandwidth: false, version: 1n }
      )
      yield* remote.alive
      assert.deepStrictEqual((yield* opened).features, {
        sendHeaders: true,
        feeFilter: 100_000,
        compactBlocks: "high-bandwidth",
        relay: true,
        bloom: undefined
      })
    }))

  const disconnecting: ReadonlyArray<readonly [string, Message, boolean]> = [
    ["wtxidrelay after verack", { type: "wtxidrelay" }, false],
    ["sendaddrv2 after verack", { type: "sendaddrv2" }, false],
    ["filterload", { type: "filterload", filter: new Uint8Array(3), hashFunctions: 1, tweak: 0, flags: 0 }, false],
    ["filteradd", { type: "filteradd", data: new Uint8Array(3) }, false],
    ["filterclear", { type: "filterclear" }, false],
    ["getcfilters", { type: "getcfilters", filterType: 0, startHeight: 0, stopHash: new Uint8Array(32) }, false],
    [
      "an inventory that is too long",
      { type: "inv", items: Array.from({ length: 50_001 }, () => ({ type: 2, hash: new Uint8Array(32) })) },
      true
    ],
    [
      "a locator that is too long",
      {
        type: "getheaders",
        version: 1,
        locator: Array.from({ length: 102 }, () => new Uint8Array(32)),
        stop: new Uint8Array(32)
      },
      false
    ]
  ]
  for (const [what, message, misbehaving] of disconnecting) {
    it.scoped(`the peer is disconnected for ${what}, ${misbehaving ? "as misbehaving" : "not as misbehaving"}`, () =>
      Effect.gen(function*() {
        const { ended, remote } = yield* openPair()
        yield* remote.send(message)
        assert.strictEqual((yield* ended).misbehaving, misbehaving)
        yield* remote.disconnected
      }))
  }

  it.scoped("a message that is invalid or has a wrong checksum is dropped and counted", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder()
      const { connection, remote } = yield* openPair({ handlers: [handler] })
      const wrong = encodeFrame(regtest.magic, "getaddr", [])
      wrong[23] = (wrong[23] ?? 0) ^ 1
      yield* remote.sendBytes(wrong)
      yield* remote.sendBytes(encodeFrame(regtest.magic, "tx", [new Uint8Array(2)]))
      // Longer than any valid `getaddr`.
      yield* remote.sendBytes(encodeFrame(regtest.magic, "getaddr", [new Uint8Array(0x20001)]))
      yield* remote.alive
      assert.strictEqual(connection.counters.dropped, 3)
      assert.deepStrictEqual(heard, ["connected"])
    }))

  const fatal: ReadonlyArray<readonly [string, (frame: Uint8Array) => void]> = [
    ["a wrong magic", (frame) => frame.set([1], 0)],
    ["a length above 32 MiB", (frame) => frame.set([1, 0, 0, 2], 16)],
    ["a length of 4 GiB", (frame) => frame.set([255, 255, 255, 255], 16)]
  ]
  for (const [what, spoil] of fatal) {
    it.scoped(`the peer is disconnected for a frame with ${what}, before and after the handshake`, () =>
      Effect.gen(function*() {
        for (const make of [pair(), openPair()]) {
          const { ended, remote } = yield* make
          const frame = encodeFrame(regtest.magic, "ping", [new Uint8Array(8)])
          spoil(frame)
          yield* remote.sendBytes(frame)
          assert.isFalse((yield* ended).misbehaving)
          yield* remote.disconnected
        }
      }))
  }

  it.scoped("a long message that arrives together with verack is accepted, and one before it is not", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder()
      const { connection, remote } = yield* pair({ handlers: [handler] })
      const items = Array.from({ length: 1_000 }, () => ({ type: 1, hash: new Uint8Array(32) }))
      yield* remote.send(versionMessage(), { type: "inv", items })
      yield* remote.expect("verack")
      assert.strictEqual(connection.counters.dropped, 1)
      const frames: ReadonlyArray<Message> = [{ type: "verack" }, { type: "inv", items }]
      yield* remote.sendBytes(Buffer.concat(frames.map((message) => encodeMessage(regtest.magic, message))))
      yield* remote.alive
      assert.deepStrictEqual(heard, ["connected", "inv"])
    }))

  it.scoped("messages in pieces of one byte are accepted", () =>
    Effect.gen(function*() {
      const { remote } = yield* openPair()
      const frame = encodeFrame(regtest.magic, "ping", [Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)])
      for (const byte of frame) {
        yield* remote.sendBytes(Uint8Array.of(byte))
        yield* turnOfEventLoop
      }
      yield* remote.expect("pong", ({ nonce }) => nonce === 0x0807060504030201n)
    }))

  it.scoped("the connection ends when the peer disconnects within a frame, after all complete messages were handled", () =>
    Effect.gen(function*() {
      for (const cut of [3, 10, 23, 24, 30]) {
        const { handler, heard } = recorder()
        const { ended, remote } = yield* openPair({ handlers: [handler] })
        yield* remote.send({ type: "getaddr" })
        yield* remote.sendBytes(encodeFrame(regtest.magic, "tx", [new Uint8Array(100)]).subarray(0, cut))
        yield* Effect.sync(() => remote.socket.end())
        yield* ended
        assert.deepStrictEqual(heard, ["connected", "getaddr", "gone"])
      }
    }))

  it.scoped("handlers are not notified of a peer that never completed its handshake", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder()
      const { ended, remote } = yield* pair({ handlers: [handler] })
      yield* remote.send(versionMessage())
      yield* remote.expect("verack")
      yield* remote.close
      yield* ended
      assert.deepStrictEqual(heard, [])
    }))

  it.scoped("a defect of a handler ends the connection, and every handler is notified", () =>
    Effect.gen(function*() {
      const broken = recorder({ received: () => Effect.dieMessage("boom") })
      const throwing = recorder({
        gone: () => {
          throw new Error("boom")
        }
      })
      const fine = recorder()
      const { ended, remote } = yield* openPair({ handlers: [throwing.handler, broken.handler, fine.handler] })
      yield* remote.send({ type: "getaddr" })
      assert.deepStrictEqual(yield* ended, { reason: "internal error", misbehaving: false })
      assert.deepStrictEqual(throwing.heard, ["connected", "getaddr"])
      assert.deepStrictEqual(broken.heard, ["connected", "gone"])
      assert.deepStrictEqual(fine.heard, ["connected", "gone"])
      yield* remote.disconnected
    }))

  it.scoped("a handler disconnects its peer once", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder({
        received: (peer) =>
          Effect.sync(() => {
            peer.disconnect({ reason: "first", misbehaving: true })
            peer.disconnect({ reason: "second", misbehaving: false })
            peer.post({ type: "getaddr" })
          })
      })
      const { ended, remote } = yield* openPair({ handlers: [handler] })
      yield* remote.send({ type: "getaddr" }, { type: "getaddr" })
      assert.deepStrictEqual(yield* ended, { reason: "first", misbehaving: true })
      assert.deepStrictEqual(heard, ["connected", "gone"])
    }))

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

  it.scoped("bytes and messages of both directions are counted", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const { connection, context, remote } = yield* openPair()
      yield* remote.send({ type: "unknown", command: "whatever", payload: new Uint8Array(10) })
      yield* remote.alive
      const { bytesReceived, bytesSent, receivedByCommand, sentByCommand } = connection.counters
      assert.strictEqual(bytesSent, remote.bytesReceived)
      assert.strictEqual(sentByCommand.get("pong"), 32)
      assert.strictEqual(receivedByCommand.get("*other*"), 34)
      assert.strictEqual(receivedByCommand.get("ping"), 32)
      assert.strictEqual([...receivedByCommand.values()].reduce((a, b) => a + b), bytesReceived)
      assert.strictEqual([...sentByCommand.values()].reduce((a, b) => a + b), bytesSent)
      assert.deepStrictEqual(context.totals, { sent: bytesSent, received: bytesReceived })
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

  it.scoped("interruption closes the socket and notifies the handlers", () =>
    Effect.gen(function*() {
      const { handler, heard } = recorder()
      const { fiber, remote } = yield* openPair({ handlers: [handler] })
      yield* inTime(Fiber.interrupt(fiber), "the interruption")
      yield* remote.disconnected
      assert.deepStrictEqual(heard, ["connected", "gone"])
    }))

  it.scoped("the handshake times out after 60 seconds", () =>
    Effect.gen(function*() {
      const { connection, ended, remote } = yield* pair()
      yield* remote.send(versionMessage())
      yield* remote.expect("verack")
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(connection.closed)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* ended).reason, "handshake timeout")
    }))

  it.scoped("the connection pings every two minutes and measures the answers", () =>
    Effect.gen(function*() {
      const { opened, remote } = yield* openPair()
      const first = remote.received.find((message) => message.type === "ping")
      const peer = yield* opened
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual(peer.latency.waiting, 50_000)
      yield* remote.send({ type: "pong", nonce: first?.nonce ?? 0n })
      yield* remote.alive
      assert.deepStrictEqual(peer.latency, { last: 50_000, best: 50_000, waiting: undefined })
      yield* TestClock.adjust("69 seconds")
      assert.strictEqual(remote.count("ping"), 1)
      yield* TestClock.adjust("20 seconds")
      const { nonce } = yield* remote.expect("ping")
      yield* remote.send({ type: "pong", nonce: (nonce ?? 0n) + 1n }, { type: "pong", nonce: nonce ?? 0n })
      yield* remote.alive
      assert.deepStrictEqual(peer.latency, { last: 19_000, best: 19_000, waiting: undefined })
    }))

  it.scoped("a pong waits until what the peer sent before has its effect, and the peer is read meanwhile", () =>
    Effect.gen(function*() {
      const through = yield* Deferred.make<void>()
      const { handler, heard } = recorder({ settled: () => Deferred.await(through) })
      const { remote } = yield* openPair({ handlers: [handler] })
      yield* remote.send({ type: "ping", nonce: 5n }, { type: "ping", nonce: 6n }, { type: "getaddr" })
      yield* eventually("the next message", () => heard.includes("getaddr"))
      assert.strictEqual(remote.count("pong"), 0)
      yield* Deferred.succeed(through, undefined)
      yield* remote.expect("pong")
      yield* remote.expect("pong")
      const nonces = remote.received.flatMap((message) => message.type === "pong" ? [message.nonce] : [])
      assert.deepStrictEqual(nonces, [5n, 6n])
    }))

  it.scoped("a peer that sends data but answers no ping for 20 minutes is disconnected", () =>
    Effect.gen(function*() {
      const { connection, ended, remote } = yield* openPair()
      for (let minute = 0; minute < 19; minute++) {
        yield* TestClock.adjust("1 minutes")
        yield* remote.alive
      }
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(connection.closed)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* ended).reason, "timeout: no pong for 20 minutes")
    }))

  it.scoped("a peer without pong support that sends nothing for 20 minutes is disconnected, and not sooner", () =>
    Effect.gen(function*() {
      const { connection, ended, remote } = yield* pair()
      yield* remote.call({ version: { version: 60_000 } })
      assert.isUndefined((yield* remote.expect("ping")).nonce)
      yield* TestClock.adjust("1199 seconds")
      assert.isFalse(connection.closed)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* ended).reason, "timeout: nothing received for 20 minutes")
    }))
})
