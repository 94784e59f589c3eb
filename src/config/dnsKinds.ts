import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isIP, isIPv6 } from "node:net"
import { type Address, formatHostPort, parseHostPort } from "../base/addresses.ts"
import { quoted } from "../base/safeText.ts"
import { decodeBase64, encodeBase64 } from "../protocol/base64.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { HostText } from "../values/records.ts"
import { type CallerNet, netKind } from "./accessKinds.ts"
import { fromText, type OptionKind } from "./kinds.ts"

/** Ports of DNS (RFC 1035, section 4.2), and of DNS over TLS (RFC 7858, section 3.1). */
const DNS_PORT = 53
const TLS_PORT = 853

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const LONGEST_HOST = 253

const hostOf = (text: string): HostText | undefined => {
  const host = text.toLowerCase().replace(/\.$/, "")
  return host.length <= LONGEST_HOST && HOST.test(host) ? `${host}.` : undefined
}

/** A host or domain name, with or without the dot at its end. */
export const hostKind: OptionKind<HostText> = {
  placeholder: "NAME",
  toml: "string",
  schema: fromText(
    () => Schema.String,
    (given) => Either.fromNullable(hostOf(given), () => `${quoted(given)} is not a name such as ns1.example.org`),
    (host) => host.replace(/\.$/, "")
  )
}

/** Fits into one string of a TXT record and beside an answer of 1,232 bytes. */
const LONGEST_ID = 64
const SERVER_ID = /^[!-~](?:[ -~]*[!-~])?$/

/** A server's name of itself (RFC 4892, RFC 5001). */
export const serverIdKind: OptionKind<string> = {
  placeholder: "TEXT",
  toml: "string",
  schema: fromText(
    () => Schema.String,
    (given) =>
      given.length <= LONGEST_ID && SERVER_ID.test(given)
        ? Either.right(given)
        : Either.left(`${quoted(given.slice(0, 2 * LONGEST_ID))} is not 1 to ${LONGEST_ID} printable ASCII characters`),
    (id) => id
  )
}

const addressSchema = (): Schema.Schema<Address> => Schema.Struct({ host: Schema.String, port: Schema.Int })

/** `IP`, `IP:PORT` or `[IPV6]:PORT`. */
const serverOf = (text: string, port: number): Address | undefined => {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (isIP(bare) !== 0 && (bare === text || isIPv6(bare))) return { host: bare, port }
  const address = Either.getOrUndefined(parseHostPort(text, "required"))
  return address !== undefined && isIP(address.host) !== 0 ? address : undefined
}

const NO_SERVER = "is not an IP address, with or without a port"

/** A secondary to notify, with the key that signs the message. A name would need DNS to be found. */
export interface DnsNotifyTarget {
  readonly address: Address
  readonly key: HostText | undefined
}

const notifyOf = (text: string): Either.Either<DnsNotifyTarget, string> => {
  const [place = "", name, ...more] = text.split("#")
  const address = serverOf(place, DNS_PORT)
  const key = name === undefined ? undefined : hostOf(name)
  if (address === undefined) return Either.left(`${quoted(text)} ${NO_SERVER}`)
  return more.length > 0 || (name !== undefined && key === undefined)
    ? Either.left(`${quoted(text)} has no name of a key behind #`)
    : Either.right({ address, key })
}

/** `ADDRESS[:PORT]`, or `ADDRESS[:PORT]#KEY`. */
export const dnsNotifyKind: OptionKind<DnsNotifyTarget> = {
  placeholder: "ADDRESS[:PORT][#KEY]",
  toml: "string",
  schema: fromText<DnsNotifyTarget>(
    () => Schema.Struct({ address: addressSchema(), key: Schema.UndefinedOr(Schema.String) }),
    notifyOf,
    ({ address, key }) => formatHostPort(address) + (key === undefined ? "" : `#${key.replace(/\.$/, "")}`)
  )
}

/** The resolver that gets the questions about other names. */
export interface DnsForwardTarget {
  readonly address: Address
  /** The name in the resolver's certificate, or its address; `undefined` without TLS. */
  readonly tlsName: string | undefined
}

