import { sipHashHalves, type SipKey, sipKey } from "../base/siphash.ts"
import { type Bytes, concat } from "../protocol/bytes.ts"
import type { UnixTime } from "../protocol/keys.ts"

/**
 * DNS cookies (RFC 7873, in the form of RFC 9018): a client that gets its own 8 bytes back knows that the answer is not
 * from somebody who cannot read its questions. Servers' cookies are given out and not asked for, as `-dnsrate` limits
 * what spoofed questions can cause.
 */

const CLIENT_BYTES = 8
const HEAD_BYTES = 8
const HASH_BYTES = 8
const VERSION = 1

const encoder = new TextEncoder()

/** Makes cookies with a key that is drawn at each start: they need not outlive the process. */
export const makeCookies = (secret: Bytes = crypto.getRandomValues(new Uint8Array(16))) => {
  const key: SipKey = sipKey(secret)
  /** The whole option: the client's part, version, time and hash. */
  return (cookie: Bytes, { address, now }: { readonly address: string; readonly now: UnixTime }): Uint8Array => {
    const whole = new Uint8Array(CLIENT_BYTES + HEAD_BYTES + HASH_BYTES)
    const view = new DataView(whole.buffer)
    whole.set(cookie.subarray(0, CLIENT_BYTES))
    whole[CLIENT_BYTES] = VERSION
    view.setUint32(CLIENT_BYTES + 4, Math.floor(now))
    const hashed = concat(whole.subarray(0, CLIENT_BYTES + HEAD_BYTES), encoder.encode(address))
    const [low, high] = sipHashHalves(key, hashed)
    view.setUint32(CLIENT_BYTES + HEAD_BYTES, low, true)
    view.setUint32(CLIENT_BYTES + HEAD_BYTES + 4, high, true)
    return whole
  }
}
