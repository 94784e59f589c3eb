/**
 * An HTTP service with Express 5 that resolves names.
 *
 *     npm install express
 *     PORT=3000 node express-server.js
 *     curl http://127.0.0.1:3000/resolve/d%2Fexample
 *
 * One client serves all requests for as long as the process runs. The environment variable NAMES may hold its
 * configuration, as JSON. SIGTERM and SIGINT end the service once the requests that have begun are answered.
 *
 * Statuses: 200 with the record, 400 for an invalid name, 404 where it is not registered, 410 where it expired,
 * 503 while there is no answer (the node still syncs, or its daemon is away), 504 where an answer takes too long.
 */

import express, { type ErrorRequestHandler } from "express"
import { type ClientConfig, httpStatus, isTransient, newClient } from "svcd/promise"

/** Milliseconds for one answer. */
const ANSWER_WITHIN = 10_000

/** Seconds after which a client may retry. */
const RETRY_AFTER = 10

/** The status of an error: of the client's own ones, or by its `name`. */
const statusOf = (error: Error): number => {
  switch (error.name) {
    case "URIError":
      return 400
    case "TimeoutError":
      return 504
    default:
      return httpStatus(error)
  }
}

/** Statuses whose reason is not the business of the caller, and goes to the log. */
const INTERNAL: ReadonlySet<number> = new Set([500, 502])

/** Answers with an error. */
const answerError: ErrorRequestHandler = (error, _request, response, _next) => {
  const status = statusOf(error)
  if (INTERNAL.has(status)) console.error(error)
  if (isTransient(error)) response.set("Retry-After", String(RETRY_AFTER))
  response.status(status).json({ error: INTERNAL.has(status) ? "internal error" : error.message })
}

const config: ClientConfig = JSON.parse(process.env["NAMES"] ?? "{}")
const client = await newClient({ disableWallet: true, ...config })

const app = express()
app.disable("x-powered-by")

// Express passes the rejection of a promise to `answerError`.
app.get("/resolve/:name", async (request, response) => {
  const record = await client.resolveName(request.params.name, { signal: AbortSignal.timeout(ANSWER_WITHIN) })
  response.json(record)
})

app.get("/health", async (_request, response) => {
  const { height, synced } = await client.freshness({ signal: AbortSignal.timeout(ANSWER_WITHIN) })
  response.status(synced ? 200 : 503).json({ mode: client.mode, height, synced })
})

app.use((_request, response) => void response.status(404).json({ error: "no such page" }))
app.use(answerError)

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", (error) => {
  if (error === undefined) return console.log("listening", server.address())
  console.error(error.message)
  process.exitCode = 1
  void client.close()
})

/** Accepts no new requests, answers those that have begun, and releases the client: then the process can end. */
const stop = (): void => void server.close(() => void client.close())

process.once("SIGTERM", stop)
process.once("SIGINT", stop)

// A node in this process may end by itself, because the disk is full for instance.
const failure = await client.closed
if (failure !== undefined) {
  console.error(failure.message)
  process.exitCode = 1
  stop()
}
