import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { NameKey } from "../../protocol/keys.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import type { DnsAnswer, Question, Rcode } from "../answer.ts"
import { type CompletedAnswer, ForwardFailed, type ForwardOptions } from "../parts.ts"
import type { RecordSet } from "../records.ts"
import { FLAGS } from "../wire/codes.ts"
import type { DnsMessage } from "../wire/message.ts"
import { isAtOrBelow, type WireName } from "../wire/name.ts"
import { followAliases, foreignSets } from "./aliasChain.ts"
import type { AskFlags, AskServer } from "./askServer.ts"
import { addressesIn, type Referral, referralIn } from "./referral.ts"

// The way from a question to its whole answer: through the zones of this node, the other resolver, and the servers of
// delegated names, from one alias to the next.

/** Changes between these places. */
const MAX_STEPS = 8

/** Referrals in a row, those on the way to the address of a server included. */
const MAX_DEPTH = 8

/** Queries on the way through delegations. Owners of names choose whom they ask. */
const MAX_QUERIES = 16

/** Milliseconds for a delegation. */
const DELEGATION_TIMEOUT = 3_000

/** RFC 7686, section 2: such names are never looked up. */
const ONION = "\x05onion\0" as WireName

export interface OtherServers {
  readonly resolver: (question: Question, flags: AskFlags) => Effect.Effect<DnsMessage, ForwardFailed>
  /** A server of a delegation by its IP address; `undefined` if it must not be asked. */
  readonly delegated: (address: string) => AskServer | undefined
}

/** What is common to the whole way. */
interface Way<E> {
  readonly servers: OtherServers
  readonly options: ForwardOptions<E>
  queriesLeft: number
}

/** What one place said. */
interface Part {
  readonly rcode: Rcode
  readonly answer: ReadonlyArray<RecordSet>
  /** On the way only proofs, those of wildcards in the answer. */
  readonly authority: ReadonlyArray<RecordSet>
  /** The alias target for which another place has to be asked; `undefined` at the end of the way. */
  readonly next: WireName | undefined
}

type Going<A, E> = Effect.Effect<A, E | ForwardFailed>

const RCODES: ReadonlyMap<number, Rcode> = new Map([[0, "NOERROR"], [3, "NXDOMAIN"], [6, "YXDOMAIN"]])

/** `undefined` if the server could not or would not answer. */
export const answerRcode = ({ rcode }: DnsMessage): Rcode | undefined => RCODES.get(rcode)

const failed = (reason: ForwardFailed["reason"]): ForwardFailed => new ForwardFailed({ reason })

const spend = <E>(way: Way<E>): Effect.Effect<void, ForwardFailed> =>
  Effect.suspend(() => way.queriesLeft-- > 0 ? Effect.void : failed("too many steps"))

const fromResolver = <E>({ options, servers }: Way<E>, question: Question): Going<Part, E> => {
  const isTold = (name: WireName): boolean => !options.inZone(name) && !isAtOrBelow(name, ONION)
  if (!isTold(question.name)) {
    return Effect.succeed({ rcode: "NXDOMAIN", answer: [], authority: [], next: undefined })
  }
  const { checkingDisabled, dnssec } = options
  return Effect.flatMap(servers.resolver(question, { recursion: true, dnssec, checkingDisabled }), (message) => {
    const chain = followAliases(question, foreignSets(message.answer), isTold)
    if (!isTold(chain.end)) {
      return Effect.succeed<Part>({ rcode: "NOERROR", answer: chain.sets, authority: [], next: chain.end })
    }
    const rcode = answerRcode(message)
    const authority = foreignSets(message.authority).filter(({ owner }) => isTold(owner))
    return rcode === undefined
      ? failed("resolver failed")
      : Effect.succeed<Part>({ rcode, answer: chain.sets, authority, next: undefined })
  })
}

