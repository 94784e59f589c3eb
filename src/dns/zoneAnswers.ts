import * as Effect from "effect/Effect"
import { Repeats } from "../base/Repeats.ts"
import { Chain } from "../chain/Chain.ts"
import { LightPart } from "../light/LightPart.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import type { ProofLevel } from "../light/proof.ts"
import { NameDb } from "../names/NameDb.ts"
import { TYPE_NUMBERS } from "../values/records.ts"
import type { AnswerChoices, DnsAnswer } from "./answer.ts"
import { AnswerCache, type KeptAnswer } from "./AnswerCache.ts"
import type { DnsClient } from "./exchange.ts"
import type { DnsCounters, ForwardOptions, ZoneSigner } from "./parts.ts"
import type { DnsQuery } from "./query.ts"
import type { RecordSet } from "./records.ts"
import { answerBody, type SoaTail, soaTail } from "./reply.ts"
import { META_TYPES } from "./wire/codes.ts"
import { isAtOrBelow, nameOfLabels, ROOT, type WireName } from "./wire/name.ts"
import { type Apex, makeApex, SECONDS, soaSet } from "./zone/apex.ts"
import { BIT_ORIGIN } from "./zone/suffix.ts"
import { type DatedAnswer, hasSoa, makeZones, type ZoneFailure, type ZoneQuestion } from "./zones.ts"
import { makeZoneWatch } from "./zoneWatch.ts"

export interface ZoneAnswersOptions {
  /** `-dnsns`; empty for `this.x--nmc.bit.` */
  readonly servers: ReadonlyArray<WireName>
  /** Domains below which the zone is, too, unsigned: `example.org.` for `bit.example.org.` */
  readonly suffixes: ReadonlyArray<WireName>
  readonly requireProof: ProofLevel
  /** Seconds of the records of names. */
  readonly ttl: number
  readonly serial: () => number
  /** For `bit.` with DNSSEC. */
  readonly signer?: ZoneSigner | undefined
  readonly counters: Pick<DnsCounters, "cacheBytes">
  readonly cacheBytes?: number
}

const CACHE_BYTES = 32 * 1024 * 1024

/** Questions among which one that comes again has its answer kept: more than the cache has room for. */
const REMEMBERED = 65_536

/** `bit.`, or the same below a suffix. */
export interface ServedZone {
  readonly origin: WireName
  readonly apex: () => Apex
  readonly signer: ZoneSigner | undefined
}

const NO_KEYS: Apex["keys"] = []

const zonesServed = ({ serial, servers, signer, suffixes, ttl }: ZoneAnswersOptions): ReadonlyArray<ServedZone> =>
  [ROOT, ...suffixes].flatMap((suffix) => {
    const origin = nameOfLabels(["bit"], suffix)
    if (origin === undefined) return []
    const ownSigner = origin === BIT_ORIGIN ? signer : undefined
    const at = makeApex({ origin, servers, ttl })
    let last: Apex | undefined
    const apex = (): Apex => {
      const now = serial()
      const keys = ownSigner?.keys() ?? NO_KEYS
      if (last === undefined || last.soa.serial !== now || last.keys !== keys) last = at(now, keys)
      return last
    }
    return [{ origin, apex, signer: ownSigner }]
  })

/** Types whose answer is another one over UDP. */
const isShortOverUdp = (type: number): boolean => type === META_TYPES.ANY || type === TYPE_NUMBERS.RRSIG

/** Whether other servers may know more than this zone: of an alias that leads outside, or of a delegated name. */
const isOpen = ({ authority, outside }: DnsAnswer): boolean =>
  outside !== undefined || authority.some(({ type }) => type === TYPE_NUMBERS.NS)

/** A completed answer may have sets of several zones, and one signer for those that are signed. */
const unsigned = (answer: DnsAnswer): DnsAnswer => {
  const bare = (sets: ReadonlyArray<RecordSet>) => sets.map((set) => ({ ...set, signs: false }))
  const { additional, authority } = answer
  return { ...answer, answer: bare(answer.answer), authority: bare(authority), additional: bare(additional) }
}

/** A question for one of the zones, and the number of changes before its names are read. */
interface ZoneWork {
  readonly zone: ServedZone
  readonly query: DnsQuery
  readonly asked: ZoneQuestion
  readonly moment: number
}

