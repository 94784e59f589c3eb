import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import { StringDecoder } from "node:string_decoder"
import { formatHostPort } from "../base/addresses.ts"
import { codeOf } from "../base/errorCode.ts"
import { basic, type RpcClientOptions, RpcUnauthorized, RpcUnreachable } from "./RpcClient.ts"
import { webOf } from "./webOf.ts"

/** A document of a daemon, line by line while the daemon writes it. */

export type DocumentSource = Pick<RpcClientOptions, "address" | "basePath" | "credentials" | "secure">

/** A status other than 200. */
export class DocumentRefused extends Data.TaggedError("DocumentRefused")<{
  readonly address: string
  readonly status: number
  /** The beginning of the body. */
  readonly body: string
}> {
  override get message(): string {
    return `the daemon at ${this.address} answers with HTTP status ${this.status}`
  }
}

export type DocumentFailure = RpcUnreachable | RpcUnauthorized | DocumentRefused

/** Whole lines without their ends. */
export type Lines = ReadonlyArray<string>

/** Milliseconds without a byte after which the connection counts as lost. The daemon writes every 15 seconds. */
const SILENCE = 45_000

/** Characters: more than 1,000 records in hex. */
const MAX_LINE = 2 ** 25

/** Characters of a refusal's body. */
const MAX_REFUSAL = 16_384

const answerOf = (
  { address, basePath = "", credentials, secure = false }: DocumentSource,
  path: string
): Effect.Effect<IncomingMessage, RpcUnreachable> =>
  Effect.flatMap(webOf(secure), ({ request }) =>
    Effect.async((resume) => {
      const current = typeof credentials === "function" ? credentials() : credentials
      const authorization = current === undefined ? {} : { authorization: basic(current) }
      const fail = (code: string): void =>
        resume(new RpcUnreachable({ address: formatHostPort(address), code, wasSent: true }))
      const outgoing = request({
        ...address,
        agent: false,
        path: basePath + path,
        headers: { ...authorization, accept: "application/x-ndjson" }
      }, (incoming) => resume(Effect.succeed(incoming)))
      outgoing.setTimeout(SILENCE, () => outgoing.destroy(Object.assign(new Error("silence"), { code: "ETIMEDOUT" })))
      outgoing.on("error", (error) => fail(codeOf(error)))
      outgoing.end()
      return Effect.sync(() => outgoing.destroy())
    }))

class Received {
  readonly #incoming: IncomingMessage
  readonly #address: string
  readonly #decoder = new StringDecoder("utf8")
  #rest = ""
  #code = "ECONNRESET"

  constructor(incoming: IncomingMessage, address: string) {
    this.#incoming = incoming
    this.#address = address
    // Always has a listener, without which an error would end the process.
    incoming.on("error", (error) => {
      this.#code = codeOf(error)
    })
  }

  /** `undefined` at the end. */
  #next(): Effect.Effect<string | undefined> {
    return Effect.async((resume) => {
      const incoming = this.#incoming
      const stop = (): void => {
        for (const event of ["readable", "end", "close"]) incoming.off(event, look)
      }
      const look = (): void => {
        const bytes: Buffer | null = incoming.destroyed ? null : incoming.read()
        if (bytes === null && !incoming.readableEnded && !incoming.destroyed) return
        stop()
        resume(Effect.succeed(bytes === null ? undefined : this.#decoder.write(bytes)))
      }
      for (const event of ["readable", "end", "close"]) incoming.on(event, look)
      look()
      return Effect.sync(stop)
    })
  }

  /** False if the connection broke before the end. */
  get isWhole(): boolean {
    return this.#incoming.complete
  }

  lost(code = this.#code): RpcUnreachable {
    return new RpcUnreachable({ address: this.#address, code, wasSent: true })
  }

  /** Fails at the end, with a reason if the connection broke. */
  readonly lines: Effect.Effect<Lines, Option.Option<RpcUnreachable>> = Effect.gen(this, function*() {
    for (;;) {
      const text = yield* this.#next()
      if (text === undefined) return yield* Effect.fail(this.isWhole ? Option.none() : Option.some(this.lost()))
      const lines = (this.#rest + text).split("\n")
      this.#rest = lines.pop() ?? ""
      if (this.#rest.length > MAX_LINE) return yield* Effect.fail(Option.some(this.lost("EMSGSIZE")))
      if (lines.length > 0) return lines
    }
  })

  /** The beginning of the remaining text. */
  readonly beginning: Effect.Effect<string> = Effect.gen(this, function*() {
    let text = ""
    for (let next = yield* this.#next(); next !== undefined && text.length < MAX_REFUSAL; next = yield* this.#next()) {
      text += next
    }
    return text.slice(0, MAX_REFUSAL)
  })
}

/** The scope closes the connection. The stream fails if the connection breaks. */
export const openLines = (
  source: DocumentSource,
  path: string
): Effect.Effect<Stream.Stream<Lines, RpcUnreachable>, DocumentFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const address = formatHostPort(source.address)
    const incoming = yield* Effect.acquireRelease(
      Effect.interruptible(answerOf(source, path)),
      (answer) => Effect.sync(() => answer.destroy())
    )
    const received = new Received(incoming, address)
    const { statusCode: status = 0 } = incoming
    if (status === 401) return yield* new RpcUnauthorized({ address })
    if (status !== 200) return yield* new DocumentRefused({ address, status, body: yield* received.beginning })
    return Stream.repeatEffectOption(received.lines)
  })
