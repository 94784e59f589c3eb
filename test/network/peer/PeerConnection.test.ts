import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { encodeFrame } from "../../../src/network/wire/framing.ts"
import { encodeMessage, type Message } from "../../../src/network/wire/message.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { eventually, inTime } from "../../support/eventually.ts"
import { versionMessage } from "../../support/network.ts"
import { openPair, pair, recorder } from "./pairs.ts"

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
