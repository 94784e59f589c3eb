import { randomWords } from "../../base/entropy.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { FLAGS, HEADER_BYTES } from "../wire/codes.ts"
import { endOfPlainName } from "../wire/readName.ts"

/**
 * Limits equal answers to one network. A question by UDP can have the address of a victim as its sender, and the answer
 * is larger than the question. Every second answer above the limit asks for TCP, where senders are real.
 */

/** What a network has left of one answer. */
export interface RateBucket {
  /** Answers that may be sent at once: at most those of a second. */
  readonly credit: number
  /** Milliseconds. */
  readonly at: number
  /** Answers above the limit in a row. */
  readonly refused: number
}

export type RateVerdict = "send" | "slip" | "drop"

/** One refused answer in so many is sent as a truncated one. */
const SLIP = 2

/** `rate` is in answers per second. A clock that goes back gives nothing. */
export const spendCredit = (
  bucket: RateBucket | undefined,
  { now, rate }: { readonly now: number; readonly rate: number }
): { readonly verdict: RateVerdict; readonly bucket: RateBucket } => {
  const { at, credit, refused } = bucket ?? { credit: rate, at: now, refused: 0 }
  const grown = Math.min(rate, credit + (Math.max(0, now - at) * rate) / 1000)
  if (grown >= 1) return { verdict: "send", bucket: { credit: grown - 1, at: now, refused: 0 } }
  const verdict = refused % SLIP === 0 ? "drop" : "slip"
  return { verdict, bucket: { credit: grown, at: now, refused: refused + 1 } }
}

/** FNV-1a (Fowler, Noll, Vo), 32 bits (positional: an answer takes one call a byte). */
const hashed = (before: number, byte: number): number => Math.imul(before ^ byte, 0x01000193)

const textHash = (seed: number, text: string): number => {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = hashed(hash, text.charCodeAt(i))
  return hash
}

const lowerCased = (byte: number): number => byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte

/** Answers with records differ by their question. All others of a code are equal: their questions are often random. */
const answerHash = (seed: number, answer: Bytes): number => {
  const hash = hashed(seed, (answer[3] ?? 0) & 15)
  const hasRecords = (answer[6] ?? 0) > 0 || (answer[7] ?? 0) > 0
  const end = hasRecords ? endOfPlainName(answer, HEADER_BYTES) : -1
  if (end < 0) return hash
  let whole = hash
  for (let at = HEADER_BYTES; at < end + 2; at++) whole = hashed(whole, lowerCased(answer[at] ?? 0))
  return whole
}

const BUCKETS = 65_536

interface Kept extends RateBucket {
  readonly hash: number
}

/** A table of fixed size. An answer that falls into the place of another one takes it over, with a full credit. */
export class RateLimit {
  readonly #rate: number
  readonly #buckets: Array<Kept | undefined> = Array.from({ length: BUCKETS })
  /** Random, so that nobody can choose questions that fall together. */
  readonly #seed = randomWords(1)[0] ?? 0

  constructor(rate: number) {
    this.#rate = rate
  }

  verdict(answer: Bytes, network: string, now: number): RateVerdict {
    const hash = answerHash(textHash(this.#seed, network), answer) >>> 0
    const place = (hash ^ (hash >>> 16)) & (BUCKETS - 1)
    const kept = this.#buckets[place]
    const { bucket, verdict } = spendCredit(kept?.hash === hash ? kept : undefined, { now, rate: this.#rate })
    this.#buckets[place] = { ...bucket, hash }
    return verdict
  }
}

/** The header and the question of an answer, with TC: the client asks again over TCP. */
export const truncatedAnswer = (answer: Bytes): Uint8Array => {
  const nameEnd = (answer[5] ?? 0) === 1 ? endOfPlainName(answer, HEADER_BYTES) : -1
  const cut = answer.slice(0, nameEnd < 0 ? HEADER_BYTES : Math.min(answer.length, nameEnd + 4))
  cut[2] = (cut[2] ?? 0) | FLAGS.TC >>> 8
  cut.fill(0, 6, HEADER_BYTES)
  if (nameEnd < 0) cut.fill(0, 4, 6)
  return cut
}
