import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { DnsAnswer, Question } from "./answer.ts"
import type { DnsClient } from "./Responder.ts"

// Recursion for stubs that cannot follow referrals: names outside the zones go to another resolver, aliases that lead
// out of the zones are followed, and the servers of delegated names are asked.

/** Why there is no answer; the caller gets SERVFAIL. */
export class ForwardFailed extends Data.TaggedError("DnsForwardFailed")<{
  readonly reason:
    | "too many at once"
    | "resolver silent"
    | "resolver failed"
    | "delegation silent"
    | "delegation too deep"
}> {
  override get message(): string {
    return `a question for other servers has no answer: ${this.reason}`
  }
}

export interface ForwardOptions<E> {
  /** What the zones answer; `undefined` for a name outside them. */
  readonly own: (question: Question) => Effect.Effect<DnsAnswer | undefined, E>
  /** The flags DO and CD of the query, which other servers get too. */
  readonly dnssec: boolean
  readonly checkingDisabled: boolean
}

export interface CompletedAnswer {
  /** `authoritative` only while nothing in it is from elsewhere. Sets from elsewhere have `signs: false` and opaque records. */
  readonly answer: DnsAnswer
  /** Whether other servers were asked: such an answer must not be cached with those of the zones. */
  readonly isForeign: boolean
}

/** The other resolver (`-dnsforward`). In the context only if one is set. */
export class Forward extends Context.Tag("svcd/dns/Forward")<Forward, {
  /** Whether this client may have other names resolved (`-dnsallow`): then RA is set, and a question with RD completed. */
  readonly serves: (client: DnsClient) => boolean
  /**
   * The zones' answer, completed with those of other servers. Returns it unchanged if it needs none of them. AD is never
   * set: svcd does not validate. Fails after 4 seconds at the latest.
   */
  readonly complete: <E>(
    question: Question,
    options: ForwardOptions<E>
  ) => Effect.Effect<CompletedAnswer, E | ForwardFailed>
}>() {}
