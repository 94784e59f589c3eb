import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Queue, Redacted } from "effect"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { type PageHandler, pageRequest, type VisitHandler } from "../../src/http/Pages.ts"
import { eventually } from "../support/eventually.ts"
import { testServer } from "../support/rpcServer.ts"

const HTML = { accept: "text/html,application/xhtml+xml;q=0.9" }

const status: PageHandler = {
  serves: ({ acceptsHtml, path }) => acceptsHtml && path === "/",
  authenticated: true,
  answer: ({ query }) =>
    Effect.succeed({
      status: 200,
      headers: { "Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY" },
      body: `<p>ä ${query.get("q") ?? ""}`
    })
}

const plain: PageHandler = {
  serves: ({ path }) => path.startsWith("/rest/"),
  authenticated: false,
  answer: ({ path }) =>
    Effect.as(turnOfEventLoop, { status: 404, headers: { "Content-Type": "text/plain" }, body: Buffer.from(path) })
}

const broken: PageHandler = { ...plain, serves: ({ path }) => path === "/broken", answer: () => Effect.die("inside") }

const server = (options: Parameters<typeof testServer>[0] = {}) =>
  Effect.tap(testServer(options), ({ pages }) => pages.install([status, plain, broken]))

const CREDENTIALS = { user: "alice", password: Redacted.make("secret") }
const basic = (password: string): string => `Basic ${Buffer.from(`alice:${password}`).toString("base64")}`

describe("pageRequest", () => {
  it("parses a target, and reads Accept", () => {
    const { path, query } = pageRequest("/a%20b?q=c%20d&q=e?f")
    assert.deepStrictEqual([path, query.getAll("q")], ["/a%20b", ["c d", "e?f"]])
    for (
      const [accept, html] of [
        ["text/html", true],
        ["application/json, TEXT/HTML;q=0.1", true],
        ["*/*", false],
        ["text/htmlx", false],
        ["xtext/html", false],
        ["", false]
      ] as const
    ) assert.strictEqual(pageRequest("/", { accept }).acceptsHtml, html, accept)
  })
})

