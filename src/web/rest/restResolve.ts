import * as Effect from "effect/Effect"
import { percentDecoded } from "../../base/safeText.ts"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import { PROOF_LEVELS } from "../../light/proof.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import { RPC_CODE, RpcError } from "../../rpc/method/RpcError.ts"
import { type GivenHost, makeHostResolver } from "../../rpc/methods/resolveAnswer.ts"
import { checkParts } from "../events/eventQuery.ts"
import { restAnswer, restFailure } from "./restAnswer.ts"

/** `GET /rest/resolve/<host>?type=A`: the answer of `name_resolve`, without credentials. */

const PREFIX = "/rest/resolve/"

export const isResolvePath = (path: string): boolean => path.startsWith(PREFIX)

const PARTS = ["type", "requireProof", "nameEncoding", "valueEncoding"]

const givenOf = (path: string, query: URLSearchParams): Effect.Effect<GivenHost, RpcError> =>
  Effect.gen(function*() {
    yield* Effect.mapError(checkParts(query, PARTS, PARTS), (problem) => RpcError.invalidParameter(problem))
    const text = (name: string) => query.get(name) ?? undefined
    const host = percentDecoded(path.slice(PREFIX.length))
    if (host === undefined) return yield* RpcError.invalidParameter("Invalid encoded host")
    const asked = text("requireProof")
    const requireProof = PROOF_LEVELS.find((level) => level === asked)
    if (asked !== undefined && requireProof === undefined) {
      return yield* RpcError.invalidParameter(`Invalid value for requireProof: ${PROOF_LEVELS.join(", ")}`)
    }
    const options = { requireProof, nameEncoding: text("nameEncoding"), valueEncoding: text("valueEncoding") }
    return { host, type: text("type") ?? "A", options }
  })

const failed = ({ code, message }: RpcError): Effect.Effect<PageAnswer> => {
  switch (code) {
    case RPC_CODE.invalidParameter:
      return Effect.succeed(restFailure(400, message))
    case RPC_CODE.initialDownload:
      return Effect.succeed(restFailure(503, `Service temporarily unavailable: ${message}`))
    default:
      // Callers without credentials must not see paths of files.
      return Effect.as(
        Effect.logError("hosts cannot be resolved", { reason: message }),
        restFailure(500, "Internal error")
      )
  }
}

export const restResolve = Effect.map(makeHostResolver, (resolve): PageHandler => ({
  serves: ({ path }) => isResolvePath(path),
  authenticated: false,
  answer: ({ path, query }) =>
    Effect.flatMap(givenOf(path, query), resolve).pipe(
      Effect.map((found) => restAnswer(200, "application/json", `${encodeJson(found)}\n`)),
      Effect.catchAll(failed)
    )
}))
