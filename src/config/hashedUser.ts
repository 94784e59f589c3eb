import * as Redacted from "effect/Redacted"
import { randomHex } from "../base/entropy.ts"

/** In the format of the reference node (share/rpcauth). */

export interface HashedUser {
  readonly user: string
  readonly salt: string
  /** HMAC-SHA-256 of the password under the salt, in 64 hexadecimal digits. */
  readonly hash: string
}

/** Loaded on use: svcd-cli reads the option table at each start, and this module takes 3 ms to load. */
const nodeCrypto = () => process.getBuiltinModule("node:crypto")

const HASHED_USER = /^([^:\r\n]+):([^:$\r\n]+)\$([0-9a-f]{64})$/

export const parseHashedUser = (text: string): HashedUser | undefined => {
  const [, user, salt, hash] = HASHED_USER.exec(text) ?? []
  return user === undefined || salt === undefined || hash === undefined ? undefined : { user, salt, hash }
}

export const formatHashedUser = ({ hash, salt, user }: HashedUser): string => `${user}:${salt}$${hash}`

export const hmac = (salt: string | Uint8Array, text: Uint8Array): Buffer =>
  nodeCrypto().createHmac("sha256", salt).update(text).digest()

export const hashedUser = (
  { password, user }: { readonly user: string; readonly password: Redacted.Redacted<string> }
): HashedUser => {
  const salt = randomHex(16)
  return { user, salt, hash: hmac(salt, Buffer.from(Redacted.value(password))).toString("hex") }
}
