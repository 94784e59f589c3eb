import type * as Effect from "effect/Effect"
import type { Bytes } from "../protocol/bytes.ts"
import type { DnsAnswer, Question } from "./answer.ts"
import type { DnsQuery } from "./query.ts"
import type { RecordSet } from "./records.ts"
import type { DnsClient, DnsReply } from "./Responder.ts"

/** What the responder asks of other parts, each of which a node may lack. */

/** Names of response codes that the responder gives (IANA, "DNS RCODEs"). */
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  NOTAUTH: 9,
  BADVERS: 16,
  BADCOOKIE: 23
} as const

export type RcodeName = keyof typeof RCODES

/** What other resolvers found. Their signatures are not checked, so the answer never has AD. */
export interface Resolved {
  readonly rcode: RcodeName
  /** Records as `opaque` data, with uncompressed names. `signs` is false. */
  readonly answer: ReadonlyArray<RecordSet>
}

/** Recursion for clients that cannot follow referrals. Each effect ends when its caller leaves, and within seconds. */
export interface Forwarder {
  readonly serves: (client: DnsClient) => boolean
  /** The other resolver's message for a question outside the zone, with the id of the query; `undefined` without one. */
  readonly relay: (query: DnsQuery) => Effect.Effect<Bytes | undefined>
  /** Resolves a name outside the zone, the target of an alias. */
  readonly chase: (question: Question) => Effect.Effect<Resolved | undefined>
  /** Asks the servers of a referral, whose NS and glue are in `authority` and `additional`. */
  readonly descend: (question: Question, referral: DnsAnswer) => Effect.Effect<Resolved | undefined>
}

/** Zone transfers, and messages with TSIG. */
export interface Transfers {
  /**
   * Takes a query for AXFR or IXFR, a NOTIFY, and each query with TSIG, over any transport. `answer` is the responder's
   * own answer without TSIG, for the part to sign.
   */
  readonly take: (
    query: DnsQuery,
    client: DnsClient,
    answer: Effect.Effect<DnsReply>
  ) => Effect.Effect<DnsReply>
}

/** The serial of the zone: it never goes back, and grows with each change of the tip. */
export interface ZoneSerial {
  readonly serial: () => number
}

/** Counts for the metrics. Called for each answer, so they are cheap. */
export interface DnsCounters {
  readonly answered: (rcode: RcodeName) => void
  /** Seconds that an answer took which was not in the cache. */
  readonly took: (seconds: number) => void
  readonly cacheHit: () => void
  readonly cacheBytes: (bytes: number) => void
}
