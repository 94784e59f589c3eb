import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { Credentials } from "../config/settings.ts"

/** HTTP Basic authentication of the RPC listener (reference/rpc.md 1.4). */

const SCHEME = "Basic "
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const digest = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest()

/**
 * Returns a check of `Authorization` headers. Without credentials it admits every header. Its duration does not reveal
 * how much of a password was right: it compares digests of a fixed length in constant time.
 */
export const admission = (credentials: Credentials | undefined): (header: string) => boolean => {
  if (credentials === undefined) return () => true
  const expected = digest(Buffer.from(`${credentials.user}:${Redacted.value(credentials.password)}`))

  return (header) => {
    const encoded = header.startsWith(SCHEME) ? header.slice(SCHEME.length).trim() : "?"
    const given = Buffer.from(BASE64.test(encoded) ? encoded : "", "base64")
    return timingSafeEqual(digest(given), expected)
  }
}