const sectionsOf = ({ additional, answer, authority }: DnsMessage) => ({
  answer: foreignSets(answer),
  authority: foreignSets(authority),
  additional: foreignSets(additional)
})

/** What a server of a delegation said about names of its own. */
const delegatedPart = (question: Question, { cut }: Referral, message: DnsMessage): Part => {
  const isTold = (name: WireName): boolean => isAtOrBelow(name, cut)
  const { answer, authority } = sectionsOf(message)
  const { end, isFound, sets } = followAliases(question, answer, isTold)
  const told = authority.filter(({ owner }) => isTold(owner))
  const rcode = answerRcode(message) ?? "NOERROR"
  const isEnd = end === question.name || isFound || rcode !== "NOERROR" ||
    (isTold(end) && told.some(({ type }) => type === TYPE_NUMBERS.SOA))
  return isEnd && isTold(end)
    ? { rcode, answer: sets, authority: told, next: undefined }
    : { rcode: "NOERROR", answer: sets, authority: [], next: end }
}

/** The addresses of a server without glue. What fails counts as no address. */
const addressesOf = <E>(way: Way<E>, host: WireName, depth: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function*() {
    for (const type of [TYPE_NUMBERS.A, TYPE_NUMBERS.AAAA]) {
      const found = yield* Effect.either(complete(way, { name: host, type }, { start: undefined, depth }))
      if (Either.isLeft(found)) continue
      const { answer } = found.right.answer
      const { end } = followAliases({ name: host, type }, answer, () => true)
      const addresses = addressesIn(answer, end)
      if (addresses.length > 0) return addresses
    }
    return []
  })

interface Delegation {
  readonly referral: Referral
  readonly depth: number
}

/** The first good answer of a delegation's servers. Silent ones are asked once more: a datagram may be lost. */
const askServers = <E>(way: Way<E>, question: Question, { depth, referral }: Delegation): Going<DnsMessage, E> =>
  Effect.gen(function*() {
    const { cut, glue, servers } = referral
    const silent: Array<AskServer> = []
    const answerFrom = Effect.fnUntraced(function*(ask: AskServer) {
      yield* spend(way)
      const flags = { recursion: false, dnssec: way.options.dnssec, checkingDisabled: false }
      const message = yield* Effect.option(ask(question, flags))
      if (message._tag === "Some") return isFrom(message.value, question, referral) ? message.value : undefined
      silent.push(ask)
      return undefined
    })
    const known = (host: WireName): ReadonlyArray<string> => glue.get(host) ?? []
    const withGlue = servers.filter((host) => known(host).length > 0)
    const others = servers.filter((host) => known(host).length === 0 && !isAtOrBelow(host, cut))
    for (const host of [...withGlue, ...others]) {
      const given = known(host)
      const addresses = given.length > 0 ? given : yield* addressesOf(way, host, depth + 1)
      for (const ask of addresses.map(way.servers.delegated)) {
        const answer = ask === undefined ? undefined : yield* answerFrom(ask)
        if (answer !== undefined) return answer
      }
    }
    for (const ask of [...silent]) {
      const answer = yield* answerFrom(ask)
      if (answer !== undefined) return answer
    }
    return yield* failed("delegation silent")
  })

/** Whether a server is one of the delegated name: others, such as open resolvers, answer without AA. */
const isFrom = (message: DnsMessage, question: Question, { cut }: Referral): boolean =>
  answerRcode(message) !== undefined &&
  ((message.flags & FLAGS.AA) !== 0 || referralIn(sectionsOf(message), question, cut) !== undefined)

const fromDelegation = <E>(way: Way<E>, question: Question, start: Delegation): Going<Part, E> =>
  Effect.gen(function*() {
    let { referral } = start
    for (let { depth } = start; depth < MAX_DEPTH; depth++) {
      const message = yield* askServers(way, question, { referral, depth })
      const further = (message.flags & FLAGS.AA) === 0
        ? referralIn(sectionsOf(message), question, referral.cut)
        : undefined
      if (further === undefined) return delegatedPart(question, referral, message)
      referral = further
    }
    return yield* failed("too many steps")
  }).pipe(Effect.timeoutFail({ duration: DELEGATION_TIMEOUT, onTimeout: () => failed("delegation silent") }))

