import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:net"
import { type HookAnswer, post, type PostParts } from "../../src/webhooks/post.ts"
import { TEST_CERTIFICATE } from "../support/certificate.ts"
import { freePort } from "../support/daemon.ts"
import { openReceiver } from "./receiver.ts"

const PARTS: PostParts = { resolve: () => Promise.resolve(["127.0.0.1"]), forbidden: () => undefined }

const send = (url: string, parts: Partial<PostParts> = {}): Effect.Effect<HookAnswer> =>
  post({ url, headers: { "webhook-id": "a" }, body: "{\"ü\":1}" }, { ...PARTS, ...parts })

/** The reason for which there is no answer. */
const reasonOf = (url: string, parts: Partial<PostParts> = {}): Effect.Effect<string> =>
  Effect.map(send(url, parts), (answer) => answer._tag === "NoAnswer" ? answer.reason : assert.fail("is answered"))

/** A server that answers every connection with bytes. */
const openRaw = (bytes: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
        const server = createServer((socket) => {
          socket.on("error", () => {})
          socket.once("data", () => socket.write(bytes))
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({ port, close: () => void server.close() }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port }) => `http://127.0.0.1:${port}/`
  )

/** As `node:dns` fails for a host without an address. */
const NO_HOST = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" })

describe("post", () => {
  it.scoped("speaks TLS with a server whose certificate is for the host of the URL, and with no other", () =>
    Effect.gen(function*() {
      const { port, received } = yield* openReceiver({ tls: true })
      const trusted = { ca: TEST_CERTIFICATE }
      assert.deepInclude(yield* send(`https://localhost:${port}/x`, trusted), { _tag: "Answered", status: 204 })
      assert.deepInclude(yield* send(`https://127.0.0.1:${port}/`, trusted), { _tag: "Answered", status: 204 })
      assert.strictEqual(received[0]?.headers.host, `localhost:${port}`)
      assert.strictEqual(received[0]?.body, "{\"ü\":1}")
      assert.strictEqual(
        yield* reasonOf(`https://other.example:${port}/`, trusted),
        "the certificate is for another host"
      )
      assert.strictEqual(yield* reasonOf(`https://localhost:${port}/`), "the certificate is self-signed")
      assert.lengthOf(received, 2)
    }))

  it.scoped("tries the addresses of a host one after the other, and refuses all if one of them is forbidden", () =>
    Effect.gen(function*() {
      const { port, received } = yield* openReceiver()
      const resolve = () => Promise.resolve(["127.0.0.3", "127.0.0.1"])
      assert.deepInclude(yield* send(`http://two.example:${port}/`, { resolve }), { status: 204 })
      const forbidden = (address: string) => address === "127.0.0.1" ? "this machine" as const : undefined
      const answer = yield* send(`http://two.example:${port}/`, { resolve, forbidden })
      assert.deepInclude(answer, { _tag: "NoAnswer", outcome: "forbidden" })
      assert.notInclude(JSON.stringify(answer), "127.0.0")
      assert.lengthOf(received, 1)
    }))

  it.scoped("says why there is no answer, without a word of the receiver", () =>
    Effect.gen(function*() {
      const nowhere = yield* freePort
      assert.strictEqual(yield* reasonOf(`http://127.0.0.1:${nowhere}/`), "connection refused")
      assert.strictEqual(
        yield* reasonOf("http://none.example/", { resolve: () => Promise.resolve([]) }),
        "the host has no address"
      )
      assert.strictEqual(
        yield* reasonOf("http://none.example/", { resolve: () => Promise.reject(NO_HOST) }),
        "the host has no address"
      )
      assert.strictEqual(yield* reasonOf(yield* openRaw("SSH-2.0-secret\r\n")), "the answer is not HTTP")
      const long = `HTTP/1.1 200 OK\r\nX: ${"a".repeat(20_000)}\r\n\r\n`
      assert.strictEqual(yield* reasonOf(yield* openRaw(long)), "the headers of the answer are too long")
      assert.strictEqual(
        yield* reasonOf((yield* openRaw("HTTP/1.1 200 OK\r\n\r\n")).replace("http:", "https:")),
        "no connection with TLS"
      )
    }))
})
