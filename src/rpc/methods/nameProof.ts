import * as Effect from "effect/Effect"
import { isProved, type ProofLevel } from "../../light/proof.ts"
import { type SyncReport, waitText } from "../../light/syncReport.ts"
import type { SyncReporter } from "../../light/SyncReporter.ts"
import type { NamesIncomplete } from "../../names/errors.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

/** The proof that a call requires, and the errors for less (reference/rpc.md 5.1). */

const lessProof = (proof: ProofLevel, required: ProofLevel, report: SyncReport): RpcError => {
  const wait = waitText(report)
  return RpcError.lessProof(
    `The answer rests on ${proof}, not on ${required}${wait === "" ? "" : ` (${wait})`}`
  )
}

export const nameProofs = ({ report }: typeof SyncReporter.Service) => ({
  /** Fails with -10 if the answer has less than the required proof. */
  proved: <A extends { readonly proof: ProofLevel }>(answer: A, required: ProofLevel): Effect.Effect<A, RpcError> =>
    isProved(answer, required)
      ? Effect.succeed(answer)
      : Effect.flatMap(report, (now) => lessProof(answer.proof, required, now)),
  /** An answer that is not certain yet, or a failed read. */
  refuse: (failure: NamesIncomplete | StorageFailure | RpcError): Effect.Effect<never, RpcError> => {
    if (failure._tag === "RpcError") return failure
    return failure._tag === "NamesIncomplete"
      ? Effect.flatMap(report, (now) => RpcError.initialDownload(waitText(now)))
      : storageError(failure)
  }
})