const TLS_FORM = /^tls:\/\/([^#]*)(?:#(.*))?$/i

const forwardOf = (text: string): Either.Either<DnsForwardTarget, string> => {
  const tls = TLS_FORM.exec(text)
  const [, place = text, name] = tls ?? []
  const address = serverOf(place, tls === null ? DNS_PORT : TLS_PORT)
  if (address === undefined) {
    return Either.left(`${quoted(text)} ${NO_SERVER}, or an address such as tls://ADDRESS#NAME`)
  }
  if (tls === null) return Either.right({ address, tlsName: undefined })
  if (name !== undefined && isIP(name) === 0 && hostOf(name) === undefined) {
    return Either.left(`${quoted(text)} has no name of a certificate behind #`)
  }
  return Either.right({ address, tlsName: name?.toLowerCase() ?? address.host })
}

/** `ADDRESS[:PORT]`, or with TLS `tls://ADDRESS[:PORT]#NAME`. */
export const dnsForwardKind: OptionKind<DnsForwardTarget> = {
  placeholder: "ADDRESS|tls://ADDRESS#NAME",
  toml: "string",
  schema: fromText<DnsForwardTarget>(
    () => Schema.Struct({ address: addressSchema(), tlsName: Schema.UndefinedOr(Schema.String) }),
    forwardOf,
    ({ address, tlsName }) =>
      `${tlsName === undefined ? "" : "tls://"}${formatHostPort(address)}` +
      (tlsName === undefined || tlsName === address.host ? "" : `#${tlsName}`)
  )
}

/** Who may have the whole zone: hosts by their address, or whoever signs with a key. */
export type DnsTransferRule = CallerNet | { readonly key: HostText }

const KEY_PREFIX = "key:"

const transferOf = (text: string): Either.Either<DnsTransferRule, string> => {
  if (!text.startsWith(KEY_PREFIX)) {
    return Either.mapLeft(
      Schema.decodeEither(netKind.schema())(text),
      () =>
        `${
          quoted(text)
        } is not an address, a network such as 192.0.2.0/24, or key:NAME with the name of a key of dnstsig`
    )
  }
  const key = hostOf(text.slice(KEY_PREFIX.length))
  return key === undefined ? Either.left(`${quoted(text)} has no name of a key behind key:`) : Either.right({ key })
}

/** `NET` or `key:NAME`. */
export const dnsTransferKind: OptionKind<DnsTransferRule> = {
  placeholder: "NET|key:NAME",
  toml: "string",
  schema: fromText<DnsTransferRule>(
    () =>
      Schema.Union(
        Schema.Struct({ address: Schema.String, prefix: Schema.Int }),
        Schema.Struct({ key: Schema.String })
      ),
    transferOf,
    (rule) => "key" in rule ? KEY_PREFIX + rule.key.replace(/\.$/, "") : Schema.encodeSync(netKind.schema())(rule)
  )
}

/** RFC 8945, section 6: the others are weak or rare. */
export const TSIG_ALGORITHMS = ["hmac-sha256", "hmac-sha512"] as const
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number]

export interface TsigKey {
  readonly name: HostText
  readonly algorithm: TsigAlgorithm
  readonly secret: Redacted.Redacted<Bytes>
}

/** Bytes. RFC 8945, section 7: a secret as long as the output of the hash; longer than its block is hashed first. */
const LEAST_SECRET = 16
const MOST_SECRET = 128

const tsigOf = (text: string): Either.Either<TsigKey, string> => {
  const [given = "", word = "", base64, ...more] = text.split(":")
  const name = hostOf(given)
  const algorithm = TSIG_ALGORITHMS.find((each) => each === word.toLowerCase())
  const secret = base64 === undefined || base64.length > 4 * MOST_SECRET ? undefined : decodeBase64(base64)
  if (name === undefined || base64 === undefined || more.length > 0) {
    return Either.left("is not NAME:ALGORITHM:SECRET with the secret in base64")
  }
  if (algorithm === undefined) return Either.left(`has an algorithm other than ${TSIG_ALGORITHMS.join(" and ")}`)
  return secret === undefined || secret.length < LEAST_SECRET || secret.length > MOST_SECRET
    ? Either.left(
      `has a secret that is not ${LEAST_SECRET} to ${MOST_SECRET} bytes in base64; make one with: openssl rand -base64 32`
    )
    : Either.right({ name, algorithm, secret: Redacted.make(secret) })
}

/** `NAME:ALGORITHM:SECRET`. Messages show none of it. */
export const tsigKind: OptionKind<TsigKey> = {
  placeholder: "NAME:ALGORITHM:SECRET",
  toml: "string",
  schema: fromText<TsigKey>(
    () =>
      Schema.Struct({
        name: Schema.String,
        algorithm: Schema.Literal(...TSIG_ALGORITHMS),
        secret: Schema.RedactedFromSelf(Schema.Uint8ArrayFromSelf)
      }),
    tsigOf,
    ({ algorithm, name, secret }) => `${name.replace(/\.$/, "")}:${algorithm}:${encodeBase64(Redacted.value(secret))}`
  )
}
