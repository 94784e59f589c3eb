import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { connect } from "node:net"
import { gate, type GateListener, type GateSession, type RequestHead } from "../../src/http/gate.ts"
import type { PageHandler, VisitHandler } from "../../src/http/Pages.ts"
import { NOT_FOUND, UNAUTHORIZED_PAGE } from "../../src/http/refusals.ts"
import { testServer, type TestServerOptions } from "../support/rpcServer.ts"

const page = (path: string, authenticated: boolean): PageHandler => ({
  serves: (request) => request.path === path,
  authenticated,
  answer: () => Effect.succeed({ status: 200, headers: {}, body: path })
})

/** Pages with sessions of their own, which also take forms. */
const visited: VisitHandler = {
  serves: (request) => request.path.startsWith("/desk/"),
  readerOf: (cookie) => {
    if (cookie === "reader=right") return { user: "alice", permitted: undefined }
    return cookie === "reader=poor" ?
      { user: "bob", permitted: { methods: new Set(["name_show"]), rights: undefined } }
      : undefined
  },
  visit: () => Effect.succeed({ status: 200, headers: {}, body: "" })
}

/** A page that the cookie of a reader opens. */
const forReaders: PageHandler = {
  ...page("/explorer", true),
  serves: (request) => request.path === "/explorer",
  forReaders: true,
  needs: ({ query }) => query.has("mine") ? ["name_expiring"] : query.has("peers") ? ["getpeerinfo"] : []
}

const PAGES = [page("/public", false), page("/private", true), forReaders, visited]

const LISTENER: GateListener = {
  maxRequestSize: 100,
  ownName: "127.0.0.1",
  open: false,
  stopping: false,
  pages: PAGES,
  demandOf: (method) => ({ method, rights: ["read"] })
}

/** A connection that was admitted with `Basic right`. */
const SESSION: GateSession = { credentials: "Basic right", isAllowed: true, permitted: undefined, delay: undefined }

const RIGHT = { host: "localhost", authorization: "Basic right" }

interface Row {
  readonly why: string
  readonly verb?: string
  readonly target?: string
  readonly length?: number | undefined
  readonly headers?: RequestHead["headers"]
  readonly session?: Partial<GateSession>
  readonly listener?: Partial<GateListener>
  readonly verdict: string
}

/** The verdict on one line, such as `503 Shutting down` or `Rpc a b`; `404` without its sentence. */
const decide = ({ headers = RIGHT, length = 100, listener, session, target = "/", verb = "POST" }: Row): string => {
  const verdict = gate({ verb, target, length, headers }, { ...SESSION, ...session }, { ...LISTENER, ...listener })
  switch (verdict._tag) {
    case "Refuse":
      return `${verdict.refusal.status} ${verdict.refusal === NOT_FOUND ? "" : verdict.refusal.text}`.trim()
    case "Rpc":
      return `Rpc ${verdict.wallet ?? ""}`.trim()
    case "Health":
      return `Health ${verdict.question}`
    case "Page":
      return `Page ${verdict.request.path}`
    case "Wait":
      return `Wait ${verdict.authorization}`
  }
}

const OPEN = { open: true }
const FOREIGN = "403 Requests from pages of other sites are refused"
const FOREIGN_HOST = "403 Without credentials, requests under a name that may belong to others are refused: " +
  "use the address of this machine, or set rpcuser and rpcpassword"