/** What the zones of the node answer, made once for all who ask the same. */
export const makeZoneAnswers = (options: ZoneAnswersOptions) =>
  Effect.gen(function*() {
    const { params } = yield* Chain
    const answers = yield* NameAnswers
    const part = yield* LightPart
    const commits = yield* (yield* NameDb).commits
    const { counters, requireProof, signer } = options
    const cache = new AnswerCache(options.cacheBytes ?? CACHE_BYTES)
    const repeats = new Repeats(REMEMBERED)
    const watch = yield* makeZoneWatch({ cache, answers, part, commits })
    const zones = makeZones({ answers, params, requireProof, mayDenyAt: watch.mayDenyAt })
    const served = zonesServed(options)
    let generation = signer?.generation()

    const zoneOf = (name: WireName): ServedZone | undefined => served.find(({ origin }) => isAtOrBelow(name, origin))

    /** Whether the client wants signatures, and the zones may have some. */
    const wantsProof = ({ edns }: DnsQuery): boolean => signer !== undefined && edns?.dnssec === true

    const keyOf = (query: DnsQuery): string =>
      query.question.name + String.fromCharCode(query.question.type, wantsProof(query) ? 1 : 0)

    const choicesOf = (query: DnsQuery, { signer: own }: ServedZone, { transport }: DnsClient): AnswerChoices => ({
      proof: own !== undefined && wantsProof(query),
      minimalAny: transport === "udp"
    })

    /** SOA of negative answers, signed or not, by apex, which is another one with each serial and each set of keys. */
    const tails = { plain: new WeakMap<Apex, SoaTail>(), signed: new WeakMap<Apex, SoaTail>() }

    const tailAt = (apex: Apex, own: ZoneSigner | undefined): SoaTail => {
      const kept = own === undefined ? tails.plain : tails.signed
      const known = kept.get(apex)
      if (known !== undefined) return known
      const made = soaTail(soaSet(apex, SECONDS.negative), own)
      kept.set(apex, made)
      return made
    }

    /** The serial of a negative answer is that of now: secondaries and tests compare it. */
    const renewed = (query: DnsQuery, kept: KeptAnswer): KeptAnswer | undefined => {
      const serial = options.serial()
      if (kept.soaBytes === 0 || kept.soaSerial === serial) return kept
      const zone = zoneOf(query.question.name)
      if (zone === undefined) return undefined
      const tail = tailAt(zone.apex(), wantsProof(query) ? zone.signer : undefined).bytes
      if (tail.length !== kept.soaBytes) return undefined
      kept.body.bytes.set(tail, kept.body.bytes.length - tail.length)
      kept.soaSerial = serial
      return kept
    }

    const noteChanges = (): number => {
      const now = signer?.generation()
      if (now !== generation) {
        generation = now
        cache.clear(watch.moment())
      }
      return watch.moment()
    }

    const kept = (query: DnsQuery): KeptAnswer | undefined => {
      noteChanges()
      const found = cache.get(keyOf(query), watch.state())
      return found && renewed(query, found)
    }

    const worked = (zone: ServedZone, query: DnsQuery, client: DnsClient): ZoneWork => ({
      moment: noteChanges(),
      zone,
      query,
      asked: { apex: zone.apex(), question: query.question, choices: choicesOf(query, zone, client) }
    })

    /** Writes an answer, and keeps it for those who ask again. */
    const finished = (
      { asked: { apex, choices, question }, moment, query, zone }: ZoneWork,
      { answer, denies, from, to }: DatedAnswer
    ): KeptAnswer => {
      const own = choices.proof ? zone.signer : undefined
      const { body, soaBytes } = answerBody(query, answer, { signer: own, tailOf: () => tailAt(apex, own) })
      const found: KeptAnswer = {
        body,
        rcode: answer.rcode,
        isCut: answer.isCut,
        isOpen: isOpen(answer),
        denies,
        soaBytes,
        soaSerial: apex.soa.serial,
        sources: answer.sources,
        moment,
        from,
        to
      }
      const key = keyOf(query)
      if (!isShortOverUdp(question.type) && !hasSoa(answer) && repeats.isRepeated(key)) {
        cache.put(key, { ...found, body: { ...body, bytes: body.bytes.slice() } })
        counters.cacheBytes(cache.bytes)
      }
      return found
    }

    const made = (zone: ServedZone, query: DnsQuery, client: DnsClient): Effect.Effect<KeptAnswer, ZoneFailure> =>
      Effect.suspend(() => {
        const work = worked(zone, query, client)
        return Effect.map(zones.answer(work.asked), (dated) => finished(work, dated))
      })

    /** The same without a fiber; `undefined` where `made` has to find or to say more. */
    const madeAtOnce = (zone: ServedZone, query: DnsQuery, client: DnsClient): KeptAnswer | undefined => {
      const work = worked(zone, query, client)
      const dated = zones.answerAtOnce(work.asked)
      return dated && finished(work, dated)
    }

    /** For the forwarder, which asks about one name after another. */
    const ownAnswers = (
      query: DnsQuery,
      client: DnsClient
    ): Pick<ForwardOptions<ZoneFailure>, "inZone" | "own"> => ({
      inZone: (name) => zoneOf(name) !== undefined,
      own: (question) => {
        const zone = zoneOf(question.name)
        if (zone === undefined) return Effect.dieMessage("a name outside the zones")
        const choices = choicesOf(query, zone, client)
        return Effect.map(
          zones.answer({ apex: zone.apex(), question, choices }),
          ({ answer }) => choices.proof ? answer : unsigned(answer)
        )
      }
    })

    /** For completed answers, where only sets of signed zones have `signs`. */
    const signerFor = (query: DnsQuery): ZoneSigner | undefined => wantsProof(query) ? signer : undefined

    return { zoneOf, kept, made, madeAtOnce, ownAnswers, signerFor }
  })
