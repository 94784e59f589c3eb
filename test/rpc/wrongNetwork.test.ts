import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { openLines } from "../../src/rpc/DocumentLines.ts"
import * as RpcClient from "../../src/rpc/RpcClient.ts"

/**
 * What a daemon answers to `GET /health`: a report with the network, one without it as before 0.2.0, 404 as the reference
 * node or a proxy, or nothing at all.
 */
type Health = "network" | "old" | 404 | "silent"

interface FakeDaemon {
  readonly health: Health
  /** What `getblockchaininfo` says, or the status of a refusal. */
  readonly chain: string | number
  readonly network?: string
}

const REPORT = { status: "healthy", block_height: 0, peers: 0 }

/** A daemon that does whatever it is asked for, at every path, and what it has done. */
const startDaemon = ({ chain, health, network }: FakeDaemon, port = 0) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly done: Array<string>; readonly close: () => void }>((resume) => {
      const done: Array<string> = []
      const server = createServer((request, response) => {
        if (request.method === "GET" && request.url === "/health") {
          if (health === "silent") return
          if (health === 404) return void response.writeHead(404).end("{}")
          return void response.end(JSON.stringify(health === "old" ? REPORT : { ...REPORT, network }))
        }
        if (request.method === "GET") {
          done.push(String(request.url))
          return void response.end("{}\n")
        }
        let body = ""
        request.on("data", (part) => void (body += part))
        request.on("end", () => {
          const calls:
            | { readonly id: number; readonly method: string }
            | ReadonlyArray<{ id: number; method: string }> = JSON.parse(body)
          const answer = ({ id, method }: { readonly id: number; readonly method: string }) => {
            done.push(method)
            return { id, result: method === "getblockchaininfo" ? { chain } : method }
          }
          if (typeof chain === "number" && body.includes("getblockchaininfo")) {
            return void response.writeHead(chain).end()
          }
          response.end(JSON.stringify("id" in calls ? answer(calls) : calls.map(answer)))
        })
      })
      server.listen(port, "127.0.0.1", () => {
        const close = (): void => void server.close().closeAllConnections()
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, done, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const REGTEST = { network: "regtest" } as const

const clientOf = (port: number, options: Partial<RpcClient.RpcClientOptions> = REGTEST) =>
  RpcClient.make({ address: { host: "127.0.0.1", port }, ...options })

/** All ways in which a client reaches a daemon. */
const WAYS: Readonly<
  Record<
    string,
    (client: typeof RpcClient.RpcClient.Service, port: number) => Effect.Effect<unknown, unknown, Scope.Scope>
  >
> = {
  "a call": (client) => client.call("sendtoaddress", ["a", 1]),
  "a call that may be repeated": (client) => client.call("stop", [], { mayRepeat: true }),
  "a batch": (client) => client.batch([{ method: "getblockcount", params: [] }, { method: "stop", params: [] }]),
  "a document": (client, port) =>
    Effect.zipRight(client.confirm, openLines({ address: { host: "127.0.0.1", port } }, "/events"))
}

const DAEMONS: ReadonlyArray<readonly [string, FakeDaemon]> = [
  ["svcd", { health: "network", network: "mainnet", chain: "main" }],
  ["svcd, without the right to ask for the chain", { health: "network", network: "mainnet", chain: 403 }],
  ["svcd before 0.2.0", { health: "old", chain: "main" }],
  ["the reference node", { health: 404, chain: "main" }],
  ["a daemon whose health report never comes", { health: "silent", chain: "main" }]
]

const asked = (done: ReadonlyArray<string>): ReadonlyArray<string> =>
  done.filter((method) => method !== "getblockchaininfo")

describe("a client with a network", () => {
  for (const [daemon, fake] of DAEMONS) {
    for (const [what, way] of Object.entries(WAYS)) {
      it.scopedLive(`sends no ${what} to ${daemon} of another network`, () =>
        Effect.gen(function*() {
          const { done, port } = yield* startDaemon(fake)
          const client = yield* clientOf(port, { ...REGTEST, timeout: 300 })
          const failure = yield* Effect.flip(way(client, port))
          assert.include(failure, { _tag: "RpcWrongNetwork", wanted: "regtest", network: "mainnet" })
          assert.strictEqual(
            String(failure),
            `RpcWrongNetwork: the daemon at 127.0.0.1:${port} is on mainnet, not regtest`
          )
          assert.deepStrictEqual(asked(done), [])
        }))
    }
  }

  it.scopedLive("asks svcd once, without a call, and then no more", () =>
    Effect.gen(function*() {
      const { done, port } = yield* startDaemon({ health: "network", network: "regtest", chain: "regtest" })
      const client = yield* clientOf(port)
      yield* client.call("getblockcount")
      yield* client.call("getblockcount")
      assert.deepStrictEqual(done, ["getblockcount", "getblockcount"])
    }))

  it.scopedLive("asks another daemon for the chain once", () =>
    Effect.gen(function*() {
      const { done, port } = yield* startDaemon({ health: 404, chain: "regtest" })
      const client = yield* clientOf(port)
      yield* client.call("getblockcount")
      yield* client.batch([{ method: "getblockcount", params: [] }])
      assert.deepStrictEqual(done, ["getblockchaininfo", "getblockcount", "getblockcount"])
    }))

  it.scopedLive("asks again after a lost connection: another daemon may run at the address", () =>
    Effect.gen(function*() {
      const first = yield* startDaemon({ health: "network", network: "regtest", chain: "regtest" })
      const client = yield* clientOf(first.port)
      yield* client.call("getblockcount")
      first.close()
      assert.include(yield* Effect.flip(client.call("getblockcount")), { _tag: "RpcUnreachable" })
      const second = yield* startDaemon({ health: "network", network: "testnet", chain: "test" }, first.port)
      assert.include(yield* Effect.flip(client.call("stop")), { _tag: "RpcWrongNetwork", network: "testnet" })
      assert.deepStrictEqual(second.done, [])
    }))

  it.scopedLive("asks again after a connection that closed while nothing was asked", () =>
    Effect.gen(function*() {
      const first = yield* startDaemon({ health: "network", network: "regtest", chain: "regtest" })
      const client = yield* clientOf(first.port)
      yield* client.call("getblockcount")
      first.close()
      const second = yield* startDaemon({ health: "network", network: "testnet", chain: "test" }, first.port)
      assert.include(yield* Effect.flip(client.call("stop")), { _tag: "RpcWrongNetwork", network: "testnet" })
      assert.deepStrictEqual(second.done, [])
    }))

  it.scopedLive("names a network that svcd does not have by the daemon's own word", () =>
    Effect.gen(function*() {
      const { done, port } = yield* startDaemon({ health: 404, chain: "signet" })
      assert.include(yield* Effect.flip((yield* clientOf(port)).call("stop")), { network: "signet" })
      assert.deepStrictEqual(asked(done), [])
    }))

  it.scopedLive("calls no daemon that does not tell its network", () =>
    Effect.gen(function*() {
      const { done, port } = yield* startDaemon({ health: 404, chain: 403 })
      assert.include(yield* Effect.flip((yield* clientOf(port)).call("stop")), { _tag: "UnexpectedReply", status: 403 })
      assert.deepStrictEqual(done, [])
    }))

  it.scopedLive("has sent nothing where the question for the network breaks", () =>
    Effect.gen(function*() {
      let posts = 0
      const server = createServer((request, response) => {
        if (request.method === "GET") return void response.writeHead(404).end("{}")
        posts++
        request.socket.destroy()
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()))
      const port = yield* Effect.async<number>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
      })
      const failure = yield* Effect.flip((yield* clientOf(port)).call("sendtoaddress", ["a", 1]))
      assert.deepInclude(failure, { _tag: "RpcUnreachable", wasSent: false })
      assert.isAtLeast(posts, 1)
    }))

  it.scopedLive("takes any daemon where no network is named, and asks nothing", () =>
    Effect.gen(function*() {
      const { done, port } = yield* startDaemon({ health: "network", network: "testnet", chain: "test" })
      yield* (yield* clientOf(port, {})).call("getblockcount")
      assert.deepStrictEqual(done, ["getblockcount"])
    }))
})
