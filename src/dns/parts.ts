import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Apex, DnsAnswer, Question } from "./answer.ts"
import type { DnsClient, DnsReply } from "./exchange.ts"
import type { DnsQuery } from "./query.ts"
import type { RecordSet } from "./records.ts"
import type { RcodeName } from "./wire/codes.ts"
import type { WireName } from "./wire/name.ts"

/** What the responder asks of other parts, each of which a node may lack. */

/** Why other servers gave no answer; the client gets SERVFAIL. */
export class ForwardFailed extends Data.TaggedError("DnsForwardFailed")<{
  readonly reason: "overloaded" | "resolver silent" | "resolver failed" | "delegation silent" | "too many steps"
}> {
  override get message(): string {
    return `other servers gave no answer: ${this.reason}`
  }
}

export interface ForwardOptions<E> {
  /** Whether a name is below the origin of a zone of this node, or is one. Others then have no say about it. */
  readonly inZone: (name: WireName) => boolean
  /** What the zones answer. Called only for names in them. */
  readonly own: (question: Question) => Effect.Effect<DnsAnswer, E>
  /** The flags DO and CD of the query, which other servers get too. */
  readonly dnssec: boolean
  readonly checkingDisabled: boolean
}

export interface CompletedAnswer {
  /** Sets from elsewhere have `signs: false`, their owners in lower case, and opaque records with uncompressed names. */
  readonly answer: DnsAnswer
  /** Whether other servers were asked: such an answer is not authoritative, and must not be kept as one of the zones. */
  readonly isForeign: boolean
}

/** Recursion for clients that cannot follow referrals, by another resolver and by the servers of delegated names. */
export interface Forwarder {
  /** Whether questions of this client with RD are completed. Then its answers have RA. */
  readonly serves: (client: DnsClient) => boolean
  /**
   * The answer of the zones, completed by other servers: for a name outside the zones, an alias that leads out of them,
   * and a referral. Returns the zones' own answer if that is all. AD must never be set, as no signature is checked.
   * Ends when its caller leaves, and within seconds.
   */
  readonly complete: <E>(
    question: Question,
    options: ForwardOptions<E>
  ) => Effect.Effect<CompletedAnswer, E | ForwardFailed>
}

/** Zone transfers, and messages with TSIG. */
export interface Transfers {
  /**
   * Takes a query for AXFR or IXFR, and each query with TSIG, over any transport. `answer` is the responder's
   * own answer without TSIG, for the part to sign.
   */
  readonly take: (
    query: DnsQuery,
    client: DnsClient,
    answer: Effect.Effect<DnsReply>
  ) => Effect.Effect<DnsReply>
}

/** Counts for the metrics. Called for each answer, so they are cheap. */
export interface DnsCounters {
  readonly answered: (rcode: RcodeName) => void
  /** Seconds that an answer took which was not in the cache. */
  readonly took: (seconds: number) => void
  readonly cacheHit: () => void
  readonly cacheBytes: (bytes: number) => void
}

/** Signs record sets of the zone, at once: a signature takes microseconds, and most are kept. */
export interface ZoneSigner {
  /**
   * Grows when the keys change, each day, and when the clock is set back: answers from before have other signatures, old
   * ones, or some that are not valid yet.
   */
  readonly generation: () => number
  /** The keys that the apex publishes, now. */
  readonly keys: () => Apex["keys"]
  /** The RRSIG records over a set with `signs`, one for each key that signs; of a wildcard as RFC 4035 section 5.3.2 says. */
  readonly signatures: (set: RecordSet) => RecordSet
}
