import { randomBytes } from "../base/entropy.ts"
import { sipHashHalves, type SipKey, sipKey } from "../base/siphash.ts"
import { type Bytes, concat, equal } from "../protocol/bytes.ts"
import type { UnixTime } from "../protocol/keys.ts"

/**
 * DNS cookies (RFC 7873, in the form of RFC 9018): a client that gets its own 8 bytes back knows that the answer is not
 * from somebody who cannot read its questions, and a client with a cookie of this server has its own address. Servers'
 * cookies are given out always, and asked for under load alone.
 */

const CLIENT_BYTES = 8
const HEAD_BYTES = 8
const HASH_BYTES = 8
const WHOLE_BYTES = CLIENT_BYTES + HEAD_BYTES + HASH_BYTES
const VERSION = 1

/** Seconds that a cookie is valid, and by which clocks may differ (RFC 9018, section 4.3). */
const VALID_SECONDS = 3_600
const SKEW_SECONDS = 300

/** Seconds of a secret. The one before stays accepted, so that no client notices (RFC 9018, section 5). */
const SECRET_SECONDS = 86_400

const encoder = new TextEncoder()

export interface CookieFacts {
  /** Address of the client. */
  readonly address: string
  readonly now: UnixTime
}

const newSecret = (): Bytes => randomBytes(16)

/** The whole option: the client's part, version, time and hash. */
const cookieOf = (key: SipKey, client: Bytes, { address, now }: CookieFacts): Uint8Array => {
  const whole = new Uint8Array(WHOLE_BYTES)
  const view = new DataView(whole.buffer)
  whole.set(client.subarray(0, CLIENT_BYTES))
  whole[CLIENT_BYTES] = VERSION
  view.setUint32(CLIENT_BYTES + 4, Math.floor(now))
  const hashed = concat(whole.subarray(0, CLIENT_BYTES + HEAD_BYTES), encoder.encode(address))
  const [low, high] = sipHashHalves(key, hashed)
  view.setUint32(CLIENT_BYTES + HEAD_BYTES, low, true)
  view.setUint32(CLIENT_BYTES + HEAD_BYTES + 4, high, true)
  return whole
}

interface Secrets {
  readonly drawn: UnixTime
  readonly key: SipKey
  readonly former: SipKey | undefined
}

/** Cookies with secrets that this process draws: they need not outlive it. */
export const makeCookies = (draw: () => Bytes = newSecret) => {
  let secrets: Secrets | undefined

  const secretsAt = (now: UnixTime): Secrets => {
    if (secrets === undefined || now - secrets.drawn >= SECRET_SECONDS) {
      secrets = { drawn: now, key: sipKey(draw()), former: secrets?.key }
    }
    return secrets
  }

  const fresh = (client: Bytes, facts: CookieFacts): Bytes => cookieOf(secretsAt(facts.now).key, client, facts)

  /** Whether the option holds a cookie that this server gave to this address. */
  const isValid = (option: Bytes, { address, now }: CookieFacts): boolean => {
    if (option.length !== WHOLE_BYTES) return false
    const given = Buffer.from(option).readUInt32BE(CLIENT_BYTES + 4)
    if (given < now - VALID_SECONDS || given > now + SKEW_SECONDS) return false
    const { former, key } = secretsAt(now)
    const isOf = (secret: SipKey): boolean => equal(cookieOf(secret, option, { address, now: given }), option)
    return isOf(key) || (former !== undefined && isOf(former))
  }

  return { fresh, isValid }
}
