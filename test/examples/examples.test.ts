import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { createHash, X509Certificate } from "node:crypto"
import { createServer, type Server } from "node:https"
import { fileURLToPath } from "node:url"
import { unixTime } from "../../src/base/clock.ts"
import { keyOfSecret } from "../../src/config/webhookKinds.ts"
import type { PromiseClient } from "../../src/promise.ts"
import { signedHeaders } from "../../src/webhooks/signature.ts"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"
import { freePort } from "../support/daemon.ts"
import { fakeDaemon } from "../support/fakeDaemon.ts"

/** The examples of the build, which import the package by its name. `.ci/run` runs them with a packed one too. */
const built = (name: string): URL => new URL(`../../build/examples/${name}.js`, import.meta.url)

const hex = (text: string): string => Buffer.from(text).toString("hex")

const shown = (name: string, more: object = {}) => ({
  name: hex(name),
  value: hex("{\"ip\":\"192.0.2.1\"}"),
  txid: "a".repeat(64),
  address: "n1",
  height: 690,
  expires_in: 20,
  expired: false,
  ...more
})

const REGTEST = JSON.stringify({ status: "healthy", block_height: 700, network: "regtest" })

/** Knows `d/x`, and `d/old` that expired; closes the connection of a client that asks for `d/away`. */
const namedDaemon = fakeDaemon(({ method, params }) => {
  if (method !== "name_show") return undefined
  switch (params[0]) {
    case hex("d/x"):
      return { result: shown("d/x") }
    case hex("d/old"):
      return { result: shown("d/old", { height: 600, expires_in: -70, expired: true }) }
    case hex("d/away"):
      return "hang up"
    default:
      return { code: -4, message: "name never existed" }
  }
}, REGTEST)

const configOf = (port: number): string =>
  JSON.stringify({ mode: "daemon", network: "regtest", rpcAddr: `http://127.0.0.1:${port}` })

/** An example while it runs. */
class Example {
  readonly child: ChildProcessWithoutNullStreams
  readonly exit: Promise<number | NodeJS.Signals | null>
  stdout = ""
  stderr = ""

  constructor(name: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [fileURLToPath(built(name)), ...args], { env: { ...process.env, ...env } })
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => void (this.stdout += text))
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => void (this.stderr += text))
    this.exit = new Promise((resolve) => this.child.once("close", (code, signal) => resolve(code ?? signal)))
  }

  /** Waits until standard output matches; returns what the first group of the pattern caught. */
  says(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const [all, group = all] = pattern.exec(this.stdout) ?? []
        if (group !== undefined) resolve(group)
      }
      look()
      this.child.stdout.on("data", look)
      this.child.once("close", () => reject(new Error(`ended without saying ${pattern}: ${this.stdout}${this.stderr}`)))
    })
  }
}

const start = (name: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => new Example(name, args, env)),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

