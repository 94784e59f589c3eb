import * as Effect from "effect/Effect"
import type { Address } from "../base/addresses.ts"
import { webOf } from "./webOf.ts"

/** Maximum bytes of a health report. */
const MAX_REPORT = 65_536

interface HealthSource {
  readonly address: Address
  /** The prefix of the daemon's paths. */
  readonly basePath?: string
  readonly secure?: boolean
}

/** What a server answers to `GET /health`. */
export interface HealthReply {
  readonly status: number
  /** Whether the body is a health report of svcd. */
  readonly isReport: boolean
  /** The network that the report names; svcd before 0.2.0 names none. */
  readonly network: string | undefined
}

/** Other servers have health reports with a status as well; a height identifies a node. */
const read = (status: number, body: string): HealthReply => {
  const other = { status, isReport: false, network: undefined }
  try {
    const report: unknown = JSON.parse(body)
    if (typeof report !== "object" || report === null) return other
    const isReport = "status" in report && typeof report.status === "string" &&
      "block_height" in report && typeof report.block_height === "number"
    const network = "network" in report && typeof report.network === "string" ? report.network : undefined
    return isReport ? { status, isReport, network } : other
  } catch {
    return other
  }
}

/** Asks for the health report, for which no server of svcd requires credentials; `undefined` without an answer. */
export const askHealth = (
  { address, basePath = "", secure = false }: HealthSource
): Effect.Effect<HealthReply | undefined> =>
  Effect.flatMap(webOf(secure), ({ request }) =>
    Effect.async((resume) => {
      const outgoing = request({ ...address, agent: false, path: `${basePath}/health` }, (incoming) => {
        let body = ""
        incoming.setEncoding("utf8")
        incoming.on("data", (text: string) => {
          body += text
          if (body.length > MAX_REPORT) incoming.destroy()
        })
        // An early close ends the body: the part that has arrived decides.
        incoming.on("close", () => resume(Effect.succeed(read(incoming.statusCode ?? 0, body))))
        incoming.on("error", () => {})
      })
      outgoing.on("error", () => resume(Effect.succeed(undefined)))
      outgoing.end()
      return Effect.sync(() => outgoing.destroy())
    }))
