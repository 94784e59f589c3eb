import type { Bytes } from "../protocol/bytes.ts"
import type { Question } from "./answer.ts"

/** A DNS query that the responder has read. It has one question, and may have OPT and TSIG after it. */
export interface DnsQuery {
  /** The whole message. */
  readonly bytes: Bytes
  readonly id: number
  readonly opcode: number
  /** RD, CD: the client wants recursion; it wants answers that nobody has validated. */
  readonly wantsRecursion: boolean
  readonly checkingDisabled: boolean
  readonly question: Question & { readonly class: number }
  /** The offset behind the question. */
  readonly questionEnd: number
  readonly edns: QueryEdns | undefined
  /** The offset of the TSIG record, the last of the message (RFC 8945). */
  readonly tsigAt: number | undefined
}

/** The OPT record of a query (RFC 6891). */
export interface QueryEdns {
  readonly version: number
  /** Bytes of UDP that the client takes, at least 512. */
  readonly size: number
  /** DO: the client wants signatures and proofs. */
  readonly dnssec: boolean
  readonly wantsNsid: boolean
  readonly pads: boolean
  /** RFC 7873: 8 bytes of the client, and 8 to 32 of the server if it has them. */
  readonly cookie: Bytes | undefined
}
