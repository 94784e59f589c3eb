import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  X509Certificate
} from "node:crypto"
import { isIP } from "node:net"
import { randomBytes } from "../../base/entropy.ts"
import { concatAll } from "../../protocol/bytes.ts"

/** A certificate that signs itself (RFC 5280), for clients that pin it: a name on it convinces nobody. */

/** DER (ITU-T X.690). */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  time: 0x18
}

const lengthBytes = (length: number): Uint8Array =>
  length < 0x80
    ? Uint8Array.of(length)
    : length < 0x100
    ? Uint8Array.of(0x81, length)
    : Uint8Array.of(0x82, length >> 8, length & 0xff)

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const content = concatAll(parts)
  return concatAll([Uint8Array.of(tag), lengthBytes(content.length), content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => der(TAG.sequence, ...parts)

const latin = (text: string): Uint8Array => Buffer.from(text, "latin1")

const oid = (hex: string): Uint8Array => der(TAG.oid, Buffer.from(hex, "hex"))

/** 1.2.840.10045.4.3.2 */
const ECDSA_WITH_SHA256 = sequence(oid("2a8648ce3d040302"))
/** 2.5.4.3 */
const COMMON_NAME = oid("550403")
/** 2.5.29.17 and 2.5.29.19 */
const ALTERNATIVE_NAMES = oid("551d11")
const BASIC_CONSTRAINTS = oid("551d13")

const TRUE = der(TAG.boolean, Uint8Array.of(0xff))

/** Section 4.1.2.5: two digits of the year until 2049. */
const timeOf = (date: Date): Uint8Array => {
  const digits = `${date.toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z`
  return date.getUTCFullYear() < 2050 ? der(TAG.utcTime, latin(digits.slice(2))) : der(TAG.time, latin(digits))
}

const nameOf = (common: string): Uint8Array =>
  sequence(der(TAG.set, sequence(COMMON_NAME, der(TAG.text, Buffer.from(common, "utf8")))))

/** Context-specific tags of a GeneralName: a DNS name and an IP address. */
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87

const alternative = (host: string): Uint8Array =>
  isIP(host) === 4 ? der(IP_ADDRESS, Uint8Array.from(host.split("."), Number)) : der(DNS_NAME, latin(host))

const extensionsOf = (hosts: ReadonlyArray<string>): Uint8Array =>
  der(
    0xa3,
    sequence(
      sequence(BASIC_CONSTRAINTS, TRUE, der(TAG.octets, sequence(TRUE))),
      sequence(ALTERNATIVE_NAMES, der(TAG.octets, sequence(...hosts.map(alternative))))
    )
  )

const SERIAL_BYTES = 16

/** Positive, and without a zero in front. */
const serialNumber = (): Uint8Array => {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return der(TAG.integer, bytes)
}

const YEARS = 10

const COORDINATE = 32

/** A key of P-256. All but one of 2^32 random numbers are one. */
const newKey = (): KeyObject => {
  const ecdh = createECDH("prime256v1")
  ecdh.setPrivateKey(randomBytes(COORDINATE))
  const point = ecdh.getPublicKey()
  const [x, y] = [point.subarray(1, 1 + COORDINATE), point.subarray(1 + COORDINATE)]
  const part = (bytes: Buffer): string => bytes.toString("base64url")
  // Node omits zeros in front of the secret.
  const secret = Buffer.concat([Buffer.alloc(COORDINATE), ecdh.getPrivateKey()]).subarray(-COORDINATE)
  const jwk = { kty: "EC", crv: "P-256", d: part(secret), x: part(x), y: part(y) }
  return createPrivateKey({ format: "jwk", key: jwk })
}

const pem = (label: string, bytes: Uint8Array): string => {
  const lines = Buffer.from(bytes).toString("base64").match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`
}

export interface MadeCertificate {
  /** In PEM. */
  readonly cert: string
  readonly key: string
}

/** Makes a key of P-256 and its certificate for host names or IPv4 addresses, valid for ten years. */
export const makeSelfSigned = (hosts: readonly [string, ...ReadonlyArray<string>], now: Date): MadeCertificate => {
  const privateKey = newKey()
  const until = new Date(now)
  until.setUTCFullYear(until.getUTCFullYear() + YEARS)
  // Clocks of clients may be behind.
  const from = new Date(now.getTime() - 86_400_000)
  const name = nameOf(hosts[0])
  const body = sequence(
    der(0xa0, der(TAG.integer, Uint8Array.of(2))),
    serialNumber(),
    ECDSA_WITH_SHA256,
    name,
    sequence(timeOf(from), timeOf(until)),
    name,
    Uint8Array.from(createPublicKey(privateKey).export({ type: "spki", format: "der" })),
    extensionsOf(hosts)
  )
  const signature = sign("sha256", body, privateKey)
  const certificate = sequence(body, ECDSA_WITH_SHA256, der(TAG.bits, Uint8Array.of(0), signature))
  return {
    cert: pem("CERTIFICATE", certificate),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  }
}

/** SHA-256 of a certificate in PEM, in hexadecimal: what clients pin. */
export const certificateFingerprint = (cert: string | Buffer): string =>
  createHash("sha256").update(new X509Certificate(cert).raw).digest("hex")
