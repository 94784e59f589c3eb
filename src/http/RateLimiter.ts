import type { ClientAddress } from "./clientAddress.ts"

/** For clients on other hosts, unless `-ratelimit` sets another number. By default, loopback clients are not limited. */
const REQUESTS_PER_MINUTE = 6_000

/** Clients remembered. Beyond that, the least recently active are forgotten. */
const MAX_CLIENTS = 10_000

const MINUTE = 60_000

/** Requests that a bucket filled in several steps may lack compared to one step. */
const ROUNDING = 1e-6

interface Bucket {
  /** Requests per minute. */
  readonly limit: number
  /** Available requests; negative after a batch larger than the limit. */
  tokens: number
  /** Time of `tokens`, in milliseconds. */
  at: number
}

const tokensAt = ({ at, limit, tokens }: Bucket, now: number): number =>
  Math.min(limit, tokens + ((now - at) / MINUTE) * limit)

/** Seconds until the bucket has enough tokens; `undefined` if it has. */
const secondsUntil = (needed: number, { limit }: Bucket, tokens: number): number | undefined => {
  const missing = Math.min(needed, limit) - tokens
  return missing > ROUNDING ? Math.ceil((missing / limit) * (MINUTE / 1000)) : undefined
}

/**
 * Limits requests per minute and client (reference/rpc.md 1.11). A bucket holds one minute's requests and fills
 * steadily. A batch takes one per member. A full bucket admits a larger batch, after which the client waits longer.
 * Times are milliseconds of a monotonic clock.
 */
export class RateLimiter {
  readonly #setting: number
  readonly #buckets = new Map<string, Bucket>()

  /** `setting`: requests per minute for every client; 0 for the defaults, -1 for no limit. */
  constructor(setting: number) {
    this.#setting = setting
  }

  /** Takes `count` requests, or returns the seconds to wait. */
  take(client: ClientAddress, { count, now }: { readonly count: number; readonly now: number }): number | undefined {
    const bucket = this.#filled(client, now)
    if (bucket === undefined) return undefined
    const seconds = secondsUntil(count, bucket, bucket.tokens)
    if (seconds === undefined) bucket.tokens -= count
    return seconds
  }

  /** Seconds until the client's next call is admitted. Changes nothing. */
  wait(client: ClientAddress, now: number): number | undefined {
    const bucket = this.#buckets.get(client.key)
    return bucket === undefined ? undefined : secondsUntil(1, bucket, tokensAt(bucket, now))
  }

  #limitOf(client: ClientAddress): number | undefined {
    if (this.#setting > 0) return this.#setting
    return this.#setting < 0 || client.loopback ? undefined : REQUESTS_PER_MINUTE
  }

  /** Fills the bucket up to now and moves it to the end of the map: the least recently active is first. */
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