/** Whether the zones' answer leads to other servers. */
export const isUnfinished = (question: Question, own: DnsAnswer): boolean =>
  own.outside !== undefined || delegationOf(question, own) !== undefined

/** The delegation at which the zones' answer ends, and the name to ask its servers for. */
const delegationOf = ({ name, type }: Question, own: DnsAnswer) => {
  const { end, isFound } = followAliases({ name, type }, own.answer, () => true)
  const referral = isFound || own.rcode !== "NOERROR" ? undefined : referralIn(own, { name: end, type }, undefined)
  return referral && { referral, wanted: { name: end, type } }
}

interface OwnStart {
  readonly own: DnsAnswer
  readonly depth: number
}

/** The proofs that no name is closer than the wildcards of an answer. Without them its signatures are bogus. */
const wildcardProofs = ({ answer, authority }: DnsAnswer): ReadonlyArray<RecordSet> =>
  answer.some(({ wildcard }) => wildcard !== undefined)
    ? authority.filter(({ signs, type }) => signs && type === TYPE_NUMBERS.NSEC)
    : []

const fromZone = <E>(way: Way<E>, question: Question, { depth, own }: OwnStart): Going<Part, E> => {
  const { answer, authority, outside, rcode } = own
  const delegation = delegationOf(question, own)
  if (delegation === undefined) return Effect.succeed({ rcode, answer, authority, next: outside })
  return Effect.map(
    fromDelegation(way, delegation.wanted, { referral: delegation.referral, depth }),
    (part) => ({
      ...part,
      answer: [...answer, ...part.answer],
      authority: [...wildcardProofs(own), ...part.authority]
    })
  )
}

const isSameProof = (one: RecordSet, other: RecordSet): boolean =>
  one.signs && other.signs && one.owner === other.owner && one.type === other.type

interface Start {
  /** The zones' answer to the question, if it is known. */
  readonly start: DnsAnswer | undefined
  readonly depth: number
}

const complete = <E>(way: Way<E>, question: Question, { depth, start }: Start): Going<CompletedAnswer, E> =>
  Effect.gen(function*() {
    const { inZone, own } = way.options
    const answer: Array<RecordSet> = []
    const authority: Array<RecordSet> = []
    const sources = new Set<NameKey>()
    let isCut = false
    let here = start
    let wanted = question
    for (let step = 1;; step++) {
      if (here === undefined && inZone(wanted.name)) here = yield* own(wanted)
      if (here === undefined && depth > 0) yield* spend(way)
      const part: Part = here === undefined
        ? yield* fromResolver(way, wanted)
        : yield* fromZone(way, wanted, { own: here, depth })
      for (const source of here?.sources ?? []) sources.add(source)
      isCut ||= here?.isCut ?? false
      here = undefined
      answer.push(...part.answer)
      authority.push(...part.authority.filter((set) => !authority.some((known) => isSameProof(known, set))))
      if (part.next !== undefined && step < MAX_STEPS) {
        wanted = { name: part.next, type: question.type }
        continue
      }
      const sections = { answer, authority, additional: [], sources: [...sources], isCut }
      return { answer: { ...sections, rcode: part.rcode, authoritative: false, outside: undefined }, isForeign: true }
    }
  })

/** Goes on from the zones' answer, or from a question about a name outside them. */
export const completeAnswer = <E>(
  servers: OtherServers,
  question: Question,
  { options, start }: { readonly options: ForwardOptions<E>; readonly start: DnsAnswer | undefined }
): Going<CompletedAnswer, E> => complete({ servers, options, queriesLeft: MAX_QUERIES }, question, { start, depth: 0 })
