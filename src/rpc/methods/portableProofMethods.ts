import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { LightPart } from "../../light/LightPart.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { makeNameProofs, type ProofFailed } from "../../light/NameProofs.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { isFailure } from "../../verify/nameProof.ts"
import { signatures } from "../../verify/signatures.ts"
import { verifyNameProof } from "../../verify/verifyNameProof.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { NAME_PROOF_METHOD, VERIFYNAMEPROOF } from "../contract/names/proof.ts"
import { encodeJson } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { contextFor, decodeGiven } from "./nameEncodings.ts"
import { nameProofs } from "./nameProof.ts"

/** Portable proofs of names (docs/proofs.md). Only in svcd. */

export const portableProofMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | NameDb | NameAnswers | LightPart | AnswerOptions | SyncReporter
> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const node = yield* AnswerOptions
  const { prove } = yield* makeNameProofs(yield* NameAnswers)
  const { refuse } = nameProofs(yield* SyncReporter)

  const refused = (failure: ProofFailed): Effect.Effect<never, RpcError> =>
    failure._tag === "ProofUnavailable" ? RpcError.misc(failure.message) : refuse(failure)

  const name_proof = method(
    NAME_PROOF_METHOD,
    ({ name, options: { chain, headers, nameEncoding } }) =>
      Effect.gen(function*() {
        if (headers < 0) return yield* RpcError.invalidParameter("headers must not be negative")
        const context = contextFor(network, node, { nameEncoding, valueEncoding: undefined })
        const bytes = yield* decodeGiven(name, context.nameEncoding)
        return yield* Effect.catchAll(prove(bytes, { headers, chain }), refused)
      })
  )

  const verifynameproof = method(
    VERIFYNAMEPROOF,
    ({ options: { minConfirmations = 1 }, proof }) =>
      Effect.clockWith(({ currentTimeMillis }) =>
        Effect.map(currentTimeMillis, (millis) => {
          const outcome = verifyNameProof(typeof proof === "string" ? proof : encodeJson(proof), {
            network: network.chainName,
            now: Math.floor(millis / 1000),
            minConfirmations,
            signatures
          })
          return isFailure(outcome) ? { valid: false, ...outcome } : { valid: true, ...outcome }
        })
      )
  )

  return [name_proof, verifynameproof]
})
