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
import { TYPE_NUMBERS } from "../values/records.ts"
import { type DomainZone, domainZone } from "../values/zone.ts"
import { type AnswerChoices, answerOf, type Apex, type DnsAnswer, type Question } from "./answer.ts"
import { META_TYPES } from "./wire/codes.ts"
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
  readonly answers: Pick<typeof NameAnswers.Service, "ask" | "atOnce" | "height" | "proofOfAbsence" | "resolve">
  readonly params: ConsensusParams
  readonly requireProof: ProofLevel
  /** Whether it is known, without asking, that names are complete at a tip of this height. */
  readonly mayDenyAt: (tipHeight: Height) => boolean
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

export const hasSoa = ({ answer }: DnsAnswer): boolean => answer.some(({ type }) => type === TYPE_NUMBERS.SOA)

/**
 * Whether the answer has SOA, by which secondaries and monitors take the zone for whole. All else at the apex needs no
 * names: a validator that cannot read DNSKEY would distrust the zone for a while after the sync, too.
 */
const saysWhole = ({ apex, choices, question }: ZoneQuestion): boolean =>
  question.name === apex.origin &&
  (question.type === TYPE_NUMBERS.SOA || (question.type === META_TYPES.ANY && choices.minimalAny !== true))

/** Work that asks for one name after another, and takes what is known of each. */
type NameWork<A> = Generator<Bytes, A, FoundName>

/**
 * Answers questions from the node's names. An expired name counts as missing, and a semi-expired one as alive. A name
 * is missing only where names are complete.
 */
export const makeZones = ({ answers, mayDenyAt, params, requireProof }: ZonesOptions) => {
  const isMissing = ({ found, tipHeight }: FoundName): boolean =>
    found === undefined || isExpired(found.record, tipHeight, params)

  /** A value, or that there is none; `span` shrinks to the heights for which this holds. */
  function* valueOf(name: Bytes, span: Span): NameWork<Bytes | undefined | DnsNotReady> {
    const { found, tipHeight } = yield name
    const proof = found?.proof ?? answers.proofOfAbsence()
    if (!isProved({ proof }, requireProof)) return new DnsNotReady({ levels: { proof, required: requireProof } })
    span.denies ||= isMissing({ found, tipHeight })
    if (found === undefined) return undefined
    const end = expiryHeight(found.record.height, params)
    if (isExpired(found.record, tipHeight, params)) {
      span.from = Math.max(span.from, end)
      return undefined
    }
    span.to = Math.min(span.to, end)
    return found.record.value
  }

  function* zoneOf(
    label: string,
    { apex, span }: { readonly apex: Apex; readonly span: Span }
  ): NameWork<DomainZone | undefined | DnsNotReady> {
    const name = fromBinaryString(`d/${label}`)
    // Nobody can register it as a domain, so no chain has to be known.
    if (classify(name) !== "domain") return undefined
    const value = yield* valueOf(name, span)
    if (value === undefined || value instanceof DnsNotReady) return value
    const work = domainZone({ name, value, host: `${label}.${originText(apex.origin)}` })
    let step = work.next()
    while (step.done !== true) {
      const imported = yield* valueOf(step.value, span)
      if (imported instanceof DnsNotReady) return imported
      step = work.next(imported)
    }
    return step.value
  }

  function* answering({ apex, choices, question }: ZoneQuestion): NameWork<DatedAnswer | DnsNotReady> {
    const span: Span = { from: 0, to: Infinity, denies: false }
    const known = new Map<string, DomainZone | undefined>()
    const work = answerOf(apex, question, choices)
    let step = work.next()
    while (step.done !== true) {
      const label = step.value
      if (!known.has(label)) {
        const zone = yield* zoneOf(label, { apex, span })
        if (zone instanceof DnsNotReady) return zone
        known.set(label, zone)
      }
      step = work.next(known.get(label))
    }
    return { answer: step.value, ...span }
  }

  /** What is certain of a name without a fiber; `undefined` if that is nothing. */
  const foundAtOnce = (name: Bytes): FoundName | undefined => {
    const known = answers.atOnce(nameKey(name))
    if (known === undefined) return undefined
    const { record, tipHeight } = known
    const found: FoundName = { found: record && { record, proof: "full" }, tipHeight }
    return isMissing(found) && !mayDenyAt(tipHeight) ? undefined : found
  }

  /** Names that are denied, or called whole, have to be complete. */
  const certain = <A, E>(look: Effect.Effect<A, E>, denies: (found: A) => boolean) =>
    Effect.catchTag(
      answers.ask(look, denies),
      "NamesIncomplete",
      () => new DnsNotReady({ levels: undefined })
    )

  const find = (name: Bytes): Effect.Effect<FoundName, ZoneFailure> => {
    const known = foundAtOnce(name)
    if (known !== undefined) return Effect.succeed(known)
    const look = Effect.zipWith(answers.resolve(name), answers.height, (found, tipHeight) => ({ found, tipHeight }))
    return certain(look, isMissing)
  }

  const read = (question: ZoneQuestion): Effect.Effect<DatedAnswer, ZoneFailure> =>
    Effect.gen(function*() {
      const work = answering(question)
      let step = work.next()
      while (step.done !== true) step = work.next(yield* find(step.value))
      return step.value instanceof DnsNotReady ? yield* step.value : step.value
    })

  const answer = (question: ZoneQuestion): Effect.Effect<DatedAnswer, ZoneFailure> =>
    saysWhole(question) ? certain(read(question), ({ answer }) => hasSoa(answer)) : read(question)

  /** The same answer without a fiber; `undefined` where `answer` has to find or to say more. */
  const answerAtOnce = (question: ZoneQuestion): DatedAnswer | undefined => {
    if (saysWhole(question)) return undefined
    const work = answering(question)
    let step = work.next()
    while (step.done !== true) {
      const known = foundAtOnce(step.value)
      if (known === undefined) return undefined
      step = work.next(known)
    }
    return step.value instanceof DnsNotReady ? undefined : step.value
  }

  return { answer, answerAtOnce }
}
