import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import { isExpired } from "../consensus/expiry.ts"
import { evidenceInChain } from "../names/chainEvidence.ts"
import { NamesIncomplete, type ProofUnavailable, unprovable } from "../names/errors.ts"
import { NameDb } from "../names/NameDb.ts"
import { type NameAbsence, nameDocument, type NameEvidence, type WantedEvidence } from "../names/nameEvidence.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { NameProof } from "../verify/nameProof.ts"
import { type LightNode, LightPart } from "./LightPart.ts"
import type { NameAnswers } from "./NameAnswers.ts"

export type ProofFailed = NamesIncomplete | ProofUnavailable | StorageFailure

/**
 * Makes portable proofs, from the window of the light part while there is one, then from names.db and the blocks. A name
 * that does not exist, or has expired, is only reported while names are complete.
 */
export interface NameProofs {
  // positional: reads as the question, a name and how it is to be proven.
  readonly prove: (name: Bytes, wanted: WantedEvidence) => Effect.Effect<NameProof | NameAbsence, ProofFailed>
}

const evidenceOfWindow = (
  { height, proofs, resolve }: LightNode,
  name: Bytes,
  wanted: WantedEvidence
): Effect.Effect<NameEvidence, ProofFailed> =>
  proofs.kept
    ? proofs.prove(name, wanted)
    : Effect.flatMap(resolve(name), (found) => unprovable(found?.record.height ?? height(), "unkept"))

/** The document about a name from the window of a light node, as far as the window is up to date. */
export const proofInWindow = (
  light: LightNode,
  name: Bytes,
  wanted: WantedEvidence
): Effect.Effect<NameProof | NameAbsence, ProofFailed> =>
  Effect.map(
    evidenceOfWindow(light, name, wanted),
    (found) => nameDocument(found, { name, network: light.params.network.chainName })
  )

/** `answers` decide what the node may deny. */
export const makeNameProofs = (
  answers: typeof NameAnswers.Service
): Effect.Effect<NameProofs, never, Chain | NameDb | LightPart> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const part = yield* LightPart
    const { params } = chain

    const evidence = (name: Bytes, wanted: WantedEvidence): Effect.Effect<NameEvidence, ProofFailed> =>
      Effect.scoped(Effect.flatMap(part.hold, (light) => {
        if (light === undefined) return evidenceInChain({ chain, names }, name, wanted)
        // The whole chain will prove it.
        return light.proofs.kept || part.stays ? evidenceOfWindow(light, name, wanted) : new NamesIncomplete()
      }))

    const denies = ({ operations: [newest], tip }: NameEvidence): boolean =>
      newest === undefined || isExpired(newest, tip.height, params)

    return {
      prove: (name, wanted) =>
        Effect.map(
          answers.ask(evidence(name, wanted), denies),
          (found) => nameDocument(found, { name, network: params.network.chainName })
        )
    }
  })
