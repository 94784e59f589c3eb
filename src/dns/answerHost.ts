import * as Effect from "effect/Effect"
import type { Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { type DomainZone, domainZone, type ZoneWork } from "../values/zone.ts"
import { answerOf, type DnsAnswer, type Question } from "./answer.ts"
import { domainNameOf, PLAIN_APEX, TTL_SECONDS, WITH_DS } from "./plainZone.ts"

/** Answers about hosts for callers that are not DNS: over any source of values, without the records of `bit.` itself. */

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
    const name = domainNameOf(label)
    if (name === undefined) return Effect.succeed(undefined)
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
