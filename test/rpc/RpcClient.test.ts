import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { encodeJson } from "../../src/rpc/json/encodeJson.ts"
import { Amount } from "../../src/rpc/json/encodeJson.ts"
import { RpcError } from "../../src/rpc/method/RpcError.ts"
import type { RpcReason } from "../../src/rpc/method/RpcError.ts"
import * as RpcClient from "../../src/rpc/RpcClient.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { FAKE_METHODS, GENESIS, testServer } from "../support/rpcServer.ts"

const address = (port: number) => ({ host: "127.0.0.1", port })

/** A server that answers every request as the test specifies. */
const strangeServer = (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (part) => {
          body += part
        })
        request.on("end", () => answer(request, response, body))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, close: () => void server.close().closeAllConnections() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const money = fakeMethod(
  { name: "money", params: {} },
  () => Effect.succeed({ amount: new Amount(-1_024_800), big: 2n ** 64n })
)

describe("RpcClient", () => {
  it.scopedLive("calls methods with parameters by position and by name, on one connection", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const client = yield* RpcClient.make({ address: address(port) })
      const ask = (method: string, params?: RpcClient.CallParams) => client.call(method, params, { mayRepeat: true })
      assert.strictEqual(yield* ask("getblockhash", [0]), GENESIS)
      assert.strictEqual(yield* ask("getblockhash", { height: 0 }), GENESIS)
      assert.strictEqual(encodeJson(yield* ask("getblockcount")), "0")
      const { peer } = JSON.parse(encodeJson(yield* ask("whoami")))
      assert.strictEqual(JSON.parse(encodeJson(yield* ask("whoami"))).peer, peer)
    }))

  it.scopedLive("makes several calls in one request, whatever the order of the replies", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const client = yield* RpcClient.make({ address: address(port) })
      const outcomes = yield* client.batch([
        { method: "getblockcount", params: [] },
        { method: "nosuch", params: [] },
        { method: "getblockhash", params: [0] }
      ])
      assert.deepStrictEqual(
        outcomes.map((outcome) => Either.match(outcome, { onLeft: ({ code }) => String(code), onRight: encodeJson })),
        ["0", "-32601", `"${GENESIS}"`]
      )
      const paths: Array<string | undefined> = []
      const turned = yield* strangeServer(({ url }, response, body) => {
        paths.push(url)
        const calls: ReadonlyArray<{ readonly id: number; readonly method: string }> = JSON.parse(body)
        response.end(JSON.stringify(calls.map(({ id, method }) => ({ id, result: method })).reverse()))
      })
      const other = yield* RpcClient.make({ address: address(turned.port), wallet: "second" })
      const replies = yield* other.batch([{ method: "a", params: [] }, { method: "b", params: [] }])
      assert.deepStrictEqual(replies.map((reply) => Either.getOrThrow(reply)), ["a", "b"])
      assert.deepStrictEqual(paths, ["/wallet/second"])
    }))

  it.scopedLive("fails a batch with a missing reply, or with a single reply", () =>
    Effect.gen(function*() {
      const answers = [
        "[]",
        "{\"id\":1,\"result\":1}",
        "[{\"id\":1}]",
        "no",
        "{\"error\":{\"code\":-28,\"message\":\"starts\"}}"
      ]
      const { port } = yield* strangeServer((_, response) => void response.end(answers.shift()))
      const client = yield* RpcClient.make({ address: address(port) })
      const outcome = Effect.map(Effect.flip(client.batch([{ method: "a", params: [] }])), ({ _tag }) => _tag)
      const tags = yield* Effect.all([outcome, outcome, outcome, outcome, outcome])
      assert.deepStrictEqual(tags, [...Array.from({ length: 4 }, () => "UnexpectedReply"), "RpcFailure"])
    }))

  it.scopedLive("opens a new connection for a call, unless it may be repeated", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const client = yield* RpcClient.make({ address: address(port) })
      const peer = (mayRepeat?: boolean) =>
        Effect.map(
          client.call("whoami", [], mayRepeat === undefined ? {} : { mayRepeat }),
          (reply) => JSON.parse(encodeJson(reply)).peer
        )
      const kept = yield* peer(true)
      for (const once of [false, undefined]) assert.notStrictEqual(yield* peer(once), kept)
      assert.strictEqual(yield* peer(true), kept)
    }))

  it.scopedLive("keeps the spelling of numbers", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer({ methods: [money] })
      const client = yield* RpcClient.make({ address: address(port) })
      assert.strictEqual(
        encodeJson(yield* client.call("money")),
        "{\"amount\":-0.01024800,\"big\":18446744073709551616}"
      )
    }))

  it.scopedLive("distinguishes errors of the method from all others", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const client = yield* RpcClient.make({ address: address(port) })
      const error = yield* Effect.flip(client.call("getblockhash", [9]))
      assert.deepStrictEqual([error._tag, error.message], ["RpcFailure", "Block height out of range"])
      assert.strictEqual(error._tag === "RpcFailure" ? error.code : 0, -8)
    }))

  it.scopedLive("sends credentials, and reports a refusal without showing them", () =>
    Effect.gen(function*() {
      const credentials = { user: "älice", password: Redacted.make("pa:ss wörd") }
      const { port } = yield* testServer({ credentials })
      const right = yield* RpcClient.make({ address: address(port), credentials })
      assert.strictEqual(encodeJson(yield* right.call("getblockcount")), "0")
      for (const given of [undefined, { user: "älice", password: Redacted.make("s3cret") }]) {
        const wrong = yield* RpcClient.make({ address: address(port), credentials: given })
        const error = yield* Effect.flip(wrong.call("getblockcount"))
        assert.deepStrictEqual([error._tag, error.message], [
          "RpcUnauthorized",
          `the daemon at 127.0.0.1:${port} does not accept the credentials`
        ])
        assert.notInclude(JSON.stringify(error), "s3cret")
      }
    }))

  it.scopedLive("reports the address that refuses the connection", () =>
    Effect.gen(function*() {
      const { close, port } = yield* strangeServer(() => {})
      close()
      const client = yield* RpcClient.make({ address: address(port) })
      const error = yield* Effect.flip(client.call("getblockcount"))
      assert.deepStrictEqual([error._tag, error.message], [
        "RpcUnreachable",
        `cannot reach a daemon at 127.0.0.1:${port}: connection refused`
      ])
      // Nothing was sent: for every error code of the system, even with several addresses of a host.
      const named = yield* RpcClient.make({ address: { host: "localhost", port } })
      const outcomes = [error, yield* Effect.flip(named.call("getblockcount"))]
      assert.deepStrictEqual(outcomes.map((each) => "wasSent" in each && each.wasSent), [false, false])
    }))

  it.scopedLive("times out, and fails if the connection ends before the reply", () =>
    Effect.gen(function*() {
      const silent = yield* strangeServer(() => {})
      const patient = yield* RpcClient.make({ address: address(silent.port), timeout: 150 })
      assert.match((yield* Effect.flip(patient.call("x"))).message, /no answer in time$/)
      const half = yield* strangeServer((_, response) => {
        response.writeHead(200, { "content-length": 100 })
        response.write("{\"result\":", () => response.destroy())
      })
      const client = yield* RpcClient.make({ address: address(half.port) })
      assert.match((yield* Effect.flip(client.call("x"))).message, /the connection was closed before an answer came$/)
      const rude = yield* Effect.acquireRelease(
        Effect.async<number>((resume) => {
          const server = createTcpServer((socket) => socket.destroy())
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
          server.unref()
        }),
        () => Effect.void
      )
      const other = yield* RpcClient.make({ address: address(rude) })
      assert.deepInclude({ ...yield* Effect.flip(other.call("x")) }, { _tag: "RpcUnreachable", wasSent: true })
      assert.match(
        new RpcClient.RpcUnreachable({ address: "h:1", code: "HPE_INVALID_CONSTANT", wasSent: true }).message,
        /: the server does not speak HTTP$/
      )
    }))

  it.scopedLive("retries if the daemon closed an idle connection at that moment", () =>
    Effect.gen(function*() {
      let connections = 0
      const server = createTcpServer((socket) => {
        connections += 1
        const mine = connections
        let requests = 0
        socket.on("error", () => {})
        socket.on("data", () => {
          requests += 1
          if (mine === 1 && requests === 2) return void socket.resetAndDestroy()
          const body = `{"result":${mine},"error":null,"id":1}`
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
        })
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
      const port = yield* Effect.async<number>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
      })
      const client = yield* RpcClient.make({ address: address(port) })
      assert.strictEqual(encodeJson(yield* client.call("x")), "1")
      assert.strictEqual(encodeJson(yield* client.call("x")), "2")
    }))

  it.scopedLive.each<readonly [number, string, string]>([
    [200, "", "no response from server"],
    [200, "<html>", "couldn't parse reply from server"],
    [200, "[]", "couldn't parse reply from server"],
    [200, "{}", "the reply has neither result nor error"],
    [429, "Too many requests", "server returned HTTP error 429"],
    [503, "Work queue depth exceeded", "Server response: Work queue depth exceeded"],
    [503, "\u001b[31mred\nline", "Server response: [31mred line"]
  ])("describes a reply that is not an answer: %d %j", ([status, text, message]) =>
    Effect.gen(function*() {
      const { port } = yield* strangeServer((_, response) => void response.writeHead(status).end(text))
      const client = yield* RpcClient.make({ address: address(port) })
      const error = yield* Effect.flip(client.call("x"))
      assert.deepStrictEqual([error._tag, error.message], ["UnexpectedReply", message])
    }))

  it.scopedLive("tells the reason of a failure: the one of svcd, or what the text of another daemon says", () =>
    Effect.gen(function*() {
      const errors: ReadonlyArray<readonly [error: object, reason: RpcReason | undefined]> = [
        [{ code: -25, message: "x", data: { reason: "name-taken" } }, "name-taken"],
        [{ code: -6, message: "x", data: { reason: "of a later svcd" } }, undefined],
        [{ code: -6, message: "x", data: "name-taken" }, undefined],
        [{ code: -6, message: "Insufficient funds" }, "funds-missing"],
        [
          { code: -6, message: "The total exceeds your balance when the 0.1 transaction fee is included." },
          "funds-missing"
        ],
        [{ code: -6, message: "Not found pre-selected input COutPoint(cd342d5df5, 1)" }, "coin-spent"],
        [{ code: -4, message: "Error: Private keys are disabled for this wallet" }, "no-private-keys"],
        [{ code: -6, message: "too many unconfirmed transactions in cluster" }, "long-chain"],
        [{ code: -6, message: "spending them creates a chain of transactions that will be rejected" }, "long-chain"],
        [{ code: -4, message: "name never existed: 'd/x'" }, undefined],
        [{ code: -4, message: "name never existed: 'd/chain of transactions'" }, undefined]
      ]
      const left = errors.map(([error]) => error)
      const { port } = yield* strangeServer((_, response) => {
        response.writeHead(200).end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: left.shift() }))
      })
      const client = yield* RpcClient.make({ address: address(port) })
      for (const [error, reason] of errors) {
        const failure = yield* Effect.flip(client.call("x"))
        assert.strictEqual(failure._tag === "RpcFailure" ? failure.reason : failure._tag, reason, JSON.stringify(error))
      }
    }))

  it.scopedLive("reads both shapes of answers, on whichever status (reference/rpc.md 8)", () =>
    Effect.gen(function*() {
      const replies: Array<readonly [number, string]> = [
        [200, "{\"result\":null,\"error\":null,\"id\":1}"],
        [200, "{\"jsonrpc\":\"2.0\",\"result\":\"x\",\"id\":1}"],
        [500, "{\"result\":null,\"error\":{\"code\":-5,\"message\":\"no\"},\"id\":1}"],
        [404, "{\"result\":null,\"error\":{\"code\":-32601,\"message\":\"Method not found\"},\"id\":1}"],
        [200, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-28,\"message\":\"wait\"},\"id\":1}"],
        [500, "{\"error\":\"odd\"}"]
      ]
      const requests: Array<unknown> = []
      const { port } = yield* strangeServer((request, response, body) => {
        requests.push([request.url, request.headers["content-type"], JSON.parse(body)])
        const [status, text] = replies.shift() ?? [500, ""]
        response.writeHead(status).end(text)
      })
      const client = yield* RpcClient.make({ address: address(port) })
      const outcomes = yield* Effect.forEach(Array(6).fill("x"), (name) =>
        Effect.match(client.call(name, ["a"]), {
          onSuccess: (value) => encodeJson(value),
          onFailure: (error) => error._tag === "RpcFailure" ? `${error.code} ${error.message}` : error._tag
        }))
      assert.deepStrictEqual(outcomes, ["null", "\"x\"", "-5 no", "-32601 Method not found", "-28 wait", "-1 \"odd\""])
      assert.deepStrictEqual(requests[0], ["/", "application/json", {
        jsonrpc: "2.0",
        id: 1,
        method: "x",
        params: ["a"]
      }])
    }))

  it.scopedLive("calls the path of the given wallet, and never the only loaded one", () =>
    Effect.gen(function*() {
      const balance = (atRoot: Effect.Effect<string, RpcError>) =>
        fakeMethod({ name: "balance", group: "Wallet", params: {} }, (_, { wallet }) =>
          wallet === undefined ? atRoot : Effect.succeed(wallet))
      const several = balance(new RpcError({ code: -19, message: "Multiple wallets" }))
      const { port } = yield* testServer({ methods: [...FAKE_METHODS, several] })
      const named = yield* RpcClient.make({ address: address(port), wallet: "a b/ü" })
      assert.strictEqual(yield* named.call("balance"), "a b/ü")
      const plain = yield* RpcClient.make({ address: address(port) })
      assert.strictEqual((yield* Effect.flip(plain.call("balance"))).message, "Multiple wallets")
      const only = yield* testServer({ methods: [...FAKE_METHODS, balance(Effect.succeed("the only one"))] })
      const other = yield* RpcClient.make({ address: address(only.port), wallet: "mine" })
      assert.strictEqual(yield* other.call("balance"), "mine")
    }))
})
