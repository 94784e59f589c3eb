import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { createServer } from "node:net"
import { DialFailed, type DialTarget, type PeerStream, tcp, Transport } from "../../../src/network/connect/Transport.ts"
import { eventually } from "../../support/eventually.ts"
import { freePort } from "../../support/Loopback.ts"
import { testNetwork } from "../../support/peerManager.ts"

const LOOPBACK = { host: "127.0.0.1", port: 0 }

describe("TCP", () => {
  it.scopedLive("a stream that was dialled and the one that was accepted carry bytes and know each other", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<PeerStream>()
      const bound = yield* tcp.listen(LOOPBACK, (stream) => Deferred.unsafeDone(arrived, Effect.succeed(stream)))
      const here = yield* tcp.dial(bound)
      const there = yield* Deferred.await(arrived)
      assert.strictEqual(here.remotePort, bound.port)
      assert.strictEqual(there.remotePort, here.localPort)
      let taken = false
      here.write(Uint8Array.of(1, 2, 3), () => {
        taken = true
      })
      let bytes: Uint8Array | null = null
      yield* eventually("bytes", () => (bytes = there.read()) !== null)
      assert.deepStrictEqual(Array.from(bytes ?? []), [1, 2, 3])
      assert.isTrue(taken)
      there.destroy()
    }))

  it.scopedLive("a closed scope destroys the dialled stream, and frees the port, but keeps accepted streams", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<PeerStream>()
      const accept = (stream: PeerStream) => Deferred.unsafeDone(arrived, Effect.succeed(stream))
      const bound = yield* Effect.scoped(Effect.gen(function*() {
        const bound = yield* tcp.listen(LOOPBACK, accept)
        const here = yield* Effect.scoped(tcp.dial(bound))
        assert.isTrue(here.destroyed)
        yield* Deferred.await(arrived)
        return bound
      }))
      assert.isFalse((yield* Deferred.await(arrived)).destroyed)
      yield* tcp.listen(bound, () => {})
      ;(yield* Deferred.await(arrived)).destroy()
    }))

  it.scopedLive("a refused connection and a taken port fail with the code of the system", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      assert.strictEqual((yield* Effect.flip(tcp.dial({ ...LOOPBACK, port }))).code, "ECONNREFUSED")
      const taken = yield* Effect.acquireRelease(
        Effect.sync(() => createServer().listen({ ...LOOPBACK, port })),
        (server) => Effect.sync(() => server.close())
      )
      yield* eventually("listening", () => taken.listening)
      assert.strictEqual((yield* Effect.flip(tcp.listen({ ...LOOPBACK, port }, () => {}))).code, "EADDRINUSE")
    }))
})

describe("a transport that the program provides", () => {
  it.scoped("carries all connections of the peer manager, to peers and to a proxy", () =>
    Effect.gen(function*() {
      const dialled: Array<DialTarget> = []
      const listening: Array<number> = []
      const transport = {
        dial: (target: DialTarget) => {
          dialled.push(target)
          return new DialFailed({ code: "EHOSTUNREACH" })
        },
        listen: (address: { readonly host: string; readonly port: number }) => {
          listening.push(address.port)
          return Effect.succeed(address)
        },
        resolve: () => Effect.succeed([])
      }
      const proxy = { host: "10.0.0.1", port: 9050 }
      const network = yield* testNetwork({
        listening: true,
        transport,
        bootstrapPeers: [{ host: "127.0.0.1", port: 1 }, { host: "8.8.8.8", port: 2 }],
        proxies: { ipv4: proxy, ipv6: undefined, onion: undefined, cjdns: undefined, names: undefined }
      })
      yield* eventually("two calls", () => dialled.length === 2)
      assert.sameDeepMembers(dialled, [{ host: "127.0.0.1", port: 1 }, proxy])
      assert.deepStrictEqual(listening, [network.port])
      const reasons = network.logs.filter(({ message }) => message === "peer cannot be reached").map(({ facts }) =>
        facts["reason"]
      )
      assert.sameMembers(reasons, ["no route to the host", "the proxy cannot be reached: EHOSTUNREACH"])
    }))

  it.effect("is TCP by default", () => Effect.map(Transport, (transport) => assert.strictEqual(transport, tcp)))
})
