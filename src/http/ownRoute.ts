import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PageHandler } from "./Pages.ts"

/** Documents that an application adds to the listener of its node. */

export interface RouteRequest {
  /** As it was sent: not percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
}

export interface RouteAnswer {
  /** 200 by default. */
  readonly status?: number
  /** Besides Content-Length, Date and Connection. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export interface RouteDefinition<R> {
  /** As `/hello`. The paths of JSON-RPC and of health are the node's. */
  readonly path: string
  /** Whether callers need credentials, if there are any; true by default. */
  readonly authenticated?: boolean
  /** Answers GET and HEAD. What goes wrong here is status 500 for the caller, and a line in the log. */
  readonly answer: (request: RouteRequest) => Effect.Effect<RouteAnswer, never, R>
}

/** A document of an application; `R` are the services that it needs. */
export interface OwnRoute<out R = never> {
  readonly path: string
  readonly withServices: (services: Context.Context<R>) => PageHandler
}

const RESERVED = /^\/(?:rpc|health|ready|wallet\/.*)?$/

/** Whether a path can be a document of an application. */
export const isFreePath = (path: string): boolean => /^\/[^?#\s]+$/.test(path) && !RESERVED.test(path)

/** Makes a document of an application. */
export const ownRoute = <R = never>({ answer, authenticated = true, path }: RouteDefinition<R>): OwnRoute<R> => ({
  path,
  withServices: (services) => ({
    authenticated,
    serves: (request) => request.path === path,
    answer: ({ path: asked, query }) =>
      Effect.suspend(() => answer({ path: asked, query })).pipe(
        Effect.map(({ body, headers = {}, status = 200 }) => ({ status, headers, body })),
        Effect.provide(services)
      )
  })
})
