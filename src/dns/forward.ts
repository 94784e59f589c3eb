import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { formatHostPort } from "../base/addresses.ts"
import { secureRandom } from "../base/entropy.ts"
import type { Random } from "../base/random.ts"
import { forbiddenHere } from "../base/specialAddress.ts"
import type { CallerNet } from "../config/accessKinds.ts"
import { onThisMachineOr } from "../config/callerNets.ts"
import type { DnsForwardTarget } from "../config/dnsKinds.ts"
import { type DNS_FORWARDS, dnsForwarded } from "../metrics/dnsMetrics.ts"
import { type AskServer, plainServer, tlsServer } from "./forward/askServer.ts"
import { answerRcode, completeAnswer, isUnfinished, type OtherServers } from "./forward/completing.ts"
import { type Forwarder, ForwardFailed } from "./parts.ts"
import { RCODES } from "./wire/codes.ts"

export interface ForwardSettings {
  /** At least one. The next is asked where one does not answer. */
  readonly targets: ReadonlyArray<DnsForwardTarget>
  /** Clients besides those on this machine. */
  readonly allowed: ReadonlyArray<CallerNet>
  /** Whether a server of a delegation may be asked at this IP address; public addresses alone if not given. */
  readonly mayAsk?: (address: string) => boolean
  /** The port of delegated servers: 53 but in tests. */
  readonly port?: number
  /** Certificates to trust instead of the system's. */
  readonly ca?: string
}

const DNS_PORT = 53

/** Questions that wait for other servers at once. */
const MAX_FORWARDED = 512

/** Milliseconds for a question. Stubs ask again after five seconds. */
const TIMEOUT = 4_500

/** Queries for one question, to as many resolvers or to the same again. */
const MIN_TRIES = 2
const MAX_TRIES = 4

/** Unanswered queries in a row, after which the log says so. Single datagrams may be lost. */
const SILENT_AFTER = 3

interface Resolver {
  readonly place: string
  readonly ask: AskServer
  /** Unanswered queries in a row. */
  unanswered: number
}

const noteAnswer = (resolver: Resolver): Effect.Effect<void> => {
  const wasSilent = resolver.unanswered >= SILENT_AFTER
  resolver.unanswered = 0
  return wasSilent ? Effect.logInfo("resolver answers again", { resolver: resolver.place }) : Effect.void
}

const noteSilence = (resolver: Resolver, reason: string): Effect.Effect<void> => {
  resolver.unanswered += 1
  return resolver.unanswered === SILENT_AFTER
    ? Effect.logWarning("resolver does not answer; names outside the zone fail", { resolver: resolver.place, reason })
    : Effect.void
}

const openResolver = (
  target: DnsForwardTarget,
  random: Random,
  ca: string | undefined
): Effect.Effect<Resolver, never, Scope.Scope> =>
  Effect.map(
    target.tlsName === undefined ? Effect.succeed(plainServer(target, random)) : tlsServer(target, random, ca),
    (ask) => ({ place: formatHostPort(target.address), ask, unanswered: 0 })
  )

/** Asks the resolver that answered last, then the others. */
const anyResolver = (resolvers: ReadonlyArray<Resolver>): OtherServers["resolver"] => {
  let preferred = 0
  const tries = Math.min(Math.max(MIN_TRIES, resolvers.length), MAX_TRIES)
  return (question, flags) =>
    Effect.gen(function*() {
      let reason: ForwardFailed["reason"] = "resolver silent"
      const first = preferred
      for (let i = 0; i < tries; i++) {
        const at = (first + i) % resolvers.length
        const resolver = resolvers[at]
        if (resolver === undefined) break
        const answer = yield* Effect.either(resolver.ask(question, flags))
        if (Either.isLeft(answer)) {
          yield* noteSilence(resolver, answer.left.reason)
          continue
        }
        yield* noteAnswer(resolver)
        preferred = at
        if (answerRcode(answer.right) !== undefined) return answer.right
        reason = "resolver failed"
        // Another resolver might not validate, and answer what this one found to be forged.
        if (answer.right.rcode === RCODES.SERVFAIL) break
      }
      return yield* new ForwardFailed({ reason })
    })
}

/** Owners of names choose the addresses: none may be in the networks of this machine. */
const isPublic = (address: string): boolean => forbiddenHere(address) === undefined

const outcomeOf = (error: unknown): typeof DNS_FORWARDS[number] =>
  error instanceof ForwardFailed && error.reason === "overloaded" ? "refused" : "failed"

const counted = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.tapBoth(work, {
    onFailure: (error) => Effect.sync(() => dnsForwarded.of(outcomeOf(error)).increase()),
    onSuccess: () => Effect.sync(() => dnsForwarded.of("answered").increase())
  })

/** Keeps no answers: the other resolver has a cache, and delegated servers answer questions that few ask. */
export const makeForwarder = (settings: ForwardSettings): Effect.Effect<Forwarder, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { allowed, ca, mayAsk = isPublic, port = DNS_PORT, targets } = settings
    const random = secureRandom()
    const resolvers = yield* Effect.forEach(targets, (target) => openResolver(target, random, ca))
    const isAllowed = onThisMachineOr(allowed)
    const servers: OtherServers = {
      resolver: anyResolver(resolvers),
      delegated: (host) =>
        mayAsk(host) ? plainServer({ address: { host, port }, tlsName: undefined }, random) : undefined
    }
    let held = 0
    const placed = <A, E>(work: Effect.Effect<A, E | ForwardFailed>): Effect.Effect<A, E | ForwardFailed> =>
      Effect.suspend(() => {
        if (held >= MAX_FORWARDED) return new ForwardFailed({ reason: "overloaded" })
        held += 1
        return Effect.ensuring(work, Effect.sync(() => void (held -= 1)))
      })
    const complete: Forwarder["complete"] = (question, options) =>
      Effect.gen(function*() {
        const own = options.inZone(question.name) ? yield* options.own(question) : undefined
        if (own !== undefined && !isUnfinished(question, own)) return { answer: own, isForeign: false }
        return yield* placed(completeAnswer(servers, question, { options, start: own })).pipe(
          Effect.timeoutFail({ duration: TIMEOUT, onTimeout: () => new ForwardFailed({ reason: "resolver silent" }) }),
          counted
        )
      })
    return { serves: ({ address }) => isAllowed(address), complete }
  })