// Most of the time goes into starting processes, which can start concurrently.
describe("the examples", { concurrent: true }, () => {
  it.scopedLive("resolve.ts prints what was found, and tells by its exit code what was not", () =>
    Effect.gen(function*() {
      const NAMES = configOf((yield* namedDaemon).port)
      const absent = configOf(yield* freePort)
      const some = yield* start("resolve", ["d/none", "d/old", "d/x"], { NAMES })
      const away = yield* start("resolve", ["d/x"], { NAMES: absent })
      const wrong = yield* start("resolve", ["--timeout", "0", "d/x"], { NAMES })
      const codes = yield* Effect.promise(() => Promise.all([some.exit, away.exit, wrong.exit]))
      assert.deepStrictEqual(codes, [1, 3, 2])
      const record: { readonly name: string } = JSON.parse(some.stdout)
      assert.strictEqual(record.name, "d/x")
      assert.match(some.stderr, /^name not found: 'd\/none'\nname expired: 'd\/old', last updated at height 600\n$/)
      assert.match(away.stderr, /^cannot reach a daemon at .*\n$/)
      assert.match(wrong.stderr, /^usage: /)
    }))

  it.scopedLive("bit-site.ts fetches a page whose certificate is in the value, and no other", () =>
    Effect.gen(function*() {
      const server = yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const made = createServer(
            { key: TEST_KEY, cert: TEST_CERTIFICATE },
            (request, response) => response.end(`${request.headers.host} has ${request.url}`)
          )
          made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
        }),
        (made) => Effect.sync(() => void made.close().closeAllConnections())
      )
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      const key = new X509Certificate(TEST_CERTIFICATE).publicKey.export({ type: "spki", format: "der" })
      const siteOf = (certified: Uint8Array) => {
        const tls = [[3, 1, 1, createHash("sha256").update(certified).digest("base64")]]
        return JSON.stringify({ ip: "127.0.0.1", map: { _tcp: { map: { [`_${port}`]: { tls } } } } })
      }
      const values = new Map([["d/site", siteOf(key)], ["d/false", siteOf(Buffer.from("another key"))]])
      const daemon = yield* fakeDaemon(({ method, params }) => {
        const [name = "", value = ""] = [...values].find(([each]) => hex(each) === params[0]) ?? []
        return method === "name_show" && name !== "" ? { result: shown(name, { value: hex(value) }) } : undefined
      }, REGTEST)
      const NAMES = configOf(daemon.port)
      const right = yield* start("bit-site", [`https://site.bit:${port}/page?a=b`], { NAMES })
      const wrong = yield* start("bit-site", [`https://false.bit:${port}/`], { NAMES })
      const codes = yield* Effect.promise(() => Promise.all([right.exit, wrong.exit]))
      assert.deepStrictEqual([right.stdout, right.stderr], [`site.bit:${port} has /page?a=b\n`, ""])
      assert.deepStrictEqual([wrong.stdout, codes], ["", [0, 1]])
      assert.match(wrong.stderr, /^the certificate of false\.bit:\d+ is not the one in the value of its name\n$/)
    }))

  it.scopedLive("webhook.ts accepts a message that is signed, and nothing else", () =>
    Effect.gen(function*() {
      const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
      const receiver = yield* start("webhook", ["0"], { WEBHOOK_SECRET: secret })
      const key = keyOfSecret(Redacted.make(secret)) ?? assert.fail("no key")
      const now = yield* unixTime
      yield* Effect.promise(async () => {
        const port = await receiver.says(/port: (\d+)/)
        const send = async (body: string, headers: Readonly<Record<string, string>>) =>
          (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status
        const body = "{\"type\":\"names.block\",\"height\":7,\"events\":[{},{}]}"
        const signed = signedHeaders({ id: "msg_a_1", timestamp: now, body }, key)
        assert.strictEqual(await send(body, signed), 204)
        assert.strictEqual(await send(body, signed), 204, "again")
        assert.strictEqual(await send(body.replace("7", "8"), signed), 401, "another body")
        assert.strictEqual(await send(body, { ...signed, "webhook-id": "msg_a_2" }), 401, "another id")
        assert.strictEqual(
          await send(body, signedHeaders({ id: "msg_a_1", timestamp: now - 400, body }, key)),
          401,
          "an old message"
        )
        assert.strictEqual(await send(body, {}), 401, "no signature")
        assert.strictEqual(receiver.stdout.match(/names\.block 7: 2 events/g)?.length, 1, "told once")
      })
    }))

  it.scopedLive("express-server.ts answers with the right statuses, and ends by SIGTERM", () =>
    Effect.gen(function*() {
      const NAMES = configOf((yield* namedDaemon).port)
      const server = yield* start("express-server", [], { NAMES, PORT: "0" })
      yield* Effect.promise(async () => {
        const port = await server.says(/port: (\d+)/)
        const answer = async (path: string) => {
          const response = await fetch(`http://127.0.0.1:${port}${path}`)
          const { error, value }: { readonly error?: string; readonly value?: string } = JSON.parse(
            await response.text()
          )
          return [response.status, value ?? error]
        }
        assert.deepStrictEqual(await answer("/resolve/d%2Fx"), [200, "{\"ip\":\"192.0.2.1\"}"])
        assert.deepStrictEqual(await answer("/resolve/d%2Fnone"), [404, "name not found: 'd/none'"])
        assert.deepStrictEqual((await answer("/resolve/d%2Fold"))[0], 410)
        assert.deepStrictEqual((await answer("/resolve/d%2Faway"))[0], 503)
        assert.deepStrictEqual((await answer(`/resolve/${"x".repeat(256)}`))[0], 400)
        assert.deepStrictEqual((await answer("/resolve/%zz"))[0], 400)
        assert.deepStrictEqual((await answer("/health"))[0], 200)
        assert.deepStrictEqual(await answer("/other"), [404, "no such page"])
        server.child.kill("SIGTERM")
        assert.strictEqual(await server.exit, 0)
        assert.strictEqual(server.stderr, "")
      })
    }))

  it.scopedLive("http-api.ts serves the API and its description, and ends by SIGTERM", () =>
    Effect.gen(function*() {
      const NAMES = configOf((yield* namedDaemon).port)
      const server = yield* start("http-api", [], { NAMES, PORT: "0" })
      yield* Effect.promise(async () => {
        const address = await server.says(/http:\/\/127\.0\.0\.1:\d+/)
        const found = await (await fetch(`${address}/name?name=d/x`)).json()
        assert.include(found, { name: "d/x", value: "{\"ip\":\"192.0.2.1\"}" })
        const statuses = []
        for (const name of ["d/none", "d/old", "d/away"]) {
          statuses.push((await fetch(`${address}/name?name=${name}`)).status)
        }
        assert.deepStrictEqual(statuses, [404, 410, 503])
        const described = await (await fetch(`${address}/openapi.json`)).text()
        assert.include(described, "\"/name\"")
        server.child.kill("SIGTERM")
        assert.strictEqual(await server.exit, 0)
      })
    }))

  it.scopedLive("route-handler.ts answers requests, with one client however often it is loaded, until that has come to its end", () =>
    Effect.gen(function*() {
      const { calls, port } = yield* namedDaemon
      const kept: { namesClient?: Promise<PromiseClient> } & object = globalThis
      const before = process.env["NAMES"]
      yield* Effect.addFinalizer(() =>
        Effect.promise(async () => {
          if (before === undefined) delete process.env["NAMES"]
          else process.env["NAMES"] = before
          await (await kept.namesClient)?.close()
          delete kept.namesClient
        })
      )
      process.env["NAMES"] = configOf(yield* freePort)
      yield* Effect.promise(async () => {
        const load = async (version: number): Promise<(request: Request) => Promise<Response>> => {
          const { GET } = await import(/* @vite-ignore */ `${built("route-handler").href}?version=${version}`)
          return GET
        }
        const status = async (version: number, query: string): Promise<number> =>
          (await (await load(version))(new Request(`http://localhost/api/resolve${query}`))).status
        assert.strictEqual(await status(1, "?name=d/x"), 503)
        process.env["NAMES"] = configOf(port)
        assert.deepStrictEqual(
          [await status(1, "?name=d/x"), await status(2, "?name=d%2Fx"), await status(1, "?name=d/none")],
          [200, 200, 404]
        )
        assert.deepStrictEqual([await status(2, "?name=d/old"), await status(2, "?name=d/away")], [410, 503])
        assert.deepStrictEqual([await status(2, ""), await status(2, `?name=${"x".repeat(256)}`)], [400, 400])
        await (await kept.namesClient)?.close()
        while (kept.namesClient !== undefined) await new Promise((resolve) => setImmediate(resolve))
        const response = await (await load(3))(new Request("http://localhost/api/resolve?name=d/x"))
        assert.include(await response.json(), { name: "d/x", value: "{\"ip\":\"192.0.2.1\"}" })
      })
      // Each opening of a client asks for this alone; each resolution asks for it together with the name, and once more
      // for the name alone where it is expired.
      const asked = calls.filter(({ method }) => method === "getblockchaininfo").length
      assert.strictEqual(asked - calls.filter(({ method }) => method === "name_show").length, 2 - 1)
    }))

  it.scopedLive("effect-app.ts tells where domains point to, watches, and ends by SIGTERM", () =>
    Effect.gen(function*() {
      const NAMES = configOf((yield* namedDaemon).port)
      const app = yield* start("effect-app", ["d/x", "d/none", "d/old"], { NAMES })
      yield* Effect.promise(async () => {
        await app.says(/watching domains/)
        for (
          const line of ["d/x is at 192.0.2.1", "d/none is free", "d/old expired; its last update is in block 600"]
        ) {
          assert.include(app.stdout, line)
        }
        app.child.kill("SIGTERM")
        assert.strictEqual(await app.exit, 0)
        assert.include(app.stdout, "stopping")
        assert.strictEqual(app.stderr, "")
      })
    }))

  it.scopedLive("light-client.ts shows the progress until the names are known, then them", () =>
    Effect.gen(function*() {
      const window = { blocks: 9, of: 130, names: 4, unchecked: 0 }
      const ready = { phase: "ready", proof: "signatures", height: 700, headers: 700, synced: true, percent: 100 }
      const steps = [
        { ...ready, phase: "headers", proof: "work", synced: false, percent: 12, secondsleft: null, window },
        { ...ready, phase: "window", proof: "work", synced: false, percent: 50, secondsleft: 3, window },
        { ...ready, secondsleft: 0, window: { ...window, blocks: 130 } }
      ]
      let at = 0
      const { port } = yield* fakeDaemon(({ method, params }) => {
        if (method === "getsyncstatus") return { result: steps[Math.min(at++, 2)] }
        if (method !== "name_show") return undefined
        return params[0] === hex("d/x")
          ? { result: shown("d/x", { proof: "signatures" }) }
          : { code: -4, message: "name never existed" }
      })
      const light = yield* start("light-client", ["d/x", "d/none"], { NAMES: configOf(port) })
      assert.strictEqual(yield* Effect.promise(() => light.exit), 1)
      assert.strictEqual(light.stdout, "d/x: {\"ip\":\"192.0.2.1\"} (block 700, signatures)\n")
      assert.match(light.stderr, /^(headers\n)?window\nname not found: 'd\/none'\n$/)
      const away = yield* start("light-client", ["d/x"], { NAMES: configOf(yield* freePort) })
      assert.strictEqual(yield* Effect.promise(() => away.exit), 3)
    }))

  it.scopedLive("register.ts says what is missing", () =>
    Effect.gen(function*() {
      const NAMES = configOf((yield* namedDaemon).port)
      const register = yield* start("register", ["d/new", "{}"], { NAMES })
      assert.strictEqual(yield* Effect.promise(() => register.exit), 1)
      assert.include(register.stderr, "this needs a wallet")
      assert.strictEqual(register.stdout, "")
    }))
})
