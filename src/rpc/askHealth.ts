import * as Effect from "effect/Effect"
import type { Address } from "../base/addresses.ts"
import { webOf } from "./webOf.ts"

/** Maximum length of the body, in UTF-16 code units. */
const MAX_REPORT = 65_536

interface HealthSource {
  readonly address: Address
  readonly basePath?: string
  readonly secure?: boolean
}

/** The answer to `GET /health`. */
export interface HealthReply {
  readonly status: number
  /** Whether the body is a health report of svcd. */
  readonly isReport: boolean
  /** `undefined` from svcd before 0.2.0, which does not report it. */
  readonly network: string | undefined
}

/** Other servers' reports may have a status too; `block_height` identifies svcd. */
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

/** Sends `GET /health`, which needs no credentials. `undefined` if there is no answer. */
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
        // After an early close, the received part decides.
        incoming.on("close", () => resume(Effect.succeed(read(incoming.statusCode ?? 0, body))))
        incoming.on("error", () => {})
      })
      outgoing.on("error", () => resume(Effect.succeed(undefined)))
      outgoing.end()
      return Effect.sync(() => outgoing.destroy())
    }))
