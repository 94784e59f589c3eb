import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What is served on the RPC listener beside JSON-RPC and health: documents that are read, and change nothing. */

/** A GET or HEAD request for a document. */
export interface PageRequest {
  /** The target without its query, as it was sent: not percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** Whether `text/html` stands in the Accept header. */
  readonly acceptsHtml: boolean
}

export interface PageAnswer {
  readonly status: number
  /** Beside Content-Length, Date and Connection. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** Serves a family of documents. */
export interface PageHandler {
  /** Whether the path is this handler's. Looks at the request alone. */
  readonly serves: (request: PageRequest) => boolean
  /** Whether callers have to give credentials, where there are any. */
  readonly authenticated: boolean
  /** Cannot fail: a failure is a document too. */
  readonly answer: (request: PageRequest) => Effect.Effect<PageAnswer>
}

/** The documents there are. The listener asks the handlers in their order; the first that serves a request answers. */
export class Pages extends Context.Tag("svcd/Pages")<Pages, {
  readonly handlers: () => ReadonlyArray<PageHandler>
  /** Says which handlers there are, in place of those said before: once the services that they need are there. */
  readonly install: (handlers: ReadonlyArray<PageHandler>) => Effect.Effect<void>
}>() {}

/** The documents of a listener; none until some are installed. */
export const layer: Layer.Layer<Pages> = Layer.sync(Pages, () => {
  let handlers: ReadonlyArray<PageHandler> = []
  return {
    handlers: () => handlers,
    install: (installed) =>
      Effect.sync(() => {
        handlers = installed
      })
  }
})

const HTML = /(?:^|,)[\t ]*text\/html[\t ]*(?:;|,|$)/i

/** Reads a request's target and Accept header. */
export const pageRequest = (target: string, accept: string | undefined): PageRequest => {
  const mark = target.indexOf("?")
  return {
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
    acceptsHtml: accept !== undefined && HTML.test(accept)
  }
}
