import * as Effect from "effect/Effect"
import type { SyncReport } from "../light/syncReport.ts"
import { type NamesIncomplete, ProofUnavailable, unprovable } from "../names/errors.ts"
import { type NameAbsence, readNameDocument, type WantedEvidence } from "../names/nameEvidence.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { NAME_PROOF_METHOD } from "../rpc/contract/names/proof.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { isFailure, MOST_FOLLOWING, type NameProof } from "../verify/nameProof.ts"
import { type DaemonRpc, refused } from "./DaemonRpc.ts"
import { DaemonRefused, InvalidRequest, type ProveFailure, type ReadFailure, type ResolveFailure } from "./errors.ts"
import type { NameClient } from "./NameClient.ts"
import type { ProveOptions } from "./options.ts"
import { notSynced } from "./readiness.ts"
import { absentName, nameBytes } from "./text.ts"

/** Portable proofs of names in every mode: what a name lacks is what `resolveName` says of it. */

type Client = typeof NameClient.Service

type Document = NameProof | NameAbsence

/** Headers after the newest operation, by default. */
const FOLLOWING = 6

const wantedOf = (
  { chain = false, headers = FOLLOWING }: ProveOptions
): Effect.Effect<WantedEvidence, InvalidRequest> =>
  Number.isInteger(headers) && headers >= 0 && headers <= MOST_FOLLOWING
    ? Effect.succeed({ chain, headers })
    : new InvalidRequest({ field: "headers", reason: `must be a whole number from 0 to ${MOST_FOLLOWING}` })

interface ProvingParts {
  readonly resolveName: (name: string) => Effect.Effect<unknown, ResolveFailure>
  readonly prove: (name: Bytes, wanted: WantedEvidence) => Effect.Effect<Document, ProveFailure>
}

export const provingNames = ({ prove, resolveName }: ProvingParts): Client["proveName"] => (name, options = {}) =>
  Effect.gen(function*() {
    const wanted = yield* wantedOf(options)
    const bytes = yield* nameBytes(name)
    yield* resolveName(name)
    const document = yield* prove(bytes, wanted)
    // A reorg removed the name in between.
    return "absent" in document ? yield* absentName(bytes) : document
  })

/** For a source of names without blocks. */
export const provingNothing = (resolveName: Client["resolveName"]): Client["proveName"] => (name, options = {}) =>
  Effect.gen(function*() {
    yield* wantedOf(options)
    const { height } = yield* resolveName(name)
    return yield* unprovable(height, "none")
  })

/** `report`: the state of the node, for a proof that has to wait for blocks. */
export const orNotSynced = <A>(
  proof: Effect.Effect<A, NamesIncomplete | ProofUnavailable | ReadFailure>,
  report: Effect.Effect<SyncReport>
): Effect.Effect<A, ProveFailure> =>
  Effect.catchTag(proof, "NamesIncomplete", () => Effect.flatMap(report, (now) => notSynced(now, now)))

const OLDER = "the daemon has no proofs of names: it is not svcd, or it is an older version"

/** A daemon's proof, or its statement that the name does not exist. Checks the form; the reader verifies the content. */
export const askForProof = (
  rpc: DaemonRpc,
  name: Bytes,
  wanted: WantedEvidence
): Effect.Effect<Document, ProveFailure> =>
  Effect.gen(function*() {
    const reply = yield* rpc.call(NAME_PROOF_METHOD, { name: toHex(name), options: { nameEncoding: "hex", ...wanted } })
    const document = readNameDocument(encodeJson(reply), name)
    return isFailure(document)
      ? yield* new DaemonRefused({ reason: `the daemon's proof is invalid: ${document.failed}` })
      : document
  }).pipe(
    Effect.catchTag("RpcFailure", (failure): Effect.Effect<never, ProveFailure> => {
      const { code, message, reason } = failure
      if (code === RPC_CODE.methodNotFound) return new DaemonRefused({ code, reason: OLDER })
      return reason === "proof-unavailable" ? new ProofUnavailable({ reason: message }) : Effect.fail(refused(failure))
    })
  )