/** Each check, on both sides of its boundary. */
const CHECKS: ReadonlyArray<Row> = [
  { why: "a call passes", verdict: "Rpc" },
  { why: "a call to a wallet passes", target: "/wallet/a%20b", verdict: "Rpc a b" },
  { why: "a stopping node answers nothing", listener: { stopping: true }, verdict: "503 Shutting down" },
  { why: "a body may have the largest size", length: 100, verdict: "Rpc" },
  { why: "a body may not be larger", length: 101, verdict: "413 Request body too large" },
  {
    why: "a form for a page with sessions passes without credentials",
    target: "/desk/a",
    headers: {},
    verdict: "Page /desk/a"
  },
  {
    why: "a form from a page of another site is refused",
    target: "/desk/a",
    headers: { host: "localhost", origin: "https://evil.example" },
    verdict: FOREIGN
  },
  {
    why: "a form that a browser marks as coming from another site is refused",
    target: "/desk/a",
    headers: { "sec-fetch-site": "cross-site" },
    verdict: FOREIGN
  },
  ...[
    ["opens a page for people", "GET", "/explorer", "reader=right", "Page /explorer"],
    ["that is another opens none", "GET", "/explorer", "reader=wrong", "401"],
    ["shows nothing of wallets", "GET", "/explorer?mine", "reader=right", "401"],
    ["has the rights of its user", "GET", "/explorer", "reader=poor", "403"],
    ["opens no other page", "GET", "/private", "reader=right", "401"],
    ["makes no call", "POST", "/", "reader=right", "401"],
    ["makes no call of a wallet", "POST", "/wallet/", "reader=right", "401"],
    ["makes no call under the other path", "POST", "/rpc", "reader=right", "401"],
    ["sends nothing to a page", "POST", "/explorer", "reader=right", "404"],
    ["puts nothing", "PUT", "/explorer", "reader=right", "404"]
  ].map(([what, verb = "", target = "", cookie = "", verdict = ""]): Row => ({
    why: `the cookie of a reader ${what}`,
    verb,
    target,
    headers: { host: "localhost", cookie },
    // Credentials that were admitted on this connection are not those of the request.
    session: { credentials: "Basic right" },
    verdict: verdict === "401" && verb === "GET" ? `401 ${UNAUTHORIZED_PAGE.text}` : verdict
  })),
  { why: "a form for another page is refused", target: "/public", verdict: "404" },
  {
    why: "a form waits for the rate limit",
    target: "/desk/a",
    session: { delay: 3 },
    verdict: "429 Too many requests"
  },
  { why: "a body of unknown size is measured later", length: undefined, verdict: "Rpc" },
  {
    why: "callers at other addresses are refused first",
    session: { isAllowed: false },
    verb: "OPTIONS",
    verdict: "403"
  },
  { why: "OPTIONS is not implemented", verb: "OPTIONS", verdict: "501" },
  { why: "PATCH is not implemented", verb: "PATCH", verdict: "501" },
  { why: "unknown verbs are refused", verb: "DELETE", verdict: "405" },
  { why: "a path has no answer", target: "/nothing", verdict: "404" },
  { why: "health may be read", verb: "GET", target: "/health", verdict: "Health health" },
  { why: "health has a head", verb: "HEAD", target: "/ready", verdict: "Health ready" },
  { why: "health may only be read", target: "/health", verdict: "405" },
  { why: "health needs no credentials", verb: "GET", target: "/ready", headers: {}, verdict: "Health ready" },
  { why: "a call is a POST", verb: "GET", verdict: "405 JSONRPC server handles only POST requests" },
  { why: "PUT is known and no call", verb: "PUT", verdict: "405 JSONRPC server handles only POST requests" },
  {
    why: "without credentials the host must be this machine",
    headers: { host: "evil.example" },
    listener: OPEN,
    verdict: FOREIGN_HOST
  },
  { why: "with credentials the host does not matter", headers: { ...RIGHT, host: "evil.example" }, verdict: "Rpc" },
  { why: "pages of other sites cannot call", headers: { ...RIGHT, origin: "http://evil.example" }, verdict: FOREIGN },
  { why: "our own pages can call", headers: { ...RIGHT, origin: "http://localhost" }, verdict: "Rpc" },
  { why: "browsers report other sites", headers: { ...RIGHT, "sec-fetch-site": "cross-site" }, verdict: FOREIGN },
  { why: "no credentials are required", headers: {}, listener: OPEN, verdict: "Rpc" },
  { why: "credentials are not checked without need", headers: RIGHT, session: {}, listener: OPEN, verdict: "Rpc" },
  { why: "credentials are missing", headers: { host: "localhost" }, verdict: "401" },
  { why: "the first credentials wait", session: { credentials: undefined }, verdict: "Wait Basic right" },
  { why: "other credentials wait", headers: { authorization: "Basic other" }, verdict: "Wait Basic other" },
  { why: "a client beyond the rate limit is refused", session: { delay: 3 }, verdict: "429 Too many requests" },
  { why: "a document is shown", verb: "GET", target: "/public?a=1", headers: {}, verdict: "Page /public" },
  { why: "a document is not posted", target: "/public", verdict: "404" },
  {
    why: "a document counts for the rate limit",
    verb: "GET",
    target: "/public",
    session: { delay: 1 },
    verdict: "429 Too many requests"
  },
  {
    why: "a public document is shown under every host name",
    verb: "GET",
    target: "/public",
    headers: { host: "evil.example" },
    listener: OPEN,
    verdict: "Page /public"
  },
  {
    why: "a private document is not",
    verb: "GET",
    target: "/private",
    headers: { host: "evil.example" },
    listener: OPEN,
    verdict: FOREIGN_HOST
  },
  { why: "a private document is shown to the admitted", verb: "GET", target: "/private", verdict: "Page /private" },
  {
    why: "a private document needs credentials",
    verb: "GET",
    target: "/private",
    headers: {},
    verdict: `401 ${UNAUTHORIZED_PAGE.text}`
  },
  {
    why: "a private document waits for them",
    verb: "HEAD",
    target: "/private",
    session: { credentials: undefined },
    verdict: "Wait Basic right"
  },
  {
    why: "a private document is not shown to a user without the right to read",
    verb: "GET",
    target: "/private",
    session: { permitted: { methods: undefined, rights: new Set(["names"]) } },
    verdict: "403 getblockchaininfo needs the right read here"
  },
  {
    why: "calls of such a user are judged when they are read",
    session: { permitted: { methods: new Set(), rights: undefined } },
    verdict: "Rpc"
  },
  {
    why: "a private document counts for the rate limit",
    verb: "GET",
    target: "/private",
    session: { delay: 1 },
    verdict: "429 Too many requests"
  }
]

