import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope, TestClock } from "effect"
import { connect, type Socket } from "node:net"
import type { PeerHandler } from "../../src/network/Peer.ts"
import { parseEndpoint } from "../../src/network/wire/addressText.ts"
import { encodeFrame } from "../../src/network/wire/framing.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { eventually, inTime, settled } from "../support/eventually.ts"
import { freePort } from "../support/Loopback.ts"
import { remoteListener, type RemotePeer, remotePeer, versionMessage } from "../support/network.ts"
import { memoryStore, NO_INFO, testNetwork } from "../support/peerManager.ts"
import { messagesTo } from "../support/receive.ts"
import { calls, connectTo, untilPeers } from "./managedPeers.ts"

const WARNED = "misbehaving peer not disconnected: it has the noban permission"

describe("PeerManager: inbound", () => {
  it.scoped("the manager admits, lists, counts and logs inbound peers", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({
        listening: true,
        userAgentComments: ["unit"],
        party: { startHeight: () => 12 }
      })
      const remote = yield* remotePeer(network.port)
      const theirs = yield* remote.call({ version: { userAgent: "/evil\n<b>:1/", startHeight: 33 } })
      assert.match(theirs.userAgent ?? "", /^\/svcd:[0-9.]+\(unit\)\/$/)
      assert.strictEqual(theirs.startHeight, 12)
      yield* untilPeers(network, 1)
      const [info] = yield* network.manager.peers
      assert.strictEqual(info?.peer.name, `127.0.0.1:${remote.socket.localPort}`)
      assert.strictEqual(info?.peer.bind, `127.0.0.1:${network.port}`)
      assert.deepStrictEqual(yield* network.manager.count, { inbound: 1, outbound: 0 })
      assert.deepStrictEqual(calls(network, "peer connected"), [{
        level: "INFO",
        message: "peer connected",
        facts: {
          subsystem: "network",
          peer: info?.peer.name,
          direction: "inbound",
          type: "inbound",
          userAgent: "/evilb:1/",
          version: 110_016,
          height: 33
        }
      }])
      yield* Effect.sync(() => remote.socket.end())
      yield* untilPeers(network, 0)
      assert.strictEqual(calls(network, "peer disconnected")[0]?.facts["reason"], "the peer closed the connection")
      const { received, sent } = yield* network.manager.totals
      assert.isAbove(received, 100)
      assert.isAbove(sent, 100)
    }))

  it.scoped("the manager listens on IPv4 and IPv6 if no host is given", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const network = yield* testNetwork({ listen: { host: "", port } })
      yield* (yield* remotePeer(port, { host: "127.0.0.1" })).call()
      yield* (yield* remotePeer(port, { host: "::1" })).call()
      yield* untilPeers(network, 2)
      const names = (yield* network.manager.peers).map(({ peer }) => peer.address.network)
      assert.deepStrictEqual(names, ["ipv4", "ipv6"])
    }))

  it.scoped("the manager fails if it cannot listen", () =>
    Effect.gen(function*() {
      const first = yield* testNetwork({ listening: true })
      const error = yield* Effect.flip(testNetwork({ listen: { host: "127.0.0.1", port: first.port } }))
      assert.strictEqual(error._tag, "BindFailed")
      assert.include(error.message, `127.0.0.1:${first.port}`)
      assert.include(error.message, "in use")
    }))

  it.scoped("the manager keeps maxPeers, and reserves at least one slot for inbound peers", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true, maxPeers: 3 })
      const remotes: Array<RemotePeer> = []
      for (let i = 0; i < 6; i++) remotes.push(yield* remotePeer(network.port))
      yield* eventually("all but one are refused", () => remotes.filter(({ closed }) => closed).length === 5)
      yield* remotes.find(({ closed }) => !closed)?.call() ?? Effect.void
      yield* untilPeers(network, 1)
    }))

  it.scoped("the manager neither listens nor connects with maxPeers 0", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const network = yield* testNetwork({
        listening: true,
        maxPeers: 0,
        bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }],
        resolve: () => Effect.dieMessage("DNS was asked")
      })
      yield* network.manager.connectOnce(`127.0.0.1:${listener.port}`)
      yield* TestClock.adjust("2 minutes")
      yield* settled("no connection", () => listener.connections.length)
      assert.strictEqual(listener.connections.length, 0)
      assert.isFalse(yield* network.manager.lonely)
      const refused = yield* Effect.async<boolean>((resume) => {
        const socket = connect(network.port, "127.0.0.1")
        socket.on("error", () => resume(Effect.succeed(true))).on("connect", () => resume(Effect.succeed(false)))
      })
      assert.isTrue(refused)
    }))

  it.scoped("a new peer evicts one inbound peer, and never more, when all slots are taken", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true, maxInbound: 60 })
      const remotes: Array<RemotePeer> = []
      for (let i = 0; i < 60; i++) remotes.push(yield* connectTo(network))
      yield* untilPeers(network, 60)
      yield* connectTo(network)
      yield* eventually("one is evicted", () => remotes.some(({ closed }) => closed))
      yield* untilPeers(network, 60)
      assert.strictEqual(remotes.filter(({ closed }) => closed).length, 1)
    }))

  it.scoped("the manager refuses banned addresses, and disconnects a peer when its address is banned", () =>
    Effect.gen(function*() {
      let saved = 0
      const store = memoryStore({ save: Effect.sync(() => void (saved += 1)) })
      const network = yield* testNetwork({ listening: true, party: { store } })
      const stays = yield* connectTo(network, "127.0.0.1")
      const goes = yield* connectTo(network, "127.0.5.1")
      assert.strictEqual(yield* network.manager.ban("127.0.5.0/24", 1_000), "banned")
      assert.strictEqual(yield* network.manager.ban("127.0.5.0/24", 1_000), "already")
      assert.strictEqual(yield* network.manager.ban("nonsense", 1_000), "invalid")
      yield* goes.disconnected
      yield* (yield* remotePeer(network.port, { from: "127.0.5.9" })).disconnected
      yield* stays.alive
      assert.deepStrictEqual((yield* network.manager.bans).map(({ subnet }) => subnet), ["127.0.5.0/24"])
      assert.strictEqual(yield* network.manager.unban("127.0.5.0/24"), "unbanned")
      yield* connectTo(network, "127.0.5.9")
      assert.isAbove(saved, 1)
    }))

  it.scoped("the manager admits discouraged addresses only while there is room", () =>
    Effect.gen(function*() {
      const store = memoryStore()
      store.bans.discourage({ network: "ipv4", bytes: Uint8Array.of(127, 0, 0, 9) })
      const network = yield* testNetwork({ listening: true, maxInbound: 3, party: { store } })
      yield* connectTo(network, "127.0.0.9")
      yield* connectTo(network)
      yield* (yield* remotePeer(network.port, { from: "127.0.0.9" })).disconnected
      yield* connectTo(network)
      yield* untilPeers(network, 3)
    }))

  it.scoped("a peer with noban connects from a banned address, and stays when it misbehaves", () =>
    Effect.gen(function*() {
      const noban = { permissions: ["noban", "download"] as const, implicit: false }
      const port = yield* freePort
      const network = yield* testNetwork({
        listening: true,
        whitelist: [{ ...noban, inbound: true, outbound: false, net: "127.0.5.0/24" }],
        whitebind: [{ permissions: ["addr"], implicit: false, address: { host: "127.0.0.1", port } }],
        party: {
          messages: messagesTo((peer) => Effect.sync(() => peer.disconnect({ reason: "bad", misbehaving: true })))
        }
      })
      yield* network.manager.ban("127.0.5.1", 1_000)
      const trusted = yield* connectTo(network, "127.0.5.1")
      yield* trusted.send({ type: "getaddr" })
      yield* trusted.alive
      const bound = yield* remotePeer(port)
      yield* bound.call()
      yield* untilPeers(network, 2)
      assert.deepStrictEqual((yield* network.manager.peers).map(({ peer }) => [...peer.permissions]), [
        ["noban", "download"],
        ["addr"]
      ])
      yield* eventually("a warning", Effect.sync(() => calls(network, WARNED).length === 1))
      assert.isFalse(network.store.bans.isDiscouraged({ network: "ipv4", bytes: Uint8Array.of(127, 0, 5, 1) }))
      yield* bound.send({ type: "getaddr" })
      yield* bound.disconnected
    }))

  it.scoped("the manager continues under 200 connections that send garbage", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true })
      const open: Array<Socket> = []
      for (let i = 0; i < 200; i++) {
        const socket = connect(network.port, "127.0.0.1")
        socket.on("error", () => {})
        const bytes = new Uint8Array(1 + i * 3).map((_, at) => (at * 7 + i * 13) & 0xff)
        if (i % 4 === 0) bytes.set(regtest.magic.subarray(0, bytes.length))
        socket.write(bytes)
        if (i % 3 === 0) socket.destroy()
        else open.push(socket)
      }
      const honest = yield* connectTo(network)
      yield* honest.alive
      for (const socket of open) socket.destroy()
      yield* untilPeers(network, 1)
      assert.deepStrictEqual(yield* network.manager.count, { inbound: 1, outbound: 0 })
    }))

  it.scoped("the manager holds little memory for peers that announce 32 MiB and send nothing", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true })
      const before = process.memoryUsage().arrayBuffers
      for (let i = 0; i < 40; i++) {
        const remote = yield* connectTo(network)
        const frame = encodeFrame(regtest.magic, "block", [new Uint8Array(10)])
        new DataView(frame.buffer).setUint32(16, 0x02000000, true)
        yield* remote.sendBytes(frame)
        yield* Effect.sync(() => remote.received.splice(0))
      }
      yield* settled("the announcements are read", () => process.memoryUsage().arrayBuffers)
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 40_000_000)
    }))
})

