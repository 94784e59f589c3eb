import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { isLoopback } from "../base/addresses.ts"
import { monotonic } from "../base/clock.ts"
import type { Chain } from "../chain/Chain.ts"
import type { LightPart } from "../light/LightPart.ts"
import type { NameAnswers } from "../light/NameAnswers.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import type { NameDb } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Millis } from "../protocol/keys.ts"
import { orNothing } from "../protocol/orNothing.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { KeptAnswer } from "./AnswerCache.ts"
import { chaosAnswer } from "./chaos.ts"
import { makeCookies } from "./cookies.ts"
import type { DnsClient, DnsReply } from "./exchange.ts"
import type { DnsCounters, Forwarder, Transfers } from "./parts.ts"
import type { DnsQuery } from "./query.ts"
import { answerBody, emptyBody, EXTENDED_ERRORS, type ExtendedError, fitted, optFor } from "./reply.ts"
import { notReadyText, syncFacts } from "./syncText.ts"
import { CLASSES, META_TYPES, type RcodeName } from "./wire/codes.ts"
import { type QueryFault, readQuery } from "./wire/readQuery.ts"
import type { ResponseBody } from "./wire/response.ts"
import { WorkBudget } from "./WorkBudget.ts"
import { makeZoneAnswers, type ServedZone, type ZoneAnswersOptions } from "./zoneAnswers.ts"
import type { DnsNotReady } from "./zones.ts"

export type { DnsClient, DnsReply }

/** One DNS message in, its answer out, whatever the transport. */
export class Responder extends Context.Tag("svcd/dns/Responder")<Responder, {
  /** The answer if it is in the cache, or can be made without a fiber now; else `undefined`: `respond` has to work. */
  readonly atOnce: (query: Bytes, client: DnsClient) => Bytes | undefined
  /** Never fails: every fault is an answer. */
  readonly respond: (query: Bytes, client: DnsClient) => Effect.Effect<DnsReply>
  /** Whether a cookie of this server shows that the client has its address. For times of load, as `badCookie`. Never throws. */
  readonly isProved: (query: Bytes, client: DnsClient) => boolean
  /** BADCOOKIE with a new cookie (RFC 7873, section 5.2.3), for a client with a cookie of its own that is not proved. */
  readonly badCookie: (query: Bytes, client: DnsClient) => Bytes | undefined
}>() {}

export interface ResponderOptions extends ZoneAnswersOptions {
  /** For `version.bind.`: `svcd 1.2.3`. */
  readonly version: string
  /** The answer to NSID and `id.server.` */
  readonly serverId?: string | undefined
  readonly forwarder?: Forwarder | undefined
  readonly transfers?: Transfers | undefined
  readonly counters: DnsCounters
}

type Parts = Chain | DataHealth | LightPart | NameAnswers | NameDb | SyncReporter

/** Texts of failures for callers, who must not see paths of files. */
const UNREADABLE: ExtendedError = { code: EXTENDED_ERRORS.other, text: "names cannot be read now" }
const DOUBTED: ExtendedError = { code: EXTENDED_ERRORS.other, text: "stored data are damaged and under repair" }
const CUT: ExtendedError = { code: EXTENDED_ERRORS.other, text: "the value is beyond limits: a part of it is left out" }

/** What is said of a query, before it becomes a message. */
interface Said {
  readonly rcode: RcodeName
  readonly body: ResponseBody
  readonly error?: ExtendedError | undefined
}

const bare = (query: DnsQuery, rcode: RcodeName, error?: ExtendedError): Said => ({
  rcode,
  body: emptyBody(query, rcode),
  error
})

const cutError = (isCut: boolean): ExtendedError | undefined => isCut ? CUT : undefined

/** Whether nothing but the names of a zone decides the answer. */
const isPlain = ({ edns, question: { class: asked, type }, tsigAt }: DnsQuery): boolean =>
  asked === CLASSES.IN && tsigAt === undefined && (edns === undefined || edns.version === 0) &&
  type !== META_TYPES.AXFR && type !== META_TYPES.IXFR

const isForTransfers = ({ question: { type }, tsigAt }: DnsQuery): boolean =>
  tsigAt !== undefined || type === META_TYPES.AXFR || type === META_TYPES.IXFR