describe("the gate", () => {
  it.each(CHECKS)("$why: $verdict", (row) => {
    assert.strictEqual(decide(row), row.verdict)
  })

  it("refuses a request with several faults for the first one, in the order of the reference node", () => {
    const row = {
      why: "everything is wrong",
      verb: "OPTIONS",
      target: "/nothing",
      length: 101,
      headers: { host: "evil.example", origin: "http://other.example" },
      session: { credentials: undefined, delay: 1 },
      listener: { stopping: true }
    }
    const repairs: ReadonlyArray<readonly [verdict: string, Partial<Row>]> = [
      ["503 Shutting down", { listener: { ...row.listener, stopping: false } }],
      ["413 Request body too large", { length: 100 }],
      ["501", { verb: "DELETE" }],
      ["405", { verb: "PUT" }],
      ["404", { target: "/" }],
      ["405 JSONRPC server handles only POST requests", { verb: "POST", listener: OPEN }],
      [FOREIGN_HOST, { listener: {} }],
      [FOREIGN, { headers: { host: "evil.example" } }],
      ["401", { headers: { authorization: "Basic right" } }],
      ["Wait Basic right", { session: { delay: 1 } }],
      ["429 Too many requests", { session: {} }],
      ["Rpc", {}]
    ]
    let current: Row = { ...row, verdict: "" }
    for (const [verdict, repair] of repairs) {
      assert.strictEqual(decide(current), verdict)
      current = { ...current, ...repair }
    }
  })
})

const post = (target: string, lines: ReadonlyArray<string>, body = "{\"id\":1,\"method\":\"getblockcount\"}"): string =>
  [`POST ${target} HTTP/1.1`, "Host: localhost", ...lines, `Content-Length: ${body.length}`, "", body].join("\r\n")

