import * as Effect from "effect/Effect"
import type { Chain } from "../../chain/Chain.ts"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import type { LightPart } from "../../light/LightPart.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { makeNameProofs, type ProofFailed } from "../../light/NameProofs.ts"
import { waitText } from "../../light/syncReport.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import type { NameDb } from "../../names/NameDb.ts"
import type { WantedEvidence } from "../../names/nameEvidence.ts"
import { USUAL_FOLLOWING } from "../../rpc/contract/names/proof.ts"
import { MOST_FOLLOWING } from "../../verify/nameProof.ts"
import { checkParts } from "../events/eventQuery.ts"
import { decodedRestName } from "./nameTarget.ts"
import { restAnswer, restFailure } from "./restAnswer.ts"

/** `GET /rest/name-proof/<name>?headers=6&chain=1`: the document of `name_proof`, without credentials. */

const PREFIX = "/rest/name-proof/"

export const isNameProofPath = (path: string): boolean => path.startsWith(PREFIX)

const PARTS = ["headers", "chain"]

const COUNT = /^\d{1,2}$/

/** The wanted evidence, or why the query is refused. */
const wantedOf = (query: URLSearchParams): WantedEvidence | string => {
  const headers = query.get("headers") ?? String(USUAL_FOLLOWING)
  const chain = query.get("chain") ?? "0"
  if (!COUNT.test(headers) || Number(headers) > MOST_FOLLOWING) {
    return `headers must be a whole number from 0 to ${MOST_FOLLOWING}`
  }
  return chain === "0" || chain === "1"
    ? { headers: Number(headers), chain: chain === "1" }
    : "chain must be 0 or 1"
}

/** Proofs in progress at once, so that callers without credentials take no more of the node's time. Others wait in line. */
const PLACES = { newest: 2, chain: 1 }

/** Pages of other sites may read it, as it is public and needs no credentials. */
const shared = (answer: PageAnswer): PageAnswer => ({
  ...answer,
  headers: { ...answer.headers, "Access-Control-Allow-Origin": "*" }
})

export const restProofs: Effect.Effect<PageHandler, never, Chain | NameDb | NameAnswers | LightPart | SyncReporter> =
  Effect.gen(function*() {
    const { prove } = yield* makeNameProofs(yield* NameAnswers)
    const { report } = yield* SyncReporter
    const short = (yield* Effect.makeSemaphore(PLACES.newest)).withPermits(1)
    // A proof of many operations reads as many blocks, and delays no short one.
    const long = (yield* Effect.makeSemaphore(PLACES.chain)).withPermits(1)

    const failed = (failure: ProofFailed): Effect.Effect<PageAnswer> => {
      switch (failure._tag) {
        case "NamesIncomplete":
          return Effect.map(report, (now) => {
            const wait = waitText(now)
            const why = `Namecoin is downloading blocks...${wait === "" ? "" : ` (${wait})`}`
            return restFailure(503, `Service temporarily unavailable: ${why}`)
          })
        case "ProofUnavailable":
          return Effect.succeed(restFailure(409, failure.message))
        default:
          // Callers without credentials must not see paths of files.
          return Effect.as(
            Effect.logError("names cannot be proven", { reason: failure.message }),
            restFailure(500, "Internal error")
          )
      }
    }

    const answer: PageHandler["answer"] = ({ path, query }) =>
      Effect.gen(function*() {
        const name = decodedRestName(path.slice(PREFIX.length))
        if (name === undefined || name.length === 0) return restFailure(400, "Invalid encoded name")
        const refused = yield* Effect.match(checkParts(query, PARTS, PARTS), {
          onFailure: (problem) => problem,
          onSuccess: () => undefined
        })
        const wanted = refused ?? wantedOf(query)
        if (typeof wanted === "string") return restFailure(400, wanted)
        const document = yield* (wanted.chain ? long : short)(prove(name, wanted))
        return restAnswer("absent" in document ? 404 : 200, "application/json", `${JSON.stringify(document)}\n`)
      }).pipe(Effect.catchAll(failed), Effect.map(shared))

    return { serves: ({ path }) => isNameProofPath(path), authenticated: false, answer }
  })