/** Messages to clients, with their cookies, and who may have recursion. */
const makeMessages = (
  { counters, forwarder, serverId }: Pick<ResponderOptions, "counters" | "forwarder" | "serverId">,
  now: () => Millis
) => {
  const cookies = makeCookies()
  const cookieFacts = ({ address }: DnsClient) => ({ address, now: now() / 1000 })
  const cookie = (given: Bytes, client: DnsClient): Bytes => cookies.fresh(given, cookieFacts(client))

  const isRecursive = ({ wantsRecursion }: DnsQuery, client: DnsClient): boolean =>
    wantsRecursion && forwarder?.serves(client) === true

  const messageFor = (
    query: Pick<DnsQuery, "bytes" | "edns" | "questionEnd">,
    client: DnsClient,
    said: Said
  ): Bytes => {
    const { body, error, rcode } = said
    counters.answered(rcode)
    const opt = optFor(query, client, { rcode, error, serverId, cookie })
    return fitted(query, client, { body, opt, isRecursive: forwarder?.serves(client) === true })
  }

  const fault = (bytes: Bytes, client: DnsClient, { questionEnd, rcode }: QueryFault): Bytes => {
    const query = { bytes, questionEnd, edns: undefined }
    return messageFor(query, client, { rcode, body: emptyBody(query, rcode) })
  }

  const isProved = (bytes: Bytes, client: DnsClient): boolean => {
    const read = readQuery(bytes)
    const given = read._tag === "Query" ? read.query.edns?.cookie : undefined
    return given !== undefined && cookies.isValid(given, cookieFacts(client))
  }

  const badCookie = (bytes: Bytes, client: DnsClient): Bytes | undefined => {
    const read = readQuery(bytes)
    const given = read._tag === "Query" ? read.query.edns?.cookie : undefined
    if (read._tag !== "Query" || given === undefined || cookies.isValid(given, cookieFacts(client))) return undefined
    return messageFor(read.query, client, bare(read.query, "BADCOOKIE"))
  }

  return { isRecursive, messageFor, fault, isProved, badCookie }
}

interface AtOnceParts {
  readonly answers: Effect.Effect.Success<ReturnType<typeof makeZoneAnswers>>
  readonly messages: ReturnType<typeof makeMessages>
  readonly counters: DnsCounters
}

/** Answers without a fiber: from the cache, and from names that can be read now. */
const makeAtOnce = ({ answers, counters, messages: { fault, isRecursive, messageFor } }: AtOnceParts) => {
  const budget = new WorkBudget()

  /** The message of an answer of the zones, unless other servers complete it. */
  const ownMessage = (query: DnsQuery, client: DnsClient, found: KeptAnswer): Bytes | undefined =>
    found.isOpen && isRecursive(query, client)
      ? undefined
      : messageFor(query, client, { ...found, error: cutError(found.isCut) })

  /** An answer that is not in the cache, while there is time for it in this turn of the event loop. */
  const madeAtOnce = (query: DnsQuery, client: DnsClient): Bytes | undefined => {
    const zone = answers.zoneOf(query.question.name)
    if (zone === undefined) {
      return isRecursive(query, client) ? undefined : messageFor(query, client, bare(query, "REFUSED"))
    }
    if (budget.isSpent) return undefined
    const begun = monotonic()
    const found = answers.madeAtOnce(zone, query, client)
    budget.spend(monotonic() - begun)
    return found && ownMessage(query, client, found)
  }

  const answerNow = (bytes: Bytes, client: DnsClient): Bytes | undefined => {
    const read = readQuery(bytes)
    if (read._tag === "Fault") return fault(bytes, client, read)
    if (read._tag === "Drop" || !isPlain(read.query)) return undefined
    const { query } = read
    const kept = answers.kept(query)
    if (kept === undefined) {
      const begun = monotonic()
      const made = madeAtOnce(query, client)
      if (made !== undefined) counters.took((monotonic() - begun) / 1000)
      return made
    }
    const message = ownMessage(query, client, kept)
    if (message !== undefined) counters.cacheHit()
    return message
  }

  // A defect must not reach the handler of a socket, where it would end the process. `respond` meets that of an answer
  // again, and reports it; without a cookie, a client asks once more.
  const atOnce = (bytes: Bytes, client: DnsClient): Bytes | undefined => orNothing(() => answerNow(bytes, client))

  /** As `atOnce`, in a later turn of the event loop, for a question that only lacks time in this one. */
  const madeInTurn = (query: DnsQuery, client: DnsClient): Effect.Effect<Bytes | undefined> =>
    budget.isSpent && isPlain(query)
      ? budget.later(() => orNothing(() => madeAtOnce(query, client)))
      : Effect.succeed(undefined)

  return { atOnce, madeInTurn }
}

