import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Method } from "../../src/rpc/method/methodTable.ts"
import { fakeMethod } from "./fakeMethod.ts"

/** A daemon with scripted answers. */

/** The answer to one call: a result, an error, or something that is not a reply at all. */
export type Reply =
  | { readonly result: unknown }
  | { readonly code: number; readonly message: string; readonly data?: { readonly reason: string } }
  | { readonly status: number; readonly body?: string }
  /** The connection ends without an answer. */
  | "hang up"
  /** No answer comes, ever. */
  | "silence"

export interface Call {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
  readonly authorization: string | undefined
  readonly path: string
}

export interface FakeDaemon {
  readonly port: number
  /** Calls that arrived, those of a batch one by one. */
  readonly calls: ReadonlyArray<Call>
}

export const HASH = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"

export const INFO = {
  chain: "regtest",
  blocks: 700,
  headers: 700,
  bestblockhash: HASH,
  initialblockdownload: false
}

/** `getblockchaininfo` of a node that has all blocks up to a height. */
export const chainAt = (height: number): Method =>
  fakeMethod(
    { name: "getblockchaininfo", group: "Blockchain", summary: "The chain of the test.", params: {} },
    () => Effect.succeed({ ...INFO, blocks: height, headers: height })
  )

interface Envelope {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

const envelope = ({ id }: Envelope, reply: Reply) => {
  if (typeof reply === "object" && "result" in reply) return { jsonrpc: "2.0", id, result: reply.result }
  if (typeof reply === "object" && "code" in reply) return { jsonrpc: "2.0", id, error: reply }
  throw new Error("that is not a reply to a call")
}

const isReply = (reply: Reply): boolean => typeof reply === "object" && ("result" in reply || "code" in reply)

/**
 * Starts a daemon on a free port, for as long as the scope lives. `answer` is called for each call; where it returns
 * nothing, the daemon is on regtest at height 700. `GET` gets 404, as from the reference node, or a report.
 */
export const fakeDaemon = (answer: (call: Call) => Reply | undefined, health?: string) =>
  Effect.gen(function*() {
    const calls: Array<Call> = []
    const replyTo = (call: Call): Reply =>
      answer(call) ?? (call.method === "getblockchaininfo"
        ? { result: INFO }
        : { code: -32601, message: "Method not found" })

    const respond = (request: IncomingMessage, response: ServerResponse, body: string): void => {
      if (request.method === "GET") return void response.writeHead(health === undefined ? 404 : 200).end(health)
      const parsed: Envelope | ReadonlyArray<Envelope> = JSON.parse(body)
      const envelopes = Array.isArray(parsed) ? parsed : [parsed]
      const replies = envelopes.map(({ method, params }) => {
        const { authorization } = request.headers
        const call = { method, params, authorization, path: request.url ?? "" }
        calls.push(call)
        return replyTo(call)
      })
      const strange = replies.find((reply) => !isReply(reply))
      if (strange === "hang up") return void request.socket.destroy()
      if (strange === "silence") return
      if (strange !== undefined && "status" in strange) {
        return void response.writeHead(strange.status).end(strange.body ?? "")
      }
      const told = envelopes.map((each, i) => envelope(each, replies[i] ?? "silence"))
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify(Array.isArray(parsed) ? told : told[0]))
    }

    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => {
          let body = ""
          request.on("data", (part) => {
            body += part
          })
          request.on("end", () => respond(request, response, body))
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void server.close().closeAllConnections())
    )
    const { port } = server.address() as AddressInfo
    return { port, calls } satisfies FakeDaemon
  })
