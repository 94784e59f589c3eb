import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PageHandler } from "./Pages.ts"

export interface RouteRequest {
  /** Not percent-decoded. */
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
  /** As `/hello`. Paths of JSON-RPC and health are taken. */
  readonly path: string
  /** Whether callers need credentials, if there are any; true by default. */
  readonly authenticated?: boolean
  /** Answers GET and HEAD. A defect is status 500 for the caller and a log line. */
  readonly answer: (request: RouteRequest) => Effect.Effect<RouteAnswer, never, R>
}

/** A document of an application. Its handler needs the services `R`. */
export interface OwnRoute<out R = never> {
  readonly path: string
  readonly withServices: (services: Context.Context<R>) => PageHandler
}

const RESERVED = /^\/(?:rpc|health|ready|wallet\/.*)?$/

export const isFreePath = (path: string): boolean => /^\/[^?#\s]+$/.test(path) && !RESERVED.test(path)

/** Defines a document of an application. */
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