const make = (options: ResponderOptions): Effect.Effect<typeof Responder.Service, never, Parts | Scope.Scope> =>
  Effect.gen(function*() {
    const { counters, forwarder, serverId, transfers, version } = options
    const { report } = yield* SyncReporter
    const { doubts } = yield* DataHealth
    const answers = yield* makeZoneAnswers(options)
    const clock = yield* Effect.clock
    const messages = makeMessages(options, () => clock.unsafeCurrentTimeMillis())
    const { badCookie, fault, isProved, isRecursive, messageFor } = messages
    const { atOnce, madeInTurn } = makeAtOnce({ answers, messages, counters })

    /** No progress repairs doubtful data by itself, so it is not called a sync. */
    const notReady = (why: DnsNotReady): Effect.Effect<ExtendedError> =>
      Effect.zipWith(doubts, report, ({ length }, now) =>
        length > 0 && why.levels === undefined
          ? DOUBTED
          : { code: EXTENDED_ERRORS.notReady, text: notReadyText(now, why) })

    const ofServer = (query: DnsQuery, { address }: DnsClient): Effect.Effect<Said> =>
      Effect.map(report, (now) => {
        const sync = isLoopback(address) ? syncFacts(now) : undefined
        const answer = chaosAnswer(query.question, { version, serverId, sync })
        if (answer === undefined) return bare(query, "REFUSED")
        const parts = { rcode: "NOERROR", authoritative: true, answer, authority: [], additional: [] } as const
        return { rcode: parts.rcode, body: answerBody(query, parts, { signer: undefined }).body }
      })

    const ofZone = (zone: ServedZone, query: DnsQuery, client: DnsClient) =>
      Effect.map(
        answers.made(zone, query, client),
        ({ isCut, isOpen, ...kept }) => ({ ...kept, isOpen, error: cutError(isCut) })
      )

    /** The answer of the zones, or one that other servers complete. */
    const ofOthers = (parts: Forwarder, query: DnsQuery, client: DnsClient) => {
      const { checkingDisabled, edns, question } = query
      const own = answers.ownAnswers(query, client)
      const completed = parts.complete(question, { ...own, dnssec: edns?.dnssec === true, checkingDisabled })
      return Effect.map(completed, ({ answer, isForeign }): Said => ({
        rcode: answer.rcode,
        body: answerBody(
          query,
          { ...answer, authoritative: answer.authoritative && !isForeign },
          { signer: answers.signerFor(query) }
        ).body,
        error: cutError(answer.isCut)
      }))
    }

    const ofNames = Effect.fnUntraced(function*(query: DnsQuery, client: DnsClient) {
      const zone = answers.zoneOf(query.question.name)
      const others = isRecursive(query, client) ? forwarder : undefined
      if (zone !== undefined) {
        const own = yield* ofZone(zone, query, client)
        if (others === undefined || !own.isOpen) return own
      }
      return others === undefined ? bare(query, "REFUSED") : yield* ofOthers(others, query, client)
    })

    /** What is said of a query without TSIG. */
    const say = (query: DnsQuery, client: DnsClient): Effect.Effect<Said> => {
      const { edns, question } = query
      if (edns !== undefined && edns.version !== 0) return Effect.succeed(bare(query, "BADVERS"))
      if (question.type === META_TYPES.AXFR || question.type === META_TYPES.IXFR) {
        return Effect.succeed(bare(query, "REFUSED"))
      }
      if (question.class === CLASSES.CH) return ofServer(query, client)
      const failed = (error: ExtendedError): Said => bare(query, "SERVFAIL", error)
      const unreadable = ({ message: reason }: Error): Effect.Effect<Said> =>
        Effect.as(Effect.logError("names cannot be read for DNS", { reason }), failed(UNREADABLE))
      return ofNames(query, client).pipe(
        Effect.catchTags({
          DnsNotReady: (why) => Effect.map(notReady(why), failed),
          DnsForwardFailed: ({ message: text }) => Effect.succeed(failed({ code: EXTENDED_ERRORS.networkError, text })),
          StorageCorrupted: unreadable,
          StorageUnavailable: unreadable
        }),
        Effect.catchAllDefect((defect) =>
          Effect.as(Effect.logError("a DNS question could not be answered", { defect }), failed(UNREADABLE))
        )
      )
    }

    /** The time of an answer begins when it begins to wait for its turn. */
    const answered = (query: DnsQuery, client: DnsClient): Effect.Effect<DnsReply> =>
      Effect.suspend(() => {
        const begun = monotonic()
        const messageOf = (said: Said): Bytes => messageFor(query, client, said)
        return Effect.flatMap(
          madeInTurn(query, client),
          (made) => made === undefined ? Effect.map(say(query, client), messageOf) : Effect.succeed(made)
        ).pipe(Effect.map((bytes) => {
          counters.took((monotonic() - begun) / 1000)
          return { _tag: "Message", bytes }
        }))
      })

    const respond = (bytes: Bytes, client: DnsClient): Effect.Effect<DnsReply> =>
      Effect.suspend(() => {
        const read = readQuery(bytes)
        if (read._tag === "Drop") {
          return Effect.succeed({ ...read, reason: read.reason === "short" ? "short" : "answer" })
        }
        if (read._tag === "Fault") return Effect.succeed({ _tag: "Message", bytes: fault(bytes, client, read) })
        const { query } = read
        const answer = answered(query, client)
        if (!isForTransfers(query)) return answer
        if (transfers !== undefined) return transfers.take(query, client, answer)
        return query.tsigAt === undefined
          ? answer
          : Effect.succeed({ _tag: "Message", bytes: messageFor(query, client, bare(query, "NOTAUTH")) })
      })

    return Responder.of({
      atOnce,
      respond,
      isProved: (query, client) => orNothing(() => isProved(query, client)) === true,
      badCookie: (query, client) => orNothing(() => badCookie(query, client))
    })
  }).pipe(Effect.annotateLogs("subsystem", "dns"))

export const layer = (options: ResponderOptions): Layer.Layer<Responder, never, Parts> =>
  Layer.scoped(Responder, make(options))
