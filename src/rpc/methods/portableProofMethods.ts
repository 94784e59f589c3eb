import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { Chain } from "../../chain/Chain.ts"
import type { LightPart } from "../../light/LightPart.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { makeNameProofs, type ProofFailed } from "../../light/NameProofs.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import type { NameDb } from "../../names/NameDb.ts"
import type { NameLink } from "../../verify/nameLinks.ts"
import { isFailure, type ProofFailure } from "../../verify/nameProof.ts"
import { signatures } from "../../verify/signatures.ts"
import { type ProofOptions, type VerifiedName, verifyNameProof } from "../../verify/verifyNameProof.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { NAME_PROOF_METHOD, VERIFYNAMEPROOF } from "../contract/names/proof.ts"
import { encodeJson } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { contextFor, decodeGiven } from "./nameEncodings.ts"
import { nameProofs } from "./nameProof.ts"

/** Portable proofs of names (docs/proofs.md). Only in svcd. */

/** Verifies a proof with its signatures, one operation a turn of the event loop. */
const verifyInTurns = (
  proof: string,
  options: Omit<ProofOptions, "signatures">
): Effect.Effect<VerifiedName | ProofFailure> =>
  Effect.gen(function*() {
    const links: Array<NameLink> = []
    const outcome = verifyNameProof(proof, { ...options, signatures: (link) => links.push(link) > 0 })
    if (isFailure(outcome) || links.length === 0) return outcome
    const checked: Array<{ readonly isSigned: boolean; readonly left: number }> = []
    for (const link of links) {
      yield* turnOfEventLoop
      const isSigned = signatures(link)
      checked.push({ isSigned, left: link.budget.left })
      if (link.budget.left < 0) break
    }
    // The same links in the same order, now with what their checks said.
    const found = checked.values()
    return verifyNameProof(proof, {
      ...options,
      signatures: ({ budget }) => {
        const { isSigned, left } = found.next().value ?? { isSigned: false, left: -1 }
        budget.left = left
        return isSigned
      }
    })
  })

export const portableProofMethods: Methods<
  Chain | NameDb | NameAnswers | LightPart | AnswerOptions | SyncReporter
> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const node = yield* AnswerOptions
  const { prove } = yield* makeNameProofs(yield* NameAnswers)
  const { refuse } = nameProofs(yield* SyncReporter)

  const refused = (failure: ProofFailed): Effect.Effect<never, RpcError> =>
    failure._tag === "ProofUnavailable" ? RpcError.misc(failure.message, "proof-unavailable") : refuse(failure)

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
      Effect.gen(function*() {
        const outcome = yield* verifyInTurns(typeof proof === "string" ? proof : encodeJson(proof), {
          network: network.chainName,
          now: Math.floor((yield* Clock.currentTimeMillis) / 1000),
          minConfirmations
        })
        return isFailure(outcome) ? { valid: false, ...outcome } : { valid: true, ...outcome }
      })
  )

  return [name_proof, verifynameproof]
})
