import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as http from "node:http"
import { type Address, formatHostPort } from "../base/addresses.ts"
import { codeOf, type ErrorWords, reasonOf } from "../base/errorCode.ts"
import { USER_RIGHTS, type UserRight } from "../config/accessKinds.ts"
import type { Credentials } from "../config/settings.ts"
import { networkOfChain } from "../protocol/chainNames.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { askHealth } from "./askHealth.ts"
import { failureReason } from "./failureReason.ts"
import { encodeJson, type JsonValue } from "./json/encodeJson.ts"
import { type Json, JsonNumber, JsonObject } from "./json/json.ts"
import { parseJson } from "./json/readJson.ts"
import { MISSING_RIGHT } from "./method/rights.ts"
import { RPC_CODE, type RpcReason } from "./method/RpcError.ts"
import { webOf } from "./webOf.ts"

export class RpcUnreachable extends Data.TaggedError("RpcUnreachable")<{
  /** `host:port`. */
  readonly address: string
  /** The system's code, such as `ECONNREFUSED`. */
  readonly code: string
  /** Whether there was a connection, so that the daemon may have received the request. */
  readonly wasSent: boolean
}> {
  get reason(): string {
    return this.code.startsWith(NO_HTTP) ? "the server does not speak HTTP" : reasonOf(this.code, WORDS)
  }
  override get message(): string {
    return `cannot reach a daemon at ${this.address}: ${this.reason}`
  }
}

/** Prefix of the HTTP parser's error codes. */
const NO_HTTP = "HPE_"

const WORDS: ErrorWords = new Map([["ECONNRESET", "the connection was closed before an answer came"]])

export class RpcUnauthorized extends Data.TaggedError("RpcUnauthorized")<{ readonly address: string }> {
  override get message(): string {
    return `the daemon at ${this.address} does not accept the credentials`
  }
}

export class RpcFailure extends Data.TaggedError("RpcFailure")<{
  readonly code: number
  readonly message: string
  /** The cause that callers act on, by svcd or derived from another daemon's text. */
  readonly reason?: RpcReason | undefined
}> {}

/** Not an answer of a daemon, or the daemon is too busy. */
export class UnexpectedReply extends Data.TaggedError("UnexpectedReply")<{
  readonly address: string
  readonly status: number
  readonly reason: string
  /** The missing right, if the daemon names it. */
  readonly missingRight?: UserRight | undefined
}> {
  override get message(): string {
    return this.reason
  }
}

/** The daemon is on another network and has received no call. */
export class RpcWrongNetwork extends Data.TaggedError("RpcWrongNetwork")<{
  readonly address: string
  readonly wanted: NetworkName
  /** As the daemon names it, if svcd does not know the network. */
  readonly network: string
}> {
  override get message(): string {
    return `the daemon at ${this.address} is on ${this.network}, not ${this.wanted}`
  }
}

export type RpcClientError = RpcUnreachable | RpcUnauthorized | RpcFailure | UnexpectedReply | RpcWrongNetwork

