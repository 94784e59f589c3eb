import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Question } from "../dns/answer.ts"
import { answerHost } from "../dns/answerHost.ts"
import { answeredHost } from "../dns/domainRecords.ts"
import { hostQuestion, type QuestionFault } from "../dns/hostQuestion.ts"
import { PROOF_LEVELS } from "../light/proof.ts"
import { type Bytes, fromHex } from "../protocol/bytes.ts"
import { decodeText, encodeText } from "../protocol/nameText.ts"
import { InvalidRequest, type ReadFailure } from "./errors.ts"
import type { NameClient } from "./NameClient.ts"
import type { DomainType, ResolveOptions } from "./options.ts"
import { domainAnswerOf, type Freshness, freshnessOf, type NameRecord } from "./records.ts"

/** `resolveDomain` over `resolveName`: one rule for every kind of client. */

const NO_TEXT: QuestionFault = { field: "host", reason: "be a text, and so has the type" }

type Names = Pick<typeof NameClient.Service, "freshness" | "resolveName">

const questionOf = (
  { host, type }: { readonly host: string; readonly type: string }
): Either.Either<Question, InvalidRequest> => {
  const given = [host, type].every((each) => typeof each === "string") ? hostQuestion(host, type) : NO_TEXT
  return "field" in given
    ? Either.left(new InvalidRequest({ field: given.field, reason: `has to ${given.reason}` }))
    : Either.right(given)
}

const valueBytes = ({ value, valueHex }: NameRecord): Bytes | undefined =>
  valueHex === undefined ? decodeText(value, "utf8") : fromHex(valueHex)

/** The guarantees that hold for both. */
const weaker = (a: Freshness, b: Freshness): Freshness =>
  freshnessOf({
    height: Math.min(a.height, b.height),
    synced: a.synced && b.synced,
    proof: PROOF_LEVELS.find((level) => level === a.proof || level === b.proof) ?? a.proof
  })

/** An imported name may be any text. One that no name can be is a missing one. */
const orMissing = (found: ReturnType<Names["resolveName"]>): Effect.Effect<NameRecord | undefined, ReadFailure> =>
  Effect.catchTags(found, {
    NameNotFound: () => Effect.succeed(undefined),
    NameExpired: () => Effect.succeed(undefined),
    InvalidRequest: () => Effect.succeed(undefined)
  })

export const resolvingDomains = ({ freshness, resolveName }: Names): (typeof NameClient.Service)["resolveDomain"] =>
// positional: as in `NameClient`
(host: string, type: DomainType = "A", options: ResolveOptions = {}) =>
  Effect.gen(function*() {
    const question = yield* questionOf({ host, type })
    const sources: Array<NameRecord> = []
    const valueOf = (name: Bytes): Effect.Effect<Bytes | undefined, ReadFailure> => {
      const text = encodeText(name, "utf8")
      if (text === undefined) return Effect.succeed(undefined)
      return Effect.map(orMissing(resolveName(text, options)), (record) => {
        if (record === undefined) return undefined
        sources.push(record)
        return valueBytes(record)
      })
    }
    const answer = yield* answerHost(question, valueOf)
    const [first, ...others] = sources.map((source) => source.asOf)
    const asOf = first === undefined ? yield* freshness : others.reduce(weaker, first)
    return domainAnswerOf({ ...answeredHost(answer, question.type), sources, asOf })
  })