describe("PeerManager: automatic outbound peers", () => {
  /** Loopback addresses for the book, all on one port. */
  const bookOf = (port: number, count: number, services = 0x409n) => {
    const store = memoryStore()
    const addresses = Array.from({ length: count }, (_, i) => ({
      address: { network: "ipv4" as const, bytes: Uint8Array.of(127, 0, 1, i + 1) },
      port,
      services,
      time: 0
    }))
    store.book.add(addresses, { seed: "test" }, { now: 0 })
    return store
  }

  const everywhere = remoteListener({ host: "0.0.0.0" })

  it.scoped("the manager selects one address per group, records it as tried, and disconnects a peer without the required services", () =>
    Effect.gen(function*() {
      const listener = yield* everywhere
      const store = bookOf(listener.port, 5)
      const network = yield* testNetwork({ party: { store, nearTip: () => false } })
      assert.isTrue(yield* network.manager.lonely)
      yield* TestClock.adjust("1 seconds")
      const first = yield* listener.accept
      yield* first.answer({ version: { services: 0x408n } }).pipe(Effect.catchAllDefect(() => Effect.void))
      yield* first.disconnected
      yield* TestClock.adjust("5 seconds")
      const second = yield* listener.accept
      const theirs = yield* second.answer()
      assert.isTrue(theirs.relay)
      yield* untilPeers(network, 1)
      const [info] = yield* network.manager.peers
      assert.strictEqual(info?.peer.type, "outbound-full-relay")
      const tried = store.book.all().filter((entry) => entry.tried)
      assert.strictEqual(tried.length, 1)
      // All other addresses share the group of unroutable addresses.
      yield* TestClock.adjust("30 seconds")
      yield* settled("no connection", () => listener.connections.length)
      assert.strictEqual(listener.connections.length, 2)
    }))

  it.scoped("a misbehaving peer is discouraged, unless it is on this machine", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true })
      const remote = yield* connectTo(network)
      yield* remote.send({
        type: "inv",
        items: Array.from({ length: 50_001 }, () => ({ type: 2, hash: new Uint8Array(32) }))
      })
      yield* remote.disconnected
      yield* untilPeers(network, 0)
      const local = parseEndpoint("127.0.0.1", 1)
      assert.isFalse(local !== undefined && network.store.bans.isDiscouraged(local.address))
    }))

  it.scoped("the manager tries anchors first, without transaction relay, and stores anchors at shutdown", () =>
    Effect.gen(function*() {
      const listener = yield* everywhere
      const anchor = { address: { network: "ipv4" as const, bytes: Uint8Array.of(127, 0, 3, 3) }, port: listener.port }
      const kept: Array<unknown> = []
      const store = memoryStore({ anchors: [anchor], setAnchors: (list) => void kept.push(...list) })
      const scope = yield* Scope.make()
      const network = yield* Scope.extend(testNetwork({ party: { store } }), scope)
      yield* TestClock.adjust("1 seconds")
      const remote = yield* listener.accept
      const theirs = yield* remote.answer()
      assert.isFalse(theirs.relay)
      yield* untilPeers(network, 1)
      assert.strictEqual((yield* network.manager.peers)[0]?.peer.type, "block-relay-only")
      yield* inTime(Scope.close(scope, Exit.void), "the end", 1_000)
      assert.strictEqual(kept.length, 1)
    }))

  it.scoped("the manager does not connect to an address that is not known to offer the required services", () =>
    Effect.gen(function*() {
      const listener = yield* everywhere
      yield* testNetwork({ party: { store: bookOf(listener.port, 3, 0n) } })
      yield* TestClock.adjust("20 seconds")
      yield* settled("no connection", () => listener.connections.length)
      assert.strictEqual(listener.connections.length, 0)
    }))

  it.scoped("the manager queries DNS seeds if no address is known", () =>
    Effect.gen(function*() {
      const listener = yield* everywhere
      const asked: Array<string> = []
      const network = yield* testNetwork({
        network: { ...regtest, defaultP2pPort: listener.port, dnsSeeds: ["one.test.", "two.test."] },
        resolve: (name) =>
          Effect.sync(() => {
            asked.push(name)
            return [`127.0.4.${asked.length}`]
          })
      })
      yield* eventually("the seeds are asked", () => asked.length === 2)
      yield* TestClock.adjust("2 seconds")
      yield* (yield* listener.accept).answer()
      yield* untilPeers(network, 1)
    }))
})

