import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { createServer } from "node:net"
import { proxyRoutes } from "../../src/config/proxies.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { asleepFor, eventually, settled } from "../support/eventually.ts"
import { remoteListener, remotePeer } from "../support/network.ts"
import { freePort, testNetwork } from "../support/peerManager.ts"
import { messagesTo } from "../support/receive.ts"
import { calls, connectTo, untilPeers } from "./managedPeers.ts"

describe("PeerManager: peers of the operator", () => {
  it.scoped("the manager connects to configured peers, even by host name, and to no others", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const network = yield* testNetwork({
        bootstrapPeers: [{ host: "localhost", port: listener.port }],
        network: { ...regtest, dnsSeeds: ["seed.test."], fixedSeeds: ["192.0.2.1:1"] },
        resolve: () => Effect.dieMessage("DNS was asked")
      })
      assert.isTrue(yield* network.manager.lonely)
      const remote = yield* listener.accept
      yield* remote.answer({ version: { services: 0n } })
      yield* untilPeers(network, 1)
      assert.isFalse(yield* network.manager.lonely)
      assert.strictEqual((yield* network.manager.peers)[0]?.peer.type, "manual")
      assert.deepStrictEqual(yield* network.manager.count, { inbound: 0, outbound: 1 })
      assert.deepStrictEqual(yield* network.manager.added, [{
        node: `localhost:${listener.port}`,
        connected: { address: `localhost:${listener.port}`, inbound: false }
      }])
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(calls(network, "DNS seeds done"), [])
      assert.strictEqual(network.store.book.size, 0)
    }))

  it.scoped("the manager reconnects to a configured peer after 1, 2, 4… up to 60 seconds", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const network = yield* testNetwork({ bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }] })
      const pauses = [1, 2, 4, 8, 16, 32, 60, 60]
      for (const [index, pause] of pauses.entries()) {
        const remote = yield* listener.accept
        yield* remote.expect("version")
        yield* remote.close
        yield* asleepFor(`${pause} seconds`)
        assert.strictEqual(listener.connections.length, index + 1, `before ${pause} s`)
        yield* TestClock.adjust(`${pause} seconds`)
      }
      // A lasting connection resets the pause.
      const good = yield* listener.accept
      yield* good.answer()
      yield* untilPeers(network, 1)
      yield* TestClock.adjust("61 seconds")
      yield* good.close
      yield* untilPeers(network, 0)
      yield* asleepFor("1 seconds")
      yield* TestClock.adjust("1 seconds")
      yield* (yield* listener.accept).answer()
    }))

  it.scoped("the manager warns once about an unreachable peer, and keeps trying", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const network = yield* testNetwork({ bootstrapPeers: [{ host: "127.0.0.1", port }] })
      for (const pause of [1, 2, 4, 8, 16]) {
        yield* asleepFor(`${pause} seconds`)
        yield* TestClock.adjust(`${pause} seconds`)
      }
      yield* asleepFor("32 seconds")
      const warnings = calls(network, "peer cannot be reached").filter(({ level }) => level === "WARN")
      assert.strictEqual(warnings.length, 1)
      assert.strictEqual(warnings[0]?.facts["reason"], "connection refused")
      const listener = yield* remoteListener({ port })
      yield* TestClock.adjust("60 seconds")
      yield* (yield* listener.accept).answer()
      yield* untilPeers(network, 1)
    }))

  it.scoped("the manager times out a connection attempt after 5 seconds, and a handshake after 60", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      yield* testNetwork({ bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }] })
      const remote = yield* listener.accept
      yield* remote.expect("version")
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(remote.closed)
      yield* TestClock.adjust("1 seconds")
      yield* remote.disconnected
    }))

  it.scoped("the manager detects a connection to itself, and never repeats it", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const network = yield* testNetwork({
        listen: { host: "127.0.0.1", port },
        bootstrapPeers: [{ host: "127.0.0.1", port }]
      })
      const itself = "self connection: this peer is the node itself, not connecting again"
      yield* eventually("the node detects itself", () => calls(network, itself).length > 0)
      yield* TestClock.adjust("3 minutes")
      yield* settled("no more is logged", () => network.logs.length)
      assert.strictEqual(calls(network, itself).length, 1)
      assert.strictEqual(calls(network, "peer connected").length, 0)
      assert.isBelow(network.logs.length, 8)
      assert.strictEqual((yield* network.manager.peers).length, 0)
    }))

  it.scoped("a misbehaving manual peer is disconnected, is not discouraged, and is tried again later", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const messages = messagesTo((peer) => Effect.sync(() => peer.disconnect({ reason: "bad", misbehaving: true })))
      const network = yield* testNetwork({
        bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }],
        party: { messages }
      })
      const remote = yield* listener.accept
      yield* remote.answer()
      yield* remote.send({ type: "getaddr" })
      yield* remote.disconnected
      yield* untilPeers(network, 0)
      yield* asleepFor("1 seconds")
      yield* TestClock.adjust("2 seconds")
      yield* (yield* listener.accept).answer()
      assert.isFalse(network.store.bans.isDiscouraged({ network: "ipv4", bytes: Uint8Array.of(127, 0, 0, 1) }))
    }))

  it.scoped("the manager adds, lists and removes peers; the connection of a removed peer stays", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const node = `127.0.0.1:${listener.port}`
      const network = yield* testNetwork()
      assert.isTrue(yield* network.manager.add(node))
      assert.isFalse(yield* network.manager.add(node))
      const remote = yield* listener.accept
      yield* remote.answer()
      yield* untilPeers(network, 1)
      assert.isTrue(yield* network.manager.remove(node))
      assert.isFalse(yield* network.manager.remove(node))
      assert.deepStrictEqual(yield* network.manager.added, [])
      yield* remote.alive
      yield* remote.close
      yield* untilPeers(network, 0)
      yield* TestClock.adjust("61 seconds")
      yield* settled("no connection", () => listener.connections.length)
      assert.strictEqual(listener.connections.length, 1)
      assert.isTrue(yield* network.manager.add("no such: host"))
      assert.deepStrictEqual(yield* network.manager.added, [{ node: "no such: host", connected: undefined }])
    }))

  it.scoped("the manager connects once, disconnects by address and by number, and reports an unknown peer", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const network = yield* testNetwork()
      for (const by of ["name", "id"] as const) {
        yield* network.manager.connectOnce(`127.0.0.1:${listener.port}`)
        const remote = yield* listener.accept
        yield* remote.answer()
        yield* untilPeers(network, 1)
        const [info] = yield* network.manager.peers
        if (info === undefined) return assert.fail("no peer")
        yield* network.manager.disconnect(by === "name" ? { name: info.peer.name } : { id: info.peer.id })
        yield* remote.disconnected
        const error = yield* Effect.flip(network.manager.disconnect({ id: info.peer.id }))
        assert.strictEqual(error._tag, "PeerNotFound")
      }
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(listener.connections.length, 2)
    }))

  it.scoped("disabling the network closes all connections and prevents new ones", () =>
    Effect.gen(function*() {
      const listener = yield* remoteListener()
      const network = yield* testNetwork({
        listening: true,
        bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }]
      })
      const outbound = yield* listener.accept
      yield* outbound.answer()
      const inbound = yield* connectTo(network)
      yield* network.manager.setActive(false)
      yield* outbound.disconnected
      yield* inbound.disconnected
      yield* (yield* remotePeer(network.port)).disconnected
      yield* TestClock.adjust("61 seconds")
      yield* settled("no connection", () => listener.connections.length)
      assert.strictEqual(listener.connections.length, 1)
      yield* network.manager.setActive(true)
      yield* (yield* listener.accept).answer()
      yield* connectTo(network)
    }))

  it.scoped("the manager sends every peer a ping on request", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true })
      const remotes = [yield* connectTo(network), yield* connectTo(network)]
      for (const remote of remotes) yield* remote.expect("ping")
      yield* network.manager.ping
      for (const remote of remotes) yield* remote.expect("ping")
    }))

  it.scoped("the manager connects through a proxy, which gets the host name, and to local peers without it", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const listener = yield* remoteListener()
      const proxyPort = yield* Effect.acquireRelease(
        Effect.async<{ port: number; close: () => void }>((resume) => {
          const server = createServer((socket) => {
            socket.on("error", () => {})
            socket.once("data", () => {
              socket.write(Uint8Array.of(5, 0))
              socket.once("data", (request) => {
                asked.push(request.subarray(5, -2).toString())
                socket.write(Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0))
              })
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const bound = server.address()
            const port = typeof bound === "object" && bound !== null ? bound.port : 0
            resume(Effect.succeed({ port, close: () => server.close() }))
          })
        }),
        ({ close }) => Effect.sync(close)
      )
      const network = yield* testNetwork({
        bootstrapPeers: [{ host: "hidden.example", port: 8334 }, { host: "127.0.0.1", port: listener.port }],
        proxies: proxyRoutes({
          proxy: [{ proxy: { host: "127.0.0.1", port: proxyPort.port }, network: undefined }],
          onion: "off"
        })
      })
      yield* eventually("the proxy is asked", () => asked.length > 0)
      // A proxy cannot reach a peer on this machine.
      yield* (yield* listener.accept).answer()
      assert.deepStrictEqual(asked, ["hidden.example"])
      const shown = { address: `127.0.0.1:${proxyPort.port}`, randomize: true }
      assert.deepStrictEqual(network.manager.proxyTo("ipv4"), shown)
      assert.isUndefined(network.manager.proxyTo("onion"))
    }))
})
