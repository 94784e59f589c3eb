import type { ClientAddress } from "./clientAddress.ts"

/** Default requests a minute for clients on other hosts. Loopback clients are not limited by default. */
const DEFAULT_LIMIT = 6_000

/** Clients remembered at once. Beyond that, the least recently active are forgotten. */
const MAX_CLIENTS = 10_000

const MINUTE = 60_000

/** Requests. A bucket that was filled in several steps may lack this much compared to one step. */
const ROUNDING = 1e-6

interface Bucket {
  /** Requests a minute. */
  readonly limit: number
  /** Available requests; below zero after a batch larger than the limit. */
  tokens: number
  /** The time of `tokens`, in milliseconds. */
  at: number
}

const tokensAt = ({ at, limit, tokens }: Bucket, now: number): number =>
  Math.min(limit, tokens + ((now - at) / MINUTE) * limit)

/** The seconds until a bucket with so many tokens has those that a call needs; `undefined` if it has them. */
const secondsUntil = (needed: number, { limit }: Bucket, tokens: number): number | undefined => {
  const missing = Math.min(needed, limit) - tokens
  return missing > ROUNDING ? Math.ceil((missing / limit) * (MINUTE / 1000)) : undefined
}

/**
 * Limits the requests a minute of each client (reference/rpc.md 1.11). A bucket holds the requests of one minute and
 * fills steadily. A batch takes one request for each member. A full bucket admits a batch larger than the limit, and
 * the client waits longer afterwards.
 *
 * Times are milliseconds of a monotonic clock.
 */
export class RateLimiter {
  readonly #setting: number
  readonly #buckets = new Map<string, Bucket>()

  /** `setting`: requests a minute for every client; 0 for the defaults, -1 for no limit at all. */
  constructor(setting: number) {
    this.#setting = setting
  }

  /** Takes a call with `count` requests from a client's bucket. Returns the seconds to wait if there are too few. */
  take(client: ClientAddress, { count, now }: { readonly count: number; readonly now: number }): number | undefined {
    const bucket = this.#filled(client, now)
    if (bucket === undefined) return undefined
    const seconds = secondsUntil(count, bucket, bucket.tokens)
    if (seconds === undefined) bucket.tokens -= count
    return seconds
  }

  /** Returns the seconds until the client's next call is admitted. Changes nothing. */
  wait(client: ClientAddress, now: number): number | undefined {
    const bucket = this.#buckets.get(client.key)
    return bucket === undefined ? undefined : secondsUntil(1, bucket, tokensAt(bucket, now))
  }

  #limitOf(client: ClientAddress): number | undefined {
    if (this.#setting > 0) return this.#setting
    return this.#setting < 0 || client.loopback ? undefined : DEFAULT_LIMIT
  }

  /** A client's bucket, filled up to now and moved to the end of the map: the least recently active is in front. */
  #filled(client: ClientAddress, now: number): Bucket | undefined {
    const limit = this.#limitOf(client)
    if (limit === undefined) return undefined
    const bucket = this.#buckets.get(client.key) ?? { limit, tokens: limit, at: now }
    bucket.tokens = tokensAt(bucket, now)
    bucket.at = now
    this.#buckets.delete(client.key)
    this.#buckets.set(client.key, bucket)
    if (this.#buckets.size > MAX_CLIENTS) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest)
        break
      }
    }
    return bucket
  }
}