describe("PeerManager: shutdown", () => {
  it.scoped("shutdown frees the port and closes all connections within a second, even if a handler is busy", () =>
    Effect.gen(function*() {
      const busy = yield* Deferred.make<void>()
      const gone: Array<number> = []
      const handler: PeerHandler = {
        connected: () => Effect.void,
        gone: (peer) => Effect.sync(() => void gone.push(peer.id))
      }
      const messages = messagesTo(() => Effect.zipRight(Deferred.succeed(busy, void 0), Effect.never))
      const scope = yield* Scope.make()
      const party = { handlers: [handler], messages }
      const network = yield* Scope.extend(testNetwork({ listening: true, party }), scope)
      const remotes = [yield* connectTo(network), yield* connectTo(network), yield* remotePeer(network.port)]
      yield* remotes[0]?.send({ type: "getaddr" }) ?? Effect.void
      yield* Deferred.await(busy)
      const heard = remotes.map(({ received }) => received.length)
      yield* inTime(Scope.close(scope, Exit.void), "the end", 1_000)
      for (const remote of remotes) yield* remote.disconnected
      assert.deepStrictEqual(gone.sort(), [0, 1])
      assert.deepStrictEqual(remotes.map(({ received }) => received.length), heard)
      yield* testNetwork({ listen: { host: "127.0.0.1", port: network.port } })
    }))

  it.scoped("a version message with another time, or none, affects only its own connection", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true, party: { info: () => NO_INFO } })
      const odd = yield* remotePeer(network.port)
      yield* odd.call({ version: { time: Number.MAX_SAFE_INTEGER, startHeight: -1, services: 2n ** 64n - 1n } })
      yield* untilPeers(network, 1)
      assert.strictEqual((yield* network.manager.peers)[0]?.peer.hello.startHeight, -1)
      const old = yield* remotePeer(network.port)
      yield* old.send(versionMessage({ version: 31_799 }))
      yield* old.disconnected
      const oldest = yield* remotePeer(network.port)
      yield* oldest.call({ version: { version: 31_800 } })
      yield* untilPeers(network, 2)
    }))
})