const basic = (pair: string): string => `Authorization: Basic ${Buffer.from(pair).toString("base64")}`

const GUARDED: TestServerOptions = {
  credentials: { user: "alice", password: Redacted.make("right") },
  maxRequestSize: 200,
  limits: { penalty: 1 }
}

/** Sends requests on one connection, each after the answer to the one before; returns the status of the last answer. */
const lastStatus = (port: number, requests: ReadonlyArray<string>): Effect.Effect<number, Error> =>
  Effect.async((resume) => {
    const socket = connect(port, "127.0.0.1")
    let next = 0
    const send = (): void => void socket.write(requests[next++] ?? "")
    socket.on("connect", send)
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("data", (answer) => {
      if (next < requests.length) return send()
      socket.destroy()
      resume(Effect.succeed(Number(answer.toString("latin1", 0, 12).slice(-3))))
    })
    return Effect.sync(() => socket.destroy())
  })

interface Conversation {
  readonly requests: ReadonlyArray<string>
  readonly options: TestServerOptions
  /** Of the last answer. */
  readonly status: number
}

/** A user with one method. */
const LIMITED: TestServerOptions = {
  ...GUARDED,
  permissions: { whitelists: [{ user: "alice", words: ["getblockcount"] }], rights: [], byDefault: undefined }
}
/** Runs to its end, so that it waits for a place of its own. */
const WRITE = JSON.stringify({ id: 1, method: "write" })
const OTHER = "{\"id\":1,\"method\":\"getblockhash\",\"params\":[0]}"
const COUNT = "{\"id\":1,\"method\":\"getblockcount\"}"

/** Each request suits the fast lane. */
const CONVERSATIONS: ReadonlyArray<Conversation> = [
  { requests: [post("/", [basic("alice:right")])], options: GUARDED, status: 200 },
  { requests: [post("/wallet/a", [basic("alice:right")])], options: GUARDED, status: 200 },
  { requests: [post("/nothing", [basic("alice:right")])], options: GUARDED, status: 404 },
  { requests: [post("/health", [basic("alice:right")])], options: GUARDED, status: 405 },
  { requests: [post("/", [basic("alice:right")], " ".repeat(201))], options: GUARDED, status: 413 },
  { requests: [post("/", [])], options: GUARDED, status: 401 },
  { requests: [post("/", [basic("alice:wrong")])], options: GUARDED, status: 401 },
  { requests: [post("/", [], "[{},{}]"), post("/", [])], options: { rateLimit: 1 }, status: 429 },
  { requests: [post("/", [], WRITE)], options: { limits: { concurrentRequests: 0 } }, status: 503 },
  { requests: [post("/", [basic("alice:right")])], options: LIMITED, status: 200 },
  { requests: [post("/", [basic("alice:right")], OTHER)], options: LIMITED, status: 403 },
  { requests: [post("/", [basic("alice:right")], `[${OTHER},${COUNT}]`)], options: LIMITED, status: 403 },
  { requests: [post("/", []).replace("localhost", "evil.example")], options: {}, status: 403 }
]

describe("both lanes obey the gate", () => {
  for (const fastLane of [true, false]) {
    it.scopedLive(`with the fast lane ${fastLane ? "on" : "off"}`, () =>
      Effect.gen(function*() {
        for (const { options, requests, status } of CONVERSATIONS) {
          const calls: Array<string> = []
          const refused: Array<number> = []
          const { port } = yield* testServer({
            ...options,
            fastLane,
            observe: ({ method }) => void calls.push(method),
            onRefused: (status) => void refused.push(status)
          })
          assert.strictEqual(yield* lastStatus(port, requests), status, requests.at(-1))
          assert.deepStrictEqual(refused, status === 200 ? [] : [status], requests.at(-1))
          assert.strictEqual(calls.includes("getblockcount"), status === 200, requests.at(-1))
        }
      }))
  }
})
