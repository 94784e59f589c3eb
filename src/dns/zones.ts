import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { expiryHeight, isExpired } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { NameAnswer, NameAnswers } from "../light/NameAnswers.ts"
import { isProved, type ProofLevel } from "../light/proof.ts"
import { type Bytes, fromBinaryString } from "../protocol/bytes.ts"
import { type Height, nameKey } from "../protocol/keys.ts"
import { classify } from "../protocol/nameText.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type DomainZone, domainZone } from "../values/zone.ts"
import { type AnswerChoices, answerOf, type Apex, type DnsAnswer, type Question } from "./answer.ts"
import { originText } from "./zone/suffix.ts"

/** The node cannot answer yet. Without levels, names are missing; else the answer is less proved than wanted. */
export class DnsNotReady extends Data.TaggedError("DnsNotReady")<{
  readonly levels: { readonly proof: ProofLevel; readonly required: ProofLevel } | undefined
}> {}

/** An answer, and the heights of the tip at which the names in it are alive or expired as they were read. */
export interface DatedAnswer {
  readonly answer: DnsAnswer
  readonly from: Height
  /** Not included. */
  readonly to: Height
  /** Whether a name was missing, which holds only while names are complete. */
  readonly denies: boolean
}

export interface ZoneQuestion {
  readonly apex: Apex
  readonly question: Question
  readonly choices: AnswerChoices
}

export interface ZonesOptions {
  readonly answers: Pick<typeof NameAnswers.Service, "ask" | "height" | "proofOfAbsence" | "recent" | "resolve">
  readonly params: ConsensusParams
  readonly requireProof: ProofLevel
}

export type ZoneFailure = DnsNotReady | StorageFailure

interface Span {
  from: Height
  to: Height
  denies: boolean
}

interface FoundName {
  readonly found: NameAnswer | undefined
  readonly tipHeight: Height
}

/**
 * Answers questions from the node's names. An expired name counts as missing, and a semi-expired one as alive. A name
 * is missing only where names are complete.
 */
export const makeZones = ({ answers, params, requireProof }: ZonesOptions) => {
  const isMissing = ({ found, tipHeight }: FoundName): boolean =>
    found === undefined || isExpired(found.record, tipHeight, params)

  /** A value, or that there is none; `span` shrinks to the heights for which this holds. */
  const settle = ({ found, tipHeight }: FoundName, span: Span): Effect.Effect<Bytes | undefined, DnsNotReady> => {
    const proof = found?.proof ?? answers.proofOfAbsence()
    if (!isProved({ proof }, requireProof)) return new DnsNotReady({ levels: { proof, required: requireProof } })
    span.denies ||= isMissing({ found, tipHeight })
    if (found === undefined) return Effect.succeed(undefined)
    const end = expiryHeight(found.record.height, params)
    if (isExpired(found.record, tipHeight, params)) {
      span.from = Math.max(span.from, end)
      return Effect.succeed(undefined)
    }
    span.to = Math.min(span.to, end)
    return Effect.succeed(found.record.value)
  }

  /** Most names are in memory, and need no question to the store. */
  const valueOf = (name: Bytes, span: Span): Effect.Effect<Bytes | undefined, ZoneFailure> => {
    const recent = answers.recent(nameKey(name))
    if (recent !== undefined) {
      const known: FoundName = { found: { record: recent.record, proof: "full" }, tipHeight: recent.tipHeight }
      if (!isMissing(known)) return settle(known, span)
    }
    const look = Effect.zipWith(answers.resolve(name), answers.height, (found, tipHeight) => ({ found, tipHeight }))
    return answers.ask(look, isMissing).pipe(
      Effect.catchTag("NamesIncomplete", () => new DnsNotReady({ levels: undefined })),
      Effect.flatMap((known) => settle(known, span))
    )
  }

  const zoneOf = (
    label: string,
    { apex, span }: { readonly apex: Apex; readonly span: Span }
  ): Effect.Effect<DomainZone | undefined, ZoneFailure> =>
    Effect.gen(function*() {
      const name = fromBinaryString(`d/${label}`)
      // Nobody can register it as a domain, so no chain has to be known.
      if (classify(name) !== "domain") return undefined
      const value = yield* valueOf(name, span)
      if (value === undefined) return undefined
      const work = domainZone({ name, value, host: `${label}.${originText(apex.origin)}` })
      let step = work.next()
      while (step.done !== true) step = work.next(yield* valueOf(step.value, span))
      return step.value
    })

  const answer = ({ apex, choices, question }: ZoneQuestion): Effect.Effect<DatedAnswer, ZoneFailure> =>
    Effect.gen(function*() {
      const span: Span = { from: 0, to: Infinity, denies: false }
      const known = new Map<string, DomainZone | undefined>()
      const work = answerOf(apex, question, choices)
      let step = work.next()
      while (step.done !== true) {
        const label = step.value
        if (!known.has(label)) known.set(label, yield* zoneOf(label, { apex, span }))
        step = work.next(known.get(label))
      }
      return { answer: step.value, ...span }
    })

  return { answer }
}
