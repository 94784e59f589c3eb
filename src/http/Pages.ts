import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Slot } from "../base/Slot.ts"
import type { AdmittedUser } from "../rpc/method/permission.ts"

export interface PageRequest {
  /** Without the query, not percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** Whether Accept contains `text/html`. */
  readonly acceptsHtml: boolean
  /** Whether Accept contains `application/x-ndjson`. */
  readonly acceptsLines: boolean
  /** Last-Event-ID, with which a browser resumes a stream of events. */
  readonly lastEventId: string | undefined
  /** If-None-Match: the versions that the caller has. */
  readonly ifNoneMatch: string | undefined
  /** This server's name in the request, with its port. */
  readonly host: string | undefined
  readonly cookie: string | undefined
  /** The client's protocol to the proxy in front of this server. */
  readonly forwardedProtocol: string | undefined
  /** Whether the caller may see data of wallets, such as the number of names that expire soon. */
  readonly seesWallets: boolean
}

/** For pages with their own sessions. */
export interface PageVisit {
  /** Address and port of the caller. */
  readonly peer: string
  readonly remote: boolean
  /** Fields of a submitted form; `undefined` for GET. */
  readonly form: URLSearchParams | undefined
  /** Checks a password in turn. As everywhere on the listener, the answer to a wrong one is delayed. */
  readonly admit: (user: string, password: Redacted.Redacted<string>) => Effect.Effect<AdmittedUser | undefined>
}

/** A body that is written while the caller reads it. `write` waits for slow callers. */
export interface PageStream {
  readonly write: (write: (text: string | Uint8Array) => Effect.Effect<void>) => Effect.Effect<void>
}

export const isStream = (body: PageAnswer["body"]): body is PageStream =>
  typeof body === "object" && "write" in body && typeof body.write === "function" && !(body instanceof Uint8Array)

export interface PageAnswer {
  readonly status: number
  /** Besides Content-Length, Date and Connection. */
  readonly headers: Readonly<Record<string, string>>
  /** Each in a header Set-Cookie. */
  readonly cookies?: ReadonlyArray<string>
  readonly body: string | Uint8Array | PageStream
}

interface Served {
  /** Must depend only on the request. */
  readonly serves: (request: PageRequest) => boolean
}

export interface PageHandler extends Served {
  /** Whether callers need credentials, if any are configured. */
  readonly authenticated: boolean
  /** Methods that a user needs the right to, besides those for every document. */
  readonly needs?: (request: PageRequest) => ReadonlyArray<string>
  /** Whether the cookie of a reader (`VisitHandler.readerOf`) is enough. */
  readonly forReaders?: boolean
  /** Failures are documents, too. */
  readonly answer: (request: PageRequest) => Effect.Effect<PageAnswer>
}

/** A handler with its own sessions and forms. Forms of other sites are refused; others finish without their caller. */
export interface VisitHandler extends Served {
  /** The user of a cookie that opens documents, and nothing else. Not a use of the session. */
  readonly readerOf?: (cookie: string) => AdmittedUser | undefined
  /** Failures are documents, too. */
  readonly visit: (request: PageRequest, visit: PageVisit) => Effect.Effect<PageAnswer>
}

export type AnyHandler = PageHandler | VisitHandler

/** The first installed handler that serves a request answers it. */
export class Pages extends Context.Tag("svcd/Pages")<Pages, {
  readonly handlers: () => ReadonlyArray<AnyHandler>
  /** Replaces the handlers until the scope closes, once their services are built. */
  readonly install: (handlers: ReadonlyArray<AnyHandler>) => Effect.Effect<void, never, Scope.Scope>
}>() {}

/** `first` answers until others are installed. */
export const layerFrom = (first: ReadonlyArray<AnyHandler>): Layer.Layer<Pages> =>
  Layer.sync(Pages, () => {
    const handlers = new Slot(first)
    return { handlers: () => handlers.current, install: (installed) => handlers.fill(installed) }
  })

export const layer: Layer.Layer<Pages> = layerFrom([])

const HTML = /(?:^|,)[\t ]*text\/html[\t ]*(?:;|,|$)/i

const LINES = /(?:^|,)[\t ]*application\/x-ndjson[\t ]*(?:;|,|$)/i

export interface PageHeaders {
  readonly accept?: string | undefined
  readonly "if-none-match"?: string | undefined
  readonly "last-event-id"?: string | ReadonlyArray<string> | undefined
  readonly host?: string | undefined
  readonly cookie?: string | undefined
  readonly "x-forwarded-proto"?: string | ReadonlyArray<string> | undefined
}

export const pageRequest = (target: string, headers: PageHeaders = {}): PageRequest => {
  const {
    accept,
    cookie,
    host,
    "if-none-match": ifNoneMatch,
    "last-event-id": lastEventId,
    "x-forwarded-proto": protocol
  } = headers
  const mark = target.indexOf("?")
  return {
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
    acceptsHtml: accept !== undefined && HTML.test(accept),
    acceptsLines: accept !== undefined && LINES.test(accept),
    lastEventId: typeof lastEventId === "string" ? lastEventId : undefined,
    ifNoneMatch,
    host,
    cookie,
    forwardedProtocol: typeof protocol === "string" ? protocol : undefined,
    seesWallets: false
  }
}
