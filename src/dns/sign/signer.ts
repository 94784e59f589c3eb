import { Repeats } from "../../base/Repeats.ts"
import { binaryString } from "../../protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import type { ZoneSigner } from "../parts.ts"
import type { RecordSet } from "../records.ts"
import type { WireName } from "../wire/name.ts"
import { keysAt } from "./keysAt.ts"
import { SignatureCache } from "./SignatureCache.ts"
import { canonicalSet, INCEPTION_BEFORE, type RrsigRecord, type SetSigner, signSet, VALID_SECONDS } from "./signSet.ts"
import { dnskeyOf, type DnskeyRecord, keyTag, type ZoneKey } from "./zoneKey.ts"

export interface SignerOptions {
  readonly zone: WireName
  /** All keys that the node has. */
  readonly keys: () => ReadonlyArray<ZoneKey>
  /** Seconds since 1970. */
  readonly now: () => number
  /** Called for each signature that is made. */
  readonly onSigned: () => void
}

/** A signature is made again when half of its life is over, so that resolvers get time left with it. */
const RENEWED_AFTER = VALID_SECONDS / 2

/** Seconds. Answers are kept no longer, so that none is given with a signature at its end. */
const LONGEST_GENERATION = 86_400

const CACHE_BYTES = 16 * 1024 * 1024

/** Names without records among which one that comes again has its signature kept. */
const DENIED_NAMES = 8_192

/** All that NSEC at a name without records of its own lists. */
const DENIAL_TYPES = new Set<number>([TYPE_NUMBERS.RRSIG, TYPE_NUMBERS.NSEC])

/** What the phases of the keys mean for signatures, until a time. */
interface KeyPlan {
  readonly from: ReadonlyArray<ZoneKey>
  readonly start: number
  readonly until: number
  readonly published: ReadonlyArray<DnskeyRecord>
  /**
   * Signers of the zone's keys. RFC 5011 resolvers need the signature of each key that they trust, and of a revoked
   * one.
   */
  readonly keySigners: ReadonlyArray<SetSigner>
  /** Signers of all other sets. */
  readonly signers: ReadonlyArray<SetSigner>
}

const planAt = (keys: ReadonlyArray<ZoneKey>, zone: WireName, now: number): KeyPlan => {
  const phased = keysAt(keys, now).map(({ key, phase, until = Infinity }) => {
    const record = dnskeyOf(key, phase === "revoked")
    return { phase, until, record, signer: { key, keyTag: keyTag(record), zone } }
  }).filter(({ phase }) => phase !== "removed")
  return {
    from: keys,
    start: now,
    until: Math.min(now + LONGEST_GENERATION, ...phased.map(({ until }) => until)),
    published: phased.map(({ record }) => record),
    keySigners: phased.filter(({ phase }) => phase !== "new").map(({ signer }) => signer),
    signers: phased.filter(({ phase }) => phase === "active").map(({ signer }) => signer)
  }
}

/** Whether a set is NSEC at a name that has nothing: of all that is signed, what random questions make. */
const isOfNothing = ({ records }: RecordSet): boolean =>
  records.every((record) => record.type === "NSEC" && record.types.every((type) => DENIAL_TYPES.has(type)))

/**
 * A signer whose signatures are valid for 14 days. It is synchronous, since a signature takes microseconds, and keeps
 * signatures up to a number of bytes.
 */
export const makeSigner = ({ keys, now: readTime, onSigned, zone }: SignerOptions): ZoneSigner => {
  const cache = new SignatureCache(CACHE_BYTES)
  const repeats = new Repeats(DENIED_NAMES)
  let shared = new WeakMap<RecordSet, RecordSet>()
  let plan = planAt(keys(), zone, readTime())
  let latest = plan.start
  let generation = 0

  /** Whether signatures of this generation are valid: a clock may be set back to before the first second of some. */
  const isCurrent = (now: number): boolean =>
    plan.from === keys() && now < plan.until && now >= plan.start && now >= latest - INCEPTION_BEFORE

  const planNow = (now: number): KeyPlan => {
    if (isCurrent(now)) {
      latest = Math.max(latest, now)
      return plan
    }
    latest = now
    plan = planAt(keys(), zone, now)
    generation += 1
    shared = new WeakMap()
    return plan
  }

  const signaturesAt = (set: RecordSet, now: number): RecordSet => {
    const { keySigners, signers } = plan
    const canonical = canonicalSet(set)
    const signed = isOfNothing(set) && !repeats.isRepeated(set.owner) ? undefined : binaryString(canonical)
    const records = (set.type === TYPE_NUMBERS.DNSKEY ? keySigners : signers).map((signer): RrsigRecord => {
      const place = signed === undefined ? undefined : `${signer.keyTag} ${signed}`
      const kept = place === undefined ? undefined : cache.get(place, now)
      if (kept !== undefined) return kept
      onSigned()
      const signature = signSet(set, canonical, { ...signer, now })
      if (place !== undefined) cache.keep(place, { signature, renewAt: now + RENEWED_AFTER })
      return signature
    })
    return { owner: set.owner, type: TYPE_NUMBERS.RRSIG, ttl: set.ttl, records, signs: false }
  }

  const signatures = (set: RecordSet): RecordSet => {
    const now = readTime()
    planNow(now)
    const known = set.isShared === true ? shared.get(set) : undefined
    if (known !== undefined) return known
    const signed = signaturesAt(set, now)
    if (set.isShared === true) shared.set(set, signed)
    return signed
  }

  const generationNow = (): number => {
    planNow(readTime())
    return generation
  }

  return { generation: generationNow, keys: () => planNow(readTime()).published, signatures }
}