/** A client of a daemon, svcd or the reference node (reference/rpc.md 8). */
export class RpcClient extends Context.Tag("svcd/RpcClient")<RpcClient, {
  /** Parameters are by position or by name. Numbers in the result keep their spelling, such as eight decimals. */
  readonly call: (method: string, params?: CallParams, options?: RpcCallOptions) => Effect.Effect<Json, RpcClientError>
  /** Checks the daemon's network for other requests. Calls do so first and after a lost connection. */
  readonly confirm: Effect.Effect<void, RpcClientError>
  /** Makes read-only calls in one request. The outcomes are in the order of the calls. */
  readonly batch: (
    calls: ReadonlyArray<BatchedCall>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Json, RpcFailure>>, RpcClientError>
}>() {}

export interface RpcCallOptions {
  /** Whether the daemon may receive the call twice. If not, it gets a new connection, as an idle one may be closing. */
  readonly mayRepeat?: boolean
}

export interface BatchedCall {
  readonly method: string
  readonly params: CallParams
}

export type CallParams = ReadonlyArray<JsonValue> | JsonObject | { readonly [name: string]: JsonValue }

export interface RpcClientOptions {
  readonly address: Address
  /** TLS, such as for a proxy in front of a daemon. */
  readonly secure?: boolean
  /** The required network; any if `undefined`. A daemon on another one gets no call. */
  readonly network?: NetworkName | undefined
  /** Prefix of the daemon's paths; empty by default. */
  readonly basePath?: string
  /** A function is called before each request, as credentials may change when the daemon restarts. */
  readonly credentials?: Credentials | (() => Credentials | undefined) | undefined
  /** Calls use the wallet's own path. At the common path, the only loaded wallet would answer, perhaps another one. */
  readonly wallet?: string | undefined
  /** Bytes; 2^28 by default. */
  readonly maxReply?: number
  /** Milliseconds per call; 15 minutes by default. */
  readonly timeout?: number
}

/** The error of a request before a call. The call itself was not sent. */
const unsent = (error: RpcClientError): RpcClientError =>
  error._tag === "RpcUnreachable" ? new RpcUnreachable({ ...error, wasSent: false }) : error

const TIMEOUT = 900_000

/** Milliseconds to wait for a health report, before a call asks for the network. */
const HEALTH_TIMEOUT = 2_000

const NETWORK_CALL = "getblockchaininfo"

const MAX_REPLY = 2 ** 28

const MAX_CONNECTIONS = 8

interface HttpReply {
  readonly missingRight: string | Array<string> | undefined
  readonly status: number
  readonly text: string
}

const readReply = (
  address: string,
  { missingRight, status, text }: HttpReply
): Effect.Effect<Json, RpcClientError> => {
  if (status === 401) return new RpcUnauthorized({ address })
  const reply = parseJson(text)
  if (!(reply instanceof JsonObject)) {
    const right = USER_RIGHTS.find((each) => each === missingRight)
    return new UnexpectedReply({ address, status, reason: unexpected(status, text), missingRight: right })
  }
  const error = reply.get("error") ?? null
  if (error !== null) return rpcFailureOf(error)
  const result = reply.get("result")
  return result === undefined
    ? new UnexpectedReply({ address, status, reason: "the reply has neither result nor error" })
    : Effect.succeed(result)
}

/** Matched by id, as replies may be in any order. */
const readBatch = (
  address: string,
  httpReply: HttpReply,
  ids: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<Either.Either<Json, RpcFailure>>, RpcClientError> => {
  const { status, text } = httpReply
  if (status === 401) return new RpcUnauthorized({ address })
  const replies = parseJson(text)
  // A daemon that refuses a whole batch answers with a single reply.
  if (!Array.isArray(replies)) {
    return Effect.zipRight(
      readReply(address, httpReply),
      new UnexpectedReply({ address, status, reason: "a single reply to a batch" })
    )
  }
  const byId = new Map<number, JsonObject>()
  for (const reply of replies) {
    const id = reply instanceof JsonObject ? reply.get("id") : undefined
    if (id instanceof JsonNumber) byId.set(id.value, reply)
  }
  return Effect.forEach(ids, (id): Effect.Effect<Either.Either<Json, RpcFailure>, UnexpectedReply> => {
    const reply = byId.get(id)
    const error = reply?.get("error") ?? null
    if (error !== null) return Effect.succeed(Either.left(rpcFailureOf(error)))
    const result = reply?.get("result")
    return result === undefined
      ? new UnexpectedReply({ address, status, reason: "a reply is missing" })
      : Effect.succeed(Either.right(result))
  })
}

/** Upstream `bitcoin-cli.cpp`, `CallRPC`. */
const unexpected = (status: number, text: string): string => {
  if (status === 503) return `Server response: ${shortened(text)}`
  if (status >= 400) return `server returned HTTP error ${status}`
  return text === "" ? "no response from server" : "couldn't parse reply from server"
}

/** The first characters, on one line. The text is untrusted. */
const shortened = (text: string): string => text.replaceAll(/[^ -~]+/g, " ").trim().slice(0, 200)

export const rpcFailureOf = (error: Json): RpcFailure => {
  const code = error instanceof JsonObject ? error.get("code") : undefined
  const given = error instanceof JsonObject ? error.get("message") : undefined
  const message = typeof given === "string" ? given : encodeJson(error)
  return new RpcFailure({
    code: code instanceof JsonNumber && Number.isSafeInteger(code.value) ? code.value : RPC_CODE.misc,
    message,
    reason: failureReason(error, message)
  })
}

export const basic = ({ password, user }: Credentials): string =>
  `Basic ${Buffer.from(`${user}:${Redacted.value(password)}`).toString("base64")}`

/** Connections stay open between calls. The scope closes them. */
export const make = (
  options: RpcClientOptions
): Effect.Effect<typeof RpcClient.Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { basePath = "", credentials, maxReply = MAX_REPLY, secure = false, timeout = TIMEOUT, wallet } = options
    const address = formatHostPort(options.address)
    const pool = { keepAlive: true, maxSockets: MAX_CONNECTIONS }
    const web = yield* webOf(secure)
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new web.Agent(pool)),
      (agent) => Effect.sync(() => agent.destroy())
    )
    let lastId = 0

    const authorization = (): { readonly authorization?: string } => {
      const current = typeof credentials === "function" ? credentials() : credentials
      return current === undefined ? {} : { authorization: basic(current) }
    }

    /** Whether the open connections lead to the wanted network. */
    let isConfirmed = false
    const forgetNetwork = (): void => void (isConfirmed = false)
    const hasFree = (): boolean => Object.values(agent.freeSockets).some((sockets) => (sockets?.length ?? 0) > 0)

    const post = (
      path: string,
      body: Buffer,
      once: boolean
    ): Effect.Effect<HttpReply, RpcClientError> =>
      Effect.async((resume) => {
        let connected = false
        // The agent prefers a free connection, unless it knows all are closed, which it may learn before `close`
        // arrives.
        const hadFree = !once && isConfirmed && hasFree()
        const askAgain = (): void => {
          forgetNetwork()
          resume(Effect.zipRight(confirm, post(path, body, true)))
          outgoing.destroy()
        }
        const fail = (code: string): void => resume(new RpcUnreachable({ address, code, wasSent: connected }))
        const outgoing = web.request({
          ...options.address,
          agent: once ? false : agent,
          method: "POST",
          path: basePath + path,
          headers: { ...authorization(), "content-type": "application/json", "content-length": body.length }
        }, (incoming) =>
          collect(incoming, maxReply, (outcome) => {
            if (outcome._tag === "Broken") return fail("ECONNRESET")
            const status = incoming.statusCode ?? 0
            resume(
              outcome._tag === "TooLarge"
                ? new UnexpectedReply({ address, status, reason: "the reply is too large" })
                : Effect.succeed({
                  status,
                  text: outcome.text,
                  missingRight: incoming.headers[MISSING_RIGHT.toLowerCase()]
                })
            )
          }))
        outgoing.once("socket", (socket) => {
          // The next connection may reach another daemon, even if this one closes while idle.
          if (!outgoing.reusedSocket) socket.once("close", forgetNetwork)
          if (hadFree && !outgoing.reusedSocket) return askAgain()
          if (socket.connecting) socket.once("connect", () => void (connected = true))
          else connected = true
        })
        outgoing.setTimeout(timeout, () => {
          fail("ETIMEDOUT")
          outgoing.destroy()
        })
        outgoing.on("error", (error) => {
          // The idle connection closed when it was reused, so the daemon never received the request.
          if (outgoing.reusedSocket && codeOf(error) === "ECONNRESET") return askAgain()
          fail(codeOf(error))
        })
        outgoing.end(body)
        return Effect.sync(() => outgoing.destroy())
      })

    const envelope = (method: string, params: CallParams) => {
      lastId += 1
      return { jsonrpc: "2.0", id: lastId, method, params }
    }

    const path = wallet === undefined ? "/" : `/wallet/${encodeURIComponent(wallet)}`

    const send: typeof RpcClient.Service["call"] = (method, params = [], { mayRepeat = false } = {}) =>
      Effect.suspend(() => {
        const body = Buffer.from(encodeJson(envelope(method, params)))
        return Effect.flatMap(post(path, body, !mayRepeat), (reply) => readReply(address, reply))
      })

    /** Asks the health report of svcd first, which needs no credentials. Other daemons have none. */
    const network: Effect.Effect<string, RpcClientError> = Effect.gen(function*() {
      const health = yield* Effect.timeoutTo(askHealth(options), {
        duration: Math.min(timeout, HEALTH_TIMEOUT),
        onSuccess: (reply) => reply?.network,
        onTimeout: () => undefined
      })
      if (health !== undefined) return health
      const info = yield* send(NETWORK_CALL, [], { mayRepeat: true })
      const chain = info instanceof JsonObject ? info.get("chain") : undefined
      if (typeof chain === "string") return networkOfChain(chain) ?? chain
      return yield* new UnexpectedReply({ address, status: 200, reason: `${NETWORK_CALL} does not say the network` })
    })

    const confirm: Effect.Effect<void, RpcClientError> = Effect.suspend(() => {
      const wanted = options.network
      if (wanted === undefined) return Effect.void
      return Effect.flatMap(network, (found) => {
        isConfirmed = found === wanted
        return isConfirmed ? Effect.void : new RpcWrongNetwork({ address, wanted, network: found })
      })
    })
    /** A call that may not repeat opens a connection, so the network is checked again. */
    const confirmed = <A>(
      mayRepeat: boolean,
      work: Effect.Effect<A, RpcClientError>
    ): Effect.Effect<A, RpcClientError> =>
      options.network === undefined
        ? work
        : Effect.suspend(() =>
          isConfirmed && mayRepeat ? work : Effect.zipRight(Effect.mapError(confirm, unsent), work)
        ).pipe(
          Effect.tapErrorTag("RpcUnreachable", () => Effect.sync(forgetNetwork))
        )

    return RpcClient.of({
      call: (method, params, callOptions = {}) =>
        confirmed(callOptions.mayRepeat === true, send(method, params, callOptions)),
      confirm,
      batch: (calls) =>
        confirmed(
          true,
          Effect.suspend(() => {
            const envelopes = calls.map(({ method, params }) => envelope(method, params))
            const body = Buffer.from(encodeJson(envelopes))
            const ids = envelopes.map(({ id }) => id)
            return Effect.flatMap(post(path, body, false), (reply) => readBatch(address, reply, ids))
          })
        )
    })
  })

type Collected =
  | { readonly _tag: "Complete"; readonly text: string }
  | { readonly _tag: "TooLarge" }
  /** The connection ended before the reply. */
  | { readonly _tag: "Broken" }

/** Only the first call of `done` counts. */
const collect = (incoming: http.IncomingMessage, most: number, done: (outcome: Collected) => void): void => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  incoming.on("data", (chunk: Uint8Array) => {
    size += chunk.length
    if (size <= most) return void chunks.push(chunk)
    done({ _tag: "TooLarge" })
    incoming.destroy()
  })
  incoming.on("end", () => done({ _tag: "Complete", text: Buffer.concat(chunks, size).toString("utf8") }))
  incoming.on("error", () => done({ _tag: "Broken" }))
  incoming.on("close", () => done({ _tag: "Broken" }))
}

export const layer = (options: RpcClientOptions): Layer.Layer<RpcClient> => Layer.scoped(RpcClient, make(options))
