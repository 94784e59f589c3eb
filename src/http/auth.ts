import * as Redacted from "effect/Redacted"
import { timingSafeEqual } from "node:crypto"
import { randomBytes } from "../base/entropy.ts"
import { type HashedUser, hashedUser, hmac } from "../config/hashedUser.ts"
import type { Credentials } from "../config/settings.ts"

/** HTTP Basic authentication (reference/rpc.md 1.4). */

const SCHEME = "Basic "
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export interface KnownUsers {
  readonly credentials: Credentials | undefined
  readonly hashed: ReadonlyArray<Redacted.Redacted<HashedUser>>
}

export const isOpen = ({ credentials, hashed }: KnownUsers): boolean => credentials === undefined && hashed.length === 0

/** The character code of `:`. */
const COLON = 58

/**
 * Checks `Authorization` headers and returns the user, or `undefined`. Its duration reveals neither users nor how much
 * of a password was right: it hashes for every user and compares digests in constant time.
 */
export const admission = ({ credentials, hashed }: KnownUsers): (header: string) => string | undefined => {
  const key = randomBytes(32)
  const users = [
    ...(credentials === undefined ? [] : [hashedUser(credentials)]),
    ...hashed.map((user) => Redacted.value(user))
  ].map(({ hash, salt, user }) => ({
    user,
    salt,
    hash: Buffer.from(hash, "hex"),
    name: hmac(key, Buffer.from(user))
  }))

  return (header) => {
    const encoded = header.startsWith(SCHEME) ? header.slice(SCHEME.length).trim() : "?"
    const given = Buffer.from(BASE64.test(encoded) ? encoded : "", "base64")
    const colon = given.indexOf(COLON)
    const name = hmac(key, given.subarray(0, Math.max(colon, 0)))
    const password = given.subarray(colon + 1)
    let admitted: string | undefined
    for (const user of users) {
      const isNamed = timingSafeEqual(name, user.name)
      const isRight = timingSafeEqual(hmac(user.salt, password), user.hash)
      if (colon >= 0 && isNamed && isRight) admitted = user.user
    }
    return admitted
  }
}
