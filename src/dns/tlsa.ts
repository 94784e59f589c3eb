import { sha512 } from "@noble/hashes/sha2.js"
import { type Bytes, equal, fromHex } from "../protocol/bytes.ts"
import { sha256 } from "../protocol/hash.ts"
import type { DomainRecord } from "./domainRecord.ts"

/** Certificates against TLSA records (RFC 6698, RFC 7671). */

/** DER, or an object that has it: `X509Certificate`, or what `socket.getPeerCertificate()` returns. */
export type GivenCertificate = Bytes | { readonly raw: Bytes }

export interface TlsaOptions {
  /** Whether the certificate passed the usual validation, as `socket.authorized` says. Usage 1 needs it. */
  readonly authorized?: boolean | undefined
}

const SEQUENCE = 0x30
/** The optional version of a certificate. */
const VERSION = 0xa0

interface Element {
  readonly tag: number
  /** Where its content begins. */
  readonly content: number
  readonly end: number
}

/** One element of DER (X.690, section 8.1); `undefined` if it does not fit. */
const elementAt = (bytes: Bytes, at: number): Element | undefined => {
  const [tag, first] = [bytes[at], bytes[at + 1]]
  if (tag === undefined || first === undefined) return undefined
  const more = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || more > 3) return undefined
  let length = more === 0 ? first : 0
  for (let i = 0; i < more; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0)
  const content = at + 2 + more
  return content + length <= bytes.length ? { tag, content, end: content + length } : undefined
}

/** Fields of a certificate before its public key: serial number, algorithm, issuer, validity, subject (RFC 5280, 4.1). */
const FIELDS_BEFORE_KEY = 5

/** SubjectPublicKeyInfo, or `undefined` if the bytes are not a certificate. */
const publicKeyOf = (certificate: Bytes): Bytes | undefined => {
  const outer = elementAt(certificate, 0)
  const body = outer?.tag === SEQUENCE ? elementAt(certificate, outer.content) : undefined
  if (body?.tag !== SEQUENCE) return undefined
  let at = body.content
  if (certificate[at] === VERSION) at = elementAt(certificate, at)?.end ?? body.end
  for (let i = 0; i < FIELDS_BEFORE_KEY; i++) at = elementAt(certificate, at)?.end ?? body.end
  const key = elementAt(certificate, at)
  return key?.tag === SEQUENCE && key.end <= body.end ? certificate.subarray(at, key.end) : undefined
}

const selected = (certificate: Bytes, selector: number): Bytes | undefined =>
  selector === 0 ? certificate : selector === 1 ? publicKeyOf(certificate) : undefined

const matched = (bytes: Bytes, matchingType: number): Bytes | undefined => {
  switch (matchingType) {
    case 0:
      return bytes
    case 1:
      return sha256(bytes)
    case 2:
      return sha512(bytes)
    default:
      return undefined
  }
}

/** Trust in the key of the record alone. */
const DANE_EE = 3
/** A constraint beside the usual validation. */
const PKIX_EE = 1

/**
 * Whether one of the TLSA records is for this certificate of a server. Usage 3 needs nothing else: neither the name
 * nor the dates in the certificate count (RFC 7671, section 5.1). Usage 1 counts with `authorized` only. Usages 0 and 2
 * are about the issuers, which are not compared. Records of other types are ignored, so a list without TLSA never
 * matches.
 */
export const tlsaMatches = (
  certificate: GivenCertificate,
  records: ReadonlyArray<DomainRecord>,
  { authorized = false }: TlsaOptions = {}
): boolean => {
  const der = "raw" in certificate ? certificate.raw : certificate
  return records.some((record) => {
    if (record.type !== "TLSA") return false
    const { association, matchingType, selector, usage } = record
    if (usage !== DANE_EE && !(usage === PKIX_EE && authorized)) return false
    const wanted = fromHex(association)
    const bytes = selected(der, selector)
    const found = bytes === undefined ? undefined : matched(bytes, matchingType)
    return wanted !== undefined && found !== undefined && equal(found, wanted)
  })
}
