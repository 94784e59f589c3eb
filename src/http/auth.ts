import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { Credentials } from "../config/settings.ts"

/** HTTP Basic authentication of the RPC listener (reference/rpc.md 1.4). */

export type Authorization = "admitted" | "missing" | "wrong"

const SCHEME = "Basic "
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const digest = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest()

/**
 * Returns a check of `Authorization` headers. Without credentials it admits every caller, whatever the header. Its
 * duration does not reveal how much of a password was right: it compares digests of a fixed length in constant time.
 */
export const admission = (credentials: Credentials | undefined): (header: string | undefined) => Authorization => {
  if (credentials === undefined) return () => "admitted"
  const expected = digest(Buffer.from(`${credentials.user}:${Redacted.value(credentials.password)}`))

  return (header) => {
    if (header === undefined) return "missing"
    const encoded = header.startsWith(SCHEME) ? header.slice(SCHEME.length).trim() : "?"
    const given = Buffer.from(BASE64.test(encoded) ? encoded : "", "base64")
    return timingSafeEqual(digest(given), expected) ? "admitted" : "wrong"
  }
}
