import { assert, describe } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { proxyRoutes } from "../../src/config/proxies.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { eventually } from "../support/eventually.ts"
import { freePort, Loopback } from "../support/Loopback.ts"
import { type RemoteListener, remoteListener, remotePeer } from "../support/network.ts"
import { testNetwork } from "../support/peerManager.ts"
import { messagesTo } from "../support/receive.ts"
import { pass, simulated } from "../support/simulated.ts"
import { calls, connectTo, untilPeers } from "./managedPeers.ts"

/** Waits for the next call, which comes after a pause of some seconds: a closed connection and a call take less than one. */
const nextCall = ({ accept, connections }: RemoteListener, pause: number) =>
  Effect.gen(function*() {
    const before = connections.length
    yield* pass(Duration.seconds(pause - 0.01))
    assert.lengthOf(connections, before, `before ${pause} s`)
    yield* pass("2 seconds")
    assert.lengthOf(connections, before + 1, `after ${pause} s`)
    return yield* accept
  })

describe("PeerManager: peers of the operator", () => {
  simulated(
    "the manager connects to configured peers, even by host name, and to no others",
    () =>
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
        yield* pass("2 minutes")
        assert.deepStrictEqual(calls(network, "DNS seeds done"), [])
        assert.strictEqual(network.store.book.size, 0)
      })
  )

  simulated(
    "the manager reconnects to a configured peer after 1, 2, 4… up to 60 seconds",
    () =>
      Effect.gen(function*() {
        const listener = yield* remoteListener()
        const network = yield* testNetwork({ bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }] })
        const first = yield* listener.accept
        yield* first.expect("version")
        yield* first.close
        for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
          const remote = yield* nextCall(listener, pause)
          yield* remote.expect("version")
          yield* remote.close
        }
        // A lasting connection resets the pause.
        const good = yield* nextCall(listener, 60)
        yield* good.answer()
        yield* untilPeers(network, 1)
        yield* pass("61 seconds")
        yield* good.close
        yield* (yield* nextCall(listener, 1)).answer()
      })
  )

  simulated("the manager warns once about an unreachable peer, and keeps trying", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const network = yield* testNetwork({ bootstrapPeers: [{ host: "127.0.0.1", port }] })
      yield* pass("40 seconds")
      const warnings = calls(network, "peer cannot be reached").filter(({ level }) => level === "WARN")
      assert.strictEqual(warnings.length, 1)
      assert.strictEqual(warnings[0]?.facts["reason"], "connection refused")
      const listener = yield* remoteListener({ port })
      yield* (yield* listener.accept).answer()
      yield* untilPeers(network, 1)
    }))

  simulated(
    "the manager times out a connection attempt after 5 seconds, and a handshake after 60",
    () =>
      Effect.gen(function*() {
        const listener = yield* remoteListener()
        yield* testNetwork({ bootstrapPeers: [{ host: "127.0.0.1", port: listener.port }] })
        const remote = yield* listener.accept
        yield* remote.expect("version")
        yield* pass("58 seconds")
        assert.isFalse(remote.closed)
        yield* pass("5 seconds")
        assert.isTrue(remote.closed)
      })
  )

  simulated("the manager detects a connection to itself, and never repeats it", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const network = yield* testNetwork({
        listen: { host: "127.0.0.1", port },
        bootstrapPeers: [{ host: "127.0.0.1", port }]
      })
      const itself = "self connection: this peer is the node itself, not connecting again"
      yield* eventually("the node detects itself", () => calls(network, itself).length > 0)
      yield* pass("3 minutes")
      assert.strictEqual(calls(network, itself).length, 1)
      assert.strictEqual(calls(network, "peer connected").length, 0)
      assert.isBelow(network.logs.length, 8)
      assert.strictEqual((yield* network.manager.peers).length, 0)
    }))

  simulated(
    "a misbehaving manual peer is disconnected, is not discouraged, and is tried again later",
    () =>
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
        yield* (yield* listener.accept).answer()
        assert.isFalse(network.store.bans.isDiscouraged({ network: "ipv4", bytes: Uint8Array.of(127, 0, 0, 1) }))
      })
  )

  simulated(
    "the manager adds, lists and removes peers; the connection of a removed peer stays",
    () =>
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
        yield* pass("61 seconds")
        assert.strictEqual(listener.connections.length, 1)
        assert.isTrue(yield* network.manager.add("no such: host"))
        assert.deepStrictEqual(yield* network.manager.added, [{ node: "no such: host", connected: undefined }])
      })
  )

  simulated(
    "the manager connects once, disconnects by address and by number, and reports an unknown peer",
    () =>
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
        yield* pass("61 seconds")
        assert.strictEqual(listener.connections.length, 2)
      })
  )

  simulated("disabling the network closes all connections and prevents new ones", () =>
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
      yield* pass("61 seconds")
      assert.strictEqual(listener.connections.length, 1)
      yield* network.manager.setActive(true)
      yield* (yield* listener.accept).answer()
      yield* connectTo(network)
    }))

  simulated("the manager sends every peer a ping on request", () =>
    Effect.gen(function*() {
      const network = yield* testNetwork({ listening: true })
      const remotes = [yield* connectTo(network), yield* connectTo(network)]
      for (const remote of remotes) yield* remote.expect("ping")
      yield* network.manager.ping
      for (const remote of remotes) yield* remote.expect("ping")
    }))

  simulated(
    "the manager connects through a proxy, which gets the host name, and to local peers without it",
    () =>
      Effect.gen(function*() {
        const asked: Array<string> = []
        const listener = yield* remoteListener()
        const { listen } = yield* Loopback
        const { port: proxyPort } = yield* listen({ host: "127.0.0.1", port: 0 }, (socket) => {
          socket.on("error", () => {})
          socket.once("data", () => {
            socket.write(Uint8Array.of(5, 0))
            socket.once("data", (request: Uint8Array) => {
              asked.push(Buffer.from(request.subarray(5, -2)).toString())
              socket.write(Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0))
            })
          })
        })
        const network = yield* testNetwork({
          bootstrapPeers: [{ host: "hidden.example", port: 8334 }, { host: "127.0.0.1", port: listener.port }],
          proxies: proxyRoutes({
            proxy: [{ proxy: { host: "127.0.0.1", port: proxyPort }, network: undefined }],
            onion: "off"
          })
        })
        yield* eventually("the proxy is asked", () => asked.length > 0)
        // A proxy cannot reach a peer on this machine.
        yield* (yield* listener.accept).answer()
        assert.deepStrictEqual(asked, ["hidden.example"])
        const shown = { address: `127.0.0.1:${proxyPort}`, randomize: true }
        assert.deepStrictEqual(network.manager.proxyTo("ipv4"), shown)
        assert.isUndefined(network.manager.proxyTo("onion"))
      })
  )
})
