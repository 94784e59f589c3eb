import * as Redacted from "effect/Redacted"
import { randomBytes, timingSafeEqual } from "node:crypto"
import { type HashedUser, hashedUser, hmac } from "../config/hashedUser.ts"
import type { Credentials } from "../config/settings.ts"

/** HTTP Basic authentication of the RPC listener (reference/rpc.md 1.4). */

const SCHEME = "Basic "
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export interface KnownUsers {
  readonly credentials: Credentials | undefined
  readonly hashed: ReadonlyArray<Redacted.Redacted<HashedUser>>
}

/** Whether no credentials are required. */
export const isOpen = ({ credentials, hashed }: KnownUsers): boolean => credentials === undefined && hashed.length === 0

/** The number of `:`. */
const COLON = 58

/**
 * Returns a check of `Authorization` headers that answers with the name of the user, or `undefined` for wrong
 * credentials. Its duration reveals neither how much of a password was right nor which users there are: it computes the
 * hash of each user, and compares digests of a fixed length in constant time.
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