describe("documents on the listener", () => {
  it.scopedLive("are served to GET and HEAD beside JSON-RPC", () =>
    Effect.gen(function*() {
      const { http, post } = yield* server()
      const shown = yield* http({ path: "/?q=x", headers: HTML })
      assert.deepStrictEqual([shown.status, shown.text, shown.headers["x-frame-options"]], [200, "<p>ä x", "DENY"])
      assert.strictEqual(shown.headers["content-length"], "7")
      const head = yield* http({ method: "HEAD", path: "/?q=x", headers: HTML })
      assert.deepStrictEqual([head.status, head.text, head.headers["content-length"]], [200, "", "7"])
      const bytes = yield* http({ path: "/rest/a%20b" })
      assert.deepStrictEqual([bytes.status, bytes.text], [404, "/rest/a%20b"])
      assert.strictEqual((yield* http({ path: "/" })).status, 405)
      assert.strictEqual((yield* http({ path: "/?q=x" })).status, 405)
      assert.strictEqual((yield* http({ method: "PUT", path: "/", headers: HTML })).status, 405)
      assert.strictEqual((yield* http({ method: "POST", path: "/rest/x", body: "" })).status, 404)
      assert.strictEqual((yield* post({ id: 1, method: "getblockcount" }, { headers: HTML })).status, 200)
    }))

  it.scopedLive("are missing until they are installed", () =>
    Effect.gen(function*() {
      const { http } = yield* testServer()
      assert.strictEqual((yield* http({ path: "/", headers: HTML })).status, 405)
      assert.strictEqual((yield* http({ path: "/rest/x" })).status, 404)
    }))

  it.scopedLive("require credentials if they are authenticated and credentials are set, and delay wrong ones", () =>
    Effect.gen(function*() {
      const { http } = yield* server({ credentials: CREDENTIALS })
      const get = (authorization?: string) =>
        Effect.timed(
          http({ path: "/", headers: { ...HTML, ...(authorization === undefined ? {} : { authorization }) } })
        )
      const [, missing] = yield* get()
      assert.deepStrictEqual([missing.status, missing.headers["www-authenticate"]], [401, "Basic realm=\"jsonrpc\""])
      assert.match(missing.text, /run svcd-cli desk/)
      const [took, wrong] = yield* get(basic("guess"))
      assert.deepStrictEqual([wrong.status, wrong.text], [401, missing.text])
      assert.isAtLeast(Duration.toMillis(took), 245)
      assert.strictEqual((yield* get(basic("secret")))[1].status, 200)
      assert.strictEqual((yield* http({ path: "/rest/x" })).status, 404)
    }))

  it.scopedLive("take turns with costly calls: 20 at once are not made in one turn of the event loop", () =>
    Effect.gen(function*() {
      let turn = 0
      const made: Array<number> = []
      const costly: PageHandler = {
        ...plain,
        answer: () =>
          Effect.sync(() => {
            const until = performance.now() + 2
            while (performance.now() < until);
            made.push(turn)
            return { status: 200, headers: {}, body: "" }
          })
      }
      const { converse, pages } = yield* testServer()
      yield* pages.install([costly])
      const count = (): void => {
        turn++
        immediate = setImmediate(count)
      }
      let immediate = setImmediate(count)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearImmediate(immediate)))
      const get = "GET /rest/x HTTP/1.1\r\nHost: x\r\n\r\n"
      yield* Effect.all(Array.from({ length: 20 }, () => converse(get, 1)), { concurrency: "unbounded" })
      assert.deepStrictEqual([made.length, new Set(made).size], [20, 20])
    }))

  it.scopedLive("count as requests", () =>
    Effect.gen(function*() {
      const { http } = yield* server({ rateLimit: 2 })
      const statuses: Array<number> = []
      for (let i = 0; i < 4; i++) statuses.push((yield* http({ path: "/rest/x" })).status)
      assert.deepStrictEqual(statuses, [404, 404, 429, 429])
    }))

  it.scopedLive("are refused under a foreign host name if no credentials are set", () =>
    Effect.gen(function*() {
      const open = yield* server()
      const shown = (host: string) =>
        Effect.map(open.http({ path: "/", headers: { ...HTML, host } }), (answer) => answer.status)
      assert.strictEqual(yield* shown("evil.example"), 403)
      assert.strictEqual(yield* shown("localhost:8336"), 200)
      const closed = yield* server({ credentials: CREDENTIALS })
      const headers = { ...HTML, host: "node.example", authorization: basic("secret") }
      assert.strictEqual((yield* closed.http({ path: "/", headers })).status, 200)
    }))

  it.scopedLive("reveal no internal details when they fail, and are not served by a stopping node", () =>
    Effect.gen(function*() {
      const { http, lifecycle } = yield* server()
      const { status, text } = yield* http({ path: "/broken" })
      assert.deepStrictEqual([status, text], [500, "Internal error"])
      yield* lifecycle.stop
      const stopping = yield* http({ path: "/", headers: HTML })
      assert.deepStrictEqual([stopping.status, stopping.headers.connection], [503, "close"])
    }))

  it.scopedLive("end for a reader whose session ends, who gets nothing more", () =>
    Effect.gen(function*() {
      let isCurrent = true
      const steps = yield* Queue.unbounded<string>()
      const stream: PageHandler = {
        serves: ({ path }) => path === "/stream",
        authenticated: true,
        forReaders: true,
        answer: () =>
          Effect.succeed({
            status: 200,
            headers: {},
            body: { write: (write) => Effect.forever(Effect.flatMap(Queue.take(steps), write)) }
          })
      }
      const sessions: VisitHandler = {
        serves: () => false,
        readerOf: (cookie) => isCurrent && cookie === "reader=1" ? { user: "alice", permitted: undefined } : undefined,
        visit: () => Effect.dieMessage("no page")
      }
      const { http, pages } = yield* testServer({ credentials: CREDENTIALS })
      yield* pages.install([stream, sessions])
      const reading = yield* Effect.fork(http({ path: "/stream", headers: { cookie: "reader=1" } }))
      yield* Queue.offer(steps, "before ")
      yield* eventually("the first text", Effect.map(Queue.size(steps), (size) => size < 0))
      isCurrent = false
      yield* Queue.offer(steps, "after")
      const { status, text } = yield* Fiber.join(reading)
      assert.deepStrictEqual([status, text], [200, "before "])
      const again = yield* http({ path: "/stream", headers: { cookie: "reader=1" } })
      assert.strictEqual(again.status, 401)
    }))
})
