import * as Effect from "effect/Effect"
import type { Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { classify, decodeText } from "../protocol/nameText.ts"
import { type DomainZone, domainZone, type ZoneWork } from "../values/zone.ts"
import { answerOf, type Apex, type DnsAnswer, type Question } from "./answer.ts"
import { wireNameOfHost } from "./wire/name.ts"

/** Answers about hosts for callers that are not DNS: over any source of values, without the records of `bit.` itself. */

export const TTL_SECONDS = 600

const OWN_HOST = wireNameOfHost("this.x--nmc.bit.")

const PLAIN_APEX: Apex = {
  origin: wireNameOfHost("bit."),
  soa: {
    type: "SOA",
    mname: OWN_HOST,
    rname: wireNameOfHost("hostmaster.this.x--nmc.bit."),
    serial: 0,
    refresh: 600,
    retry: 600,
    expire: 7200,
    minimum: 60
  },
  servers: [OWN_HOST],
  keys: [],
  ownHosts: false,
  ttl: TTL_SECONDS
}

/** Referrals have DS only with proof. */
const WITH_DS = { proof: true }

/** The value of a name; `undefined` for a missing or expired one. */
export type ValueSource<E, R> = (name: Bytes) => Effect.Effect<Bytes | undefined, E, R>

const zoneOf = <E, R>(work: ZoneWork, valueOf: ValueSource<E, R>): Effect.Effect<DomainZone, E, R> =>
  Effect.gen(function*() {
    let step = work.next()
    while (step.done !== true) step = work.next(yield* valueOf(step.value))
    return step.value
  })

/** The zone of a label below `bit.`; `undefined` if its name cannot be or is not registered. */
const zoneBelow = <E, R>(label: string, valueOf: ValueSource<E, R>): Effect.Effect<DomainZone | undefined, E, R> =>
  Effect.suspend(() => {
    const name = decodeText(`d/${label}`, "ascii")
    if (name === undefined || classify(name) !== "domain") return Effect.succeed(undefined)
    return Effect.flatMap(valueOf(name), (value) =>
      value === undefined
        ? Effect.succeed(undefined)
        : zoneOf(domainZone({ name, value, host: `${label}.bit.` }), valueOf))
  })

/**
 * Reads each name once, and one at a time: the limits of zones and aliases bound how many. `ttl` in seconds, for the
 * records of names.
 */
export const answerHost = <E, R>(
  question: Question,
  source: ValueSource<E, R>,
  ttl = TTL_SECONDS
): Effect.Effect<DnsAnswer, E, R> =>
  Effect.gen(function*() {
    const values = new Map<NameKey, Bytes | undefined>()
    const valueOf: ValueSource<E, R> = (name) => {
      const key = nameKey(name)
      return values.has(key)
        ? Effect.succeed(values.get(key))
        : Effect.tap(source(name), (value) => Effect.sync(() => values.set(key, value)))
    }
    const work = answerOf({ ...PLAIN_APEX, ttl }, question, WITH_DS)
    let step = work.next()
    while (step.done !== true) step = work.next(yield* zoneBelow(step.value, valueOf))
    return step.value
  })
