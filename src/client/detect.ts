import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { request as plainRequest } from "node:http"
import { request as secureRequest } from "node:https"
import { formatHostPort } from "../base/addresses.ts"
import type { DaemonConfig, DecodedConfig } from "./config.ts"
import * as DaemonRpc from "./DaemonRpc.ts"
import type { InvalidConfig, Unauthorized } from "./errors.ts"
import { chainInfo, reading } from "./replies.ts"

/** Milliseconds for each answer of a daemon. */
const PATIENCE = 500

/** Maximum bytes of a health report. */
const MAX_REPORT = 4_096

/** The result of the detection. */
export type Found =
  | { readonly _tag: "Daemon" }
  /** No server, another kind of server, or a daemon of another network. */
  | { readonly _tag: "None"; readonly reason: string }

const none = (reason: string): Found => ({ _tag: "None", reason })

/** The body of `GET /health`: "svcd" for a report of svcd, otherwise the HTTP status; `undefined` without an answer. */
const health = ({ basePath, host, port, secure }: DaemonConfig): Effect.Effect<"svcd" | number | undefined> =>
  Effect.async((resume) => {
    const send = secure ? secureRequest : plainRequest
    const outgoing = send({ host, port, agent: false, path: `${basePath}/health` }, (incoming) => {
      let body = ""
      incoming.setEncoding("utf8")
      incoming.on("data", (text: string) => {
        body += text
        if (body.length > MAX_REPORT) incoming.destroy()
      })
      // An early close ends the body: the part that has arrived decides.
      incoming.on("close", () => resume(Effect.succeed(isReport(body) ? "svcd" : incoming.statusCode ?? 0)))
      incoming.on("error", () => {})
    })
    outgoing.on("error", () => resume(Effect.succeed(undefined)))
    outgoing.end()
    return Effect.sync(() => outgoing.destroy())
  })

/** Other servers have health reports with a status as well; a height identifies a node. */
const isReport = (body: string): boolean => {
  try {
    const report: unknown = JSON.parse(body)
    return typeof report === "object" && report !== null && "status" in report && typeof report.status === "string" &&
      "block_height" in report && typeof report.block_height === "number"
  } catch {
    return false
  }
}

/** Whether the JSON-RPC server at the address is a daemon on the wanted network. */
const sameNetwork = (config: DecodedConfig, isOurs: boolean): Effect.Effect<Found, InvalidConfig | Unauthorized> =>
  Effect.scoped(Effect.gen(function*() {
    const address = formatHostPort(config.daemon)
    const rpc = yield* DaemonRpc.make({ ...config.daemon, timeout: Math.min(config.daemon.timeout, PATIENCE) })
    const outcome = yield* Effect.either(Effect.flatMap(
      rpc.read("getblockchaininfo"),
      (reply) => reading("getblockchaininfo", reply, chainInfo)
    ))
    if (Either.isRight(outcome)) {
      const { chain, network } = outcome.right
      return network === config.network
        ? { _tag: "Daemon" }
        : none(`the daemon at ${address} is on ${network ?? chain}, not ${config.network}`)
    }
    const failure = outcome.left
    // A daemon runs there, and the caller's credentials are wrong. A second node beside it would hide that.
    if (failure._tag === "Unauthorized") return yield* failure
    // The daemon is about to be ready; opening the client checks its network.
    if (failure._tag === "DaemonNotReady" || isOurs) return { _tag: "Daemon" }
    return none(`what answers at ${address} is no daemon: ${failure.message}`)
  }))

/**
 * Detects a daemon at the configured address and on the configured network. svcd is recognized by its health report.
 * The reference node has no health report; it is recognized by its answer to a call.
 */
export const detect = (config: DecodedConfig): Effect.Effect<Found, InvalidConfig | Unauthorized> =>
  Effect.gen(function*() {
    const address = formatHostPort(config.daemon)
    const answer = yield* Effect.timeoutTo(health(config.daemon), {
      duration: PATIENCE,
      onSuccess: (answer) => answer,
      onTimeout: () => undefined
    })
    if (answer === undefined) return none(`no daemon answers at ${address}`)
    if (answer !== "svcd" && ![401, 403, 404, 405].includes(answer)) {
      return none(`what answers at ${address} is no daemon`)
    }
    return yield* sameNetwork(config, answer === "svcd")
  })
