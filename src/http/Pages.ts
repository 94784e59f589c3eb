import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Slot } from "../base/Slot.ts"
import type { Permitted } from "./permissions.ts"

/** Documents on the RPC listener beside JSON-RPC and health. All are read-only, except those with sessions of their own. */

/** A request for a document. */
export interface PageRequest {
  /** The target without its query, as it was sent: not percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** Whether the Accept header contains `text/html`. */
  readonly acceptsHtml: boolean
  /** Whether it contains `application/x-ndjson`. */
  readonly acceptsLines: boolean
  /** The Last-Event-ID header, with which a browser resumes a stream of events. */
  readonly lastEventId: string | undefined
  /** The If-None-Match header: the versions of the document that the caller has. */
  readonly ifNoneMatch: string | undefined
  /** The name of this server in the request, with its port. */
  readonly host: string | undefined
  readonly cookie: string | undefined
  /** The protocol that a client spoke with the proxy before this server. */
  readonly forwardedProtocol: string | undefined
  /** Whether the caller may see what belongs to the wallets, such as the number of their names that expire soon. */
  readonly seesWallets: boolean
}

/** A user whose credentials are right. */
export interface AdmittedUser {
  readonly user: string
  /** What the user may do. */
  readonly permitted: Permitted
}

/** A request for a document with sessions of its own. */
export interface PageVisit {
  /** Address and port of the caller. */
  readonly peer: string
  /** Whether the caller is on another machine. */
  readonly remote: boolean
  /** The fields of a form that was sent; `undefined` for a request by GET. */
  readonly form: URLSearchParams | undefined
  /** Checks a password in its turn. The answer to a wrong one comes later, as everywhere on the listener. */
  readonly admit: (user: string, password: Redacted.Redacted<string>) => Effect.Effect<AdmittedUser | undefined>
}

/** A body that is written for as long as the caller reads it. `write` waits for a caller that reads slowly. */
export interface PageStream {
  readonly write: (write: (text: string | Uint8Array) => Effect.Effect<void>) => Effect.Effect<void>
}

export const isStream = (body: PageAnswer["body"]): body is PageStream =>
  typeof body === "object" && "write" in body && typeof body.write === "function" && !(body instanceof Uint8Array)

export interface PageAnswer {
  readonly status: number
  /** Besides Content-Length, Date and Connection. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | PageStream
}

interface Served {
  /** Whether this handler serves the path. Depends only on the request. */
  readonly serves: (request: PageRequest) => boolean
}

export interface PageHandler extends Served {
  /** Whether callers need credentials, if any are configured. */
  readonly authenticated: boolean
  /** Methods that a user with rights needs for this request, besides those of every document. */
  readonly needs?: (request: PageRequest) => ReadonlyArray<string>
  /** Cannot fail: a failure is a document too. */
  readonly answer: (request: PageRequest) => Effect.Effect<PageAnswer>
}

/**
 * A handler with sessions of its own, to which callers also send forms. The listener asks for no credentials, refuses
 * forms of other sites, and carries out a form to its end, even if the caller is gone.
 */
export interface VisitHandler extends Served {
  /** Cannot fail: a failure is a document too. */
  readonly visit: (request: PageRequest, visit: PageVisit) => Effect.Effect<PageAnswer>
}

export type AnyHandler = PageHandler | VisitHandler

/** The installed handlers. The listener tries them in order; the first that serves a request answers it. */
export class Pages extends Context.Tag("svcd/Pages")<Pages, {
  readonly handlers: () => ReadonlyArray<AnyHandler>
  /** Replaces the handlers until the scope closes: called once the services that they need are built. */
  readonly install: (handlers: ReadonlyArray<AnyHandler>) => Effect.Effect<void, never, Scope.Scope>
}>() {}

/** The documents of a listener: the first ones where no others are installed. */
export const layerFrom = (first: ReadonlyArray<AnyHandler>): Layer.Layer<Pages> =>
  Layer.sync(Pages, () => {
    const handlers = new Slot(first)
    return { handlers: () => handlers.current, install: (installed) => handlers.fill(installed) }
  })

/** The documents of a listener; none until some are installed. */
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
