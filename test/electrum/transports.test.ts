import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { X509Certificate } from "node:crypto"
import { existsSync, readFileSync, statSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { connect } from "node:tls"
import { WebSocket } from "ws"
import { DataDirectory } from "../../src/config/DataDirectory.ts"
import { electrumCertificate } from "../../src/electrum/serve/ownCertificate.ts"
import { makeSelfSigned } from "../../src/electrum/serve/selfSigned.ts"
import { ElectrumServer } from "../../src/node.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { clientOver, connectTo, speaking } from "./client.ts"
import { filledDirectory, onNode } from "./servedNode.ts"

const filled = filledDirectory(5)

const ANYWHERE = ["127.0.0.1:0"]
const served = onNode(filled, {
  tls: ANYWHERE,
  webSocket: ANYWHERE,
  secureWebSocket: ANYWHERE,
  hosts: ["electrum.example.org"]
})

/** Sends texts and returns as many answers. */
const speak = (url: string, texts: ReadonlyArray<string | Uint8Array>) =>
  Effect.async<{ readonly answers: ReadonlyArray<string>; readonly code: number | undefined }>((resume) => {
    const socket = new WebSocket(url, { rejectUnauthorized: false })
    const answers: Array<string> = []
    const end = (code?: number) => resume(Effect.succeed({ answers, code }))
    socket.on("open", () => {
      for (const text of texts) socket.send(text)
    })
    socket.on("message", (data: Buffer) => {
      answers.push(data.toString())
      if (answers.length === texts.length) end()
    })
    socket.on("error", () => {})
    socket.on("close", end)
    return Effect.sync(() => socket.terminate())
  })

/** Sends texts in one write. Returns the answers up to the one to a ping. */
const flood = (port: number, texts: ReadonlyArray<string>) =>
  Effect.async<ReadonlyArray<string>>((resume) => {
    const answers: Array<string> = []
    let below: Duplex | undefined
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, {
      finishRequest: (request) => {
        request.on("socket", (opened) => {
          below = opened
        })
        request.end()
      }
    })
    socket.on("open", () => {
      below?.cork()
      for (const text of texts) socket.send(text)
      below?.uncork()
    })
    socket.on("message", (data: Buffer) => {
      answers.push(data.toString())
      if (data.includes("\"id\":1}")) resume(Effect.succeed(answers))
    })
    socket.on("error", () => {})
    return Effect.sync(() => socket.terminate())
  })

const ESTIMATE = "{\"id\":7,\"method\":\"blockchain.estimatefee\",\"params\":[2]}"

const VERSION = "{\"id\":0,\"method\":\"server.version\",\"params\":[\"test\",\"1.4\"]}"
const PING = "{\"id\":1,\"method\":\"server.ping\"}"
const AGREED = "{\"jsonrpc\":\"2.0\",\"result\":[\"svcd 0.2.0\",\"1.4\"],\"id\":0}"
const PONG = "{\"jsonrpc\":\"2.0\",\"result\":null,\"id\":1}"

