import { Context, Effect, Exit, Layer, Logger, type Scope } from "effect"
import { type IncomingHttpHeaders, request } from "node:http"
import { connect } from "node:net"
import type { BindFailed } from "../../src/base/listening.ts"
import { Budget, MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { Health, type HealthReport } from "../../src/http/health.ts"
import * as Pages from "../../src/http/Pages.ts"
import * as RpcServer from "../../src/http/RpcServer.ts"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import { contract } from "../../src/rpc/method/contract.ts"
import { method } from "../../src/rpc/method/method.ts"
import type { Method } from "../../src/rpc/method/methodTable.ts"
import * as Param from "../../src/rpc/method/params.ts"
import * as Result from "../../src/rpc/method/results.ts"
import { RpcError } from "../../src/rpc/method/RpcError.ts"
import * as Control from "../../src/rpc/methods/control.ts"
import { inTime } from "./eventually.ts"
import { fakeMethod } from "./fakeMethod.ts"
import { HEALTHY } from "./healthy.ts"

/** A daemon of its listener alone, with methods that need no chain, for tests over loopback. */

export const GENESIS = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"

/** Methods of a chain that has its genesis block and nothing else. */
export const FAKE_METHODS: ReadonlyArray<Method> = [
  method(
    contract({
      name: "getblockcount",
      group: "Blockchain",
      summary: "Returns the height of the tip.",
      params: {},
      results: [{ schema: Result.integer("The height") }],
      examples: [[]]
    }),
    () => Effect.succeed(0)
  ),
  method(
    contract({
      name: "getblockhash",
      group: "Blockchain",
      summary: "Returns the hash of the block at a height.",
      params: { height: Param.int32("The height.") },
      results: [{ schema: Result.hex("The hash") }],
      examples: [[0]],
      errors: ["-8 Block height out of range"]
    }),
    ({ height }) =>
      height === 0 ? Exit.succeed(GENESIS) : Exit.fail(RpcError.invalidParameter("Block height out of range"))
  ),
  fakeMethod({
    name: "slow",
    summary: "Answers after a while.",
    params: { milliseconds: Param.int32("How long to wait.") }
  }, ({ milliseconds }) => Effect.as(Effect.sleep(milliseconds), "done")),
  fakeMethod({
    name: "write",
    summary: "Changes something after a while.",
    writes: true,
    params: { milliseconds: Param.withDefault(Param.int32("How long it takes."), 0) }
  }, ({ milliseconds }) => Effect.as(Effect.sleep(milliseconds), "done")),
  fakeMethod({ name: "waitforever", summary: "Never answers by itself.", params: {}, waits: true }, () => Effect.never),
  fakeMethod(
    { name: "broken", summary: "Has a defect.", params: { how: Param.string("throw, die or nan.") } },
    ({ how }) => {
      if (how === "throw") throw new Error("secret of the inside")
      return how === "die" ? Effect.die(new Error("secret of the inside")) : Effect.succeed(Number.NaN)
    }
  ),
  fakeMethod(
    { name: "whoami", summary: "Tells what the server knows of the caller.", params: {} },
    (_, { peer, remote, wallet }) => Effect.succeed({ peer, remote, wallet: wallet ?? null })
  )
]

export interface TestServerOptions extends Partial<Omit<RpcServer.RpcServerConfig, "listen">> {
  readonly methods?: ReadonlyArray<Method>
  readonly health?: Effect.Effect<HealthReport>
  readonly budget?: MemoryBudget
  readonly observe?: NonNullable<Dispatch.DispatchOptions["observe"]>
  /** Leaves the server in its warm-up. */
  readonly warmUp?: boolean
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface HttpRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export const httpRequest = (port: number, options: HttpRequest): Effect.Effect<HttpAnswer, Error> =>
  Effect.async((resume) => {
    const { body, headers = {}, method = "GET", path = "/" } = options
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
    const outgoing = request(
      { port, host: "127.0.0.1", method, path, agent: false, headers: { ...length, ...headers } },
      (incoming) => {
        const parts: Array<Buffer> = []
        incoming.on("data", (part: Buffer) => parts.push(part))
        incoming.on("error", (error) => resume(Effect.fail(error)))
        incoming.on("end", () =>
          resume(
            Effect.succeed({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text: Buffer.concat(parts).toString("utf8")
            })
          ))
      }
    )
    outgoing.on("error", (error) => resume(Effect.fail(error)))
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })

/** The number of whole answers in what was received, without `100 Continue`. */
const wholeAnswers = (text: string): number => {
  let count = 0
  for (let at = 0;;) {
    const end = text.indexOf("\r\n\r\n", at)
    if (end < 0) return count
    const head = text.slice(at, end)
    at = end + 4 + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (at > text.length) return count
    if (!head.startsWith("HTTP/1.1 100 ")) count++
  }
}

/**
 * Opens a socket, sends text unchanged, and returns what was received: all until the server closes the connection, or
 * until so many answers are whole.
 */
export const converse = (port: number, text: string, answers = Infinity): Effect.Effect<string> =>
  inTime(
    Effect.async((resume) => {
      const socket = connect(port, "127.0.0.1")
      let received = ""
      socket.on("data", (part) => {
        received += part.toString("latin1")
        if (wholeAnswers(received) >= answers) socket.destroy()
      })
      socket.on("error", () => {})
      socket.on("close", () => resume(Effect.succeed(received)))
      socket.on("connect", () => socket.write(text))
      return Effect.sync(() => socket.destroy())
    }),
    `${answers} answers, or the end of the connection`
  )

/** The text of a POST request, for `converse`. */
export const postText = (body: string, head = ""): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`

export interface TestServer {
  readonly port: number
  readonly lifecycle: typeof Lifecycle.Lifecycle.Service
  readonly dispatch: typeof Dispatch.Dispatch.Service
  readonly pages: typeof Pages.Pages.Service
  readonly http: (options: HttpRequest) => Effect.Effect<HttpAnswer, Error>
  /** Posts a JSON value, or text as it is. */
  readonly post: (value: unknown, options?: HttpRequest) => Effect.Effect<HttpAnswer, Error>
  readonly converse: (text: string, answers?: number) => Effect.Effect<string>
}

export const testServer = (
  options: TestServerOptions = {}
): Effect.Effect<TestServer, BindFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const {
      budget = new MemoryBudget(2 ** 30),
      health = Effect.succeed(HEALTHY),
      methods = FAKE_METHODS,
      observe,
      warmUp = false,
      ...config
    } = options
    const server = RpcServer.layer({
      credentials: undefined,
      rateLimit: 0,
      maxRequestSize: 0,
      ...config,
      listen: { host: "127.0.0.1", port: 0 }
    })
    const control = Effect.map(Control.make({ version: "1.2.3", logPath: "" }), (table) => [...methods, ...table])
    const services = Dispatch.installed(control).pipe(
      Layer.provideMerge(server),
      Layer.provideMerge(Dispatch.layer(observe === undefined ? {} : { observe })),
      Layer.provideMerge(Lifecycle.layer),
      Layer.provideMerge(Pages.layer),
      Layer.provide(Layer.succeed(Health, { report: health })),
      Layer.provide(Layer.succeed(Budget, budget))
    )
    const context = yield* Layer.build(services).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    const lifecycle = Context.get(context, Lifecycle.Lifecycle)
    if (!warmUp) yield* lifecycle.running
    const { port } = Context.get(context, RpcServer.RpcServer).address
    const http = (each: HttpRequest) => httpRequest(port, each)
    return {
      port,
      lifecycle,
      dispatch: Context.get(context, Dispatch.Dispatch),
      pages: Context.get(context, Pages.Pages),
      http,
      post: (value, each = {}) =>
        http({ method: "POST", body: typeof value === "string" ? value : JSON.stringify(value), ...each }),
      converse: (text, answers) => converse(port, text, answers)
    }
  })
