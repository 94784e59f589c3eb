/**
 * A route handler for Next.js, or for any server that answers a web-standard `Request` with a `Response`.
 *
 * Save it as app/api/resolve/route.ts and ask for /api/resolve?name=d/example. In next.config.ts, name svcd in
 * `serverExternalPackages`: it has native parts, which a bundler then leaves alone. The environment variable NAMES may
 * hold the configuration of the client, as JSON.
 *
 * A development server loads this module again after each edit. A data directory takes one client at a time, so the
 * client is kept where it outlives the module: in `globalThis`.
 */

import { type ClientConfig, httpStatus, newClient, type PromiseClient } from "svcd/promise"

/** For Next.js: svcd needs Node and not the edge runtime, and each request gets its own answer. */
export const runtime = "nodejs"
export const dynamic = "force-dynamic"

/** Seconds for which caches may keep an answer: less than the time between two blocks. */
const MAX_AGE = 60

const kept: { namesClient?: Promise<PromiseClient> | undefined } & object = globalThis

/** Opens a client, and forgets it once it has ended or cannot be opened: the next request opens another. */
const open = (): Promise<PromiseClient> => {
  const config: ClientConfig = JSON.parse(process.env["NAMES"] ?? "{}")
  const opening = newClient({ disableWallet: true, ...config })
  const forget = (): void => void (kept.namesClient = undefined)
  opening.then((client) => client.closed.then(client.close)).then(forget, forget)
  return opening
}

/** The client of this process: the first request opens it. */
const theClient = (): Promise<PromiseClient> => kept.namesClient ??= open()

const refusal = (status: number, error: string): Response => Response.json({ error }, { status })

const refusalOf = (error: unknown): Response => {
  const status = httpStatus(error)
  if (error instanceof Error && status !== 500 && status !== 502) return refusal(status, error.message)
  // What is not the business of the caller goes to the log.
  console.error(error)
  return refusal(status, "internal error")
}

export const GET = async (request: Request): Promise<Response> => {
  const name = new URL(request.url).searchParams.get("name")
  if (name === null) return refusal(400, "the parameter name is missing")
  try {
    const client = await theClient()
    // The call ends when its client disconnects.
    const record = await client.resolveName(name, { signal: request.signal })
    return Response.json(record, { headers: { "cache-control": `public, max-age=${MAX_AGE}` } })
  } catch (error) {
    return refusalOf(error)
  }
}