describe("transports", () => {
  it.scopedLive("are TLS with a certificate of its own that stays, and WebSocket with and without it", () =>
    served(Effect.gen(function*() {
      const { addresses } = yield* ElectrumServer
      const directory = yield* DataDirectory
      const file = join(directory.file("electrum"), "certificate.pem")
      const key = join(directory.file("electrum"), "key.pem")
      assert.strictEqual(statSync(key).mode & 0o777, 0o600)
      const pem = readFileSync(file)
      const certificate = new X509Certificate(pem)
      assert.strictEqual(certificate.checkHost("electrum.example.org"), "electrum.example.org")
      const socket = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof connect>>((resume) => {
          const options = {
            port: addresses.tls[0]?.port ?? 0,
            host: "127.0.0.1",
            ca: pem,
            servername: "electrum.example.org"
          }
          const opened = connect(options, () => resume(Effect.succeed(opened)))
        }),
        (opened) => Effect.sync(() => void opened.destroy())
      )
      assert.isTrue(socket.authorized)
      const client = clientOver(socket)
      yield* client.ask("server.version", "test", "1.6")
      const features = yield* client.ask("server.features")
      assert.deepInclude(features, {
        certificate_sha256: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
        hosts: {
          "electrum.example.org": { tcp_port: 0, ssl_port: 0, ws_port: 0, wss_port: 0 }
        }
      })
      for (const [scheme, list] of [["ws", addresses.ws], ["wss", addresses.wss]] as const) {
        const url = `${scheme}://127.0.0.1:${list[0]?.port}`
        assert.deepStrictEqual((yield* speak(url, [VERSION, `${PING}\n`])).answers, [AGREED, PONG])
        assert.strictEqual((yield* speak(url, [Buffer.from(VERSION)])).code, 1003)
        assert.strictEqual((yield* speak(url, ["x".repeat(1_048_577)])).code, 1009)
      }
      // Many messages in one read, behind a call that takes time.
      const answers = Array.from({ length: 3_500 }, () => "{\"result\":1}")
      const many = yield* flood(addresses.ws[0]?.port ?? 0, [VERSION, ESTIMATE, ...answers, PING])
      assert.deepStrictEqual([many[0], many.at(-1)], [AGREED, PONG])
      const plain = yield* Effect.promise(() => fetch(`http://127.0.0.1:${addresses.ws[0]?.port}/`))
      assert.strictEqual(plain.status, 426)
    })))

  it.scopedLive("end with a line that is too long, and with lines without a message", () =>
    served(Effect.gen(function*() {
      const { addresses } = yield* ElectrumServer
      const port = addresses.tcp[0]?.port ?? 0
      const long = yield* connectTo(port)
      yield* long.raw("x".repeat(1_048_577))
      yield* eventually("the session ends", Effect.sync(long.closed))
      const empty = yield* speaking(port)
      yield* empty.raw("\n".repeat(2_000_000))
      for (let at = 0; at < 4; at++) assert.strictEqual((yield* empty.reply).error?.code, -32_700)
      empty.socket.destroy()
    })))
})

describe("a certificate that svcd makes", () => {
  it.scopedLive("is not made anew while one of its files is there", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const options = { certificate: undefined, key: undefined, hosts: ["a.example.org"], directory }
      const made = (yield* electrumCertificate(options)).current()
      const [file, key] = [join(directory, "certificate.pem"), join(directory, "key.pem")]
      assert.deepStrictEqual((yield* electrumCertificate(options)).current(), made)
      unlinkSync(key)
      const { message } = yield* Effect.flip(electrumCertificate(options))
      assert.include(message, "key.pem: is missing")
      assert.notInclude(message, "-electrumcert")
      assert.isFalse(existsSync(key))
      unlinkSync(file)
      assert.notDeepEqual((yield* electrumCertificate(options)).current(), made)
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it("is valid for ten years, for its hosts, and signs itself", () => {
    const now = new Date("2026-11-30T12:00:00Z")
    const { cert } = makeSelfSigned(["a.example.org", "192.0.2.7"], now)
    const read = new X509Certificate(cert)
    assert.isTrue(read.verify(read.publicKey))
    assert.isTrue(read.checkIssued(read))
    assert.isTrue(read.ca)
    assert.strictEqual(read.subjectAltName, "DNS:a.example.org, IP Address:192.0.2.7")
    assert.strictEqual(read.validFrom, "Nov 29 12:00:00 2026 GMT")
    assert.strictEqual(read.validTo, "Nov 30 12:00:00 2036 GMT")
    assert.strictEqual(
      new X509Certificate(makeSelfSigned(["b"], new Date("2045-01-01")).cert).validTo,
      "Jan  1 00:00:00 2055 GMT"
    )
  })
})
