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
import { NameAnswers } from "./NameAnswers.ts"

export type ProofFailed = NamesIncomplete | ProofUnavailable | StorageFailure

/**
 * Makes portable proofs, from the window of the light part while there is one, then from names.db and the blocks. A name
 * that does not exist, or has expired, is only reported while names are complete.
 */
export interface NameProofs {
  // positional: reads as the question, a name and how it is to be proven.
  readonly prove: (name: Bytes, wanted: WantedEvidence) => Effect.Effect<NameProof | NameAbsence, ProofFailed>
}

export const makeNameProofs: Effect.Effect<NameProofs, never, Chain | NameDb | NameAnswers | LightPart> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const answers = yield* NameAnswers
    const part = yield* LightPart
    const { params } = chain

    const inWindow = (
      { proofs, resolve }: LightNode,
      name: Bytes,
      wanted: WantedEvidence
    ): Effect.Effect<NameEvidence, ProofFailed> =>
      Effect.gen(function*() {
        if (proofs.kept) return yield* proofs.prove(name, wanted)
        // The whole chain will prove it.
        if (!part.stays) return yield* new NamesIncomplete()
        const height = (yield* resolve(name))?.record.height ?? (yield* answers.height)
        return yield* unprovable(height, "unkept")
      })

    const evidence = (name: Bytes, wanted: WantedEvidence): Effect.Effect<NameEvidence, ProofFailed> =>
      Effect.scoped(
        Effect.flatMap(part.hold, (light) =>
          light === undefined ? evidenceInChain({ chain, names }, name, wanted) : inWindow(light, name, wanted))
      )

    const denies = ({ operations: [newest], tip }: NameEvidence): boolean =>
      newest === undefined || isExpired(newest, tip.height, params)

    return {
      prove: (name, wanted) =>
        Effect.map(
          answers.ask(evidence(name, wanted), denies),
          (found) => nameDocument(found, { name, network: params.network.chainName })
        )
    }
  }
)
