import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { isExpired } from "../../consensus/expiry.ts"
import { answerHost } from "../../dns/answerHost.ts"
import { answeredHost } from "../../dns/domainRecords.ts"
import { hostQuestion } from "../../dns/hostQuestion.ts"
import { wordOfType } from "../../dns/recordTypes.ts"
import { wireNameText } from "../../dns/wire/name.ts"
import { type NameAnswer, NameAnswers } from "../../light/NameAnswers.ts"
import { PROOF_LEVELS, type ProofLevel } from "../../light/proof.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { NAME_RESOLVE, type RESOLVE_PARAMS, type RESOLVED } from "../contract/names/resolve.ts"
import { method } from "../method/method.ts"
import type { Decoded } from "../method/params.ts"
import type * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { nameRow } from "../shapes/name.ts"
import { storageError } from "./errors.ts"
import { contextFor } from "./nameEncodings.ts"
import { nameProofs } from "./nameProof.ts"

/** Shared by `name_resolve` and REST. Only in svcd. */

export type GivenHost = Decoded<typeof RESOLVE_PARAMS>

export const makeHostResolver: Effect.Effect<
  (given: GivenHost) => Effect.Effect<Result.ValueOf<typeof RESOLVED>, RpcError>,
  never,
  Chain | NameAnswers | AnswerOptions | SyncReporter
> = Effect.gen(function*() {
  const { params } = yield* Chain
  const answers = yield* NameAnswers
  const node = yield* AnswerOptions
  const { proved, refuse } = nameProofs(yield* SyncReporter)
  const { dnsTtl, requireProof: leastProof = "work" } = node

  return ({ host, options, type }) =>
    Effect.gen(function*() {
      const question = hostQuestion(host, type)
      if ("field" in question) return yield* RpcError.invalidParameter(`${question.field} must ${question.reason}`)
      const context = contextFor(params.network, node, options)
      const sources: Array<NameAnswer> = []
      const proofs = new Set<ProofLevel>()

      const valueOf = (name: Bytes): Effect.Effect<Bytes | undefined, RpcError> =>
        Effect.gen(function*() {
          const looked = Effect.zip(answers.resolve(name), answers.height)
          const isGone = ([found, height]: readonly [NameAnswer | undefined, number]): boolean =>
            found === undefined || isExpired(found.record, height, params)
          const asked = yield* Effect.catchAll(answers.ask(looked, isGone), refuse)
          const [found] = asked
          const proof = found?.proof ?? answers.proofOfAbsence()
          yield* proved({ proof }, options.requireProof ?? leastProof)
          proofs.add(proof)
          if (found === undefined || isGone(asked)) return undefined
          sources.push(found)
          return found.record.value
        })

      const answer = yield* answerHost(question, valueOf, dnsTtl)
      const height = yield* Effect.mapError(answers.height, storageError)
      const clock = { tipHeight: height, params }
      return {
        host: wireNameText(question.name),
        type: wordOfType(question.type),
        ...answeredHost(answer, question.type),
        cut: answer.isCut,
        sources: sources.map(({ proof, record }) =>
          nameRow(context, record, { now: clock, ismine: undefined, proof: proof === "full" ? undefined : proof })
        ),
        height,
        synced: yield* Effect.mapError(answers.complete, storageError),
        proof: PROOF_LEVELS.find((level) => proofs.has(level)) ?? answers.proofOfAbsence()
      }
    })
})

export const resolveMethods = Effect.map(makeHostResolver, (resolve) => [method(NAME_RESOLVE, resolve)])
