import * as Either from "effect/Either"
import { isIP, isIPv4, isIPv6 } from "node:net"
import { quoted } from "./safeText.ts"

/** Where to listen or connect. IPv6 hosts have no brackets. */
export interface Address {
  /** An IP address or host name. Empty, for a listener only: every interface. */
  readonly host: string
  readonly port: number
}

const LONGEST_HOST = 253
const LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*\\.?$`)

const isHost = (host: string): boolean => {
  // Digits and dots are always an IPv4 address, never a name.
  if (/^[\d.]+$/.test(host)) return isIPv4(host)
  return host.length <= LONGEST_HOST && HOST_NAME.test(host)
}

const ADDRESS = /^(?:\[(?<ip6>[^\]]*)\]|(?<host>[^:[\]]*)):(?<port>[^:[\]]*)$/

/**
 * IPv6 is in brackets, ports are 1 to 65535. Without a host, as in `:8334`: every interface, unless it is `required`.
 */
export const parseHostPort = (text: string, host: "required" | "optional"): Either.Either<Address, string> => {
  const parts = ADDRESS.exec(text)?.groups
  if (parts === undefined) {
    return Either.left(
      isIPv6(text) || /^[0-9a-f:]+:\d+$/i.test(text) && text.split(":").length > 2
        ? `${quoted(text)} is not host:port; an IPv6 address goes into brackets, as in [::1]:8334`
        : `${quoted(text)} is not an address of the form host:port`
    )
  }
  const { ip6, port = "" } = parts
  const address: Address = { host: ip6 ?? parts["host"] ?? "", port: Number(port) }
  if (!/^[0-9]{1,5}$/.test(port) || address.port < 1 || address.port > 65_535) {
    return Either.left(`${quoted(text)} has no port from 1 to 65535`)
  }
  if (ip6 !== undefined) {
    return isIPv6(ip6) ? Either.right(address) : Either.left(`${quoted(text)} has no IPv6 address in its brackets`)
  }
  if (address.host === "") {
    return host === "optional" ? Either.right(address) : Either.left(`${quoted(text)} has no host before the colon`)
  }
  return isHost(address.host) ? Either.right(address) : Either.left(`${quoted(text)} has no valid host`)
}

export const formatHostPort = ({ host, port }: Address): string =>
  // Compiling the pattern of `isIPv6` takes some milliseconds, which most calls of svcd-cli do not need.
  host.includes(":") && isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`

const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i

/** Names other than `localhost` are not resolved. */
const placeOf = (host: string): "every interface" | "loopback" | "other" => {
  // The most common form, asked for each packet.
  if (isIPv4(host)) return host.startsWith("127.") ? "loopback" : host === "0.0.0.0" ? "every interface" : "other"
  const plain = host.toLowerCase().replace(MAPPED_IPV4, "").replace(/\.$/, "")
  if (plain === "" || plain === "0.0.0.0" || /^[0:]+$/.test(plain)) return "every interface"
  if (plain === "localhost" || /^(0*:)+0*1$/.test(plain) || (isIPv4(plain) && plain.startsWith("127."))) {
    return "loopback"
  }
  return "other"
}

export const isLoopback = (host: string): boolean => placeOf(host) === "loopback"

export const isEveryInterface = (host: string): boolean => placeOf(host) === "every interface"

/** Whether two listeners exclude each other. Port 0 is any free one. */
export const overlap = (a: Address, b: Address): boolean => {
  if (a.port !== b.port || a.port === 0) return false
  if ([a, b].some(({ host }) => host === "0.0.0.0") && [a, b].some(({ host }) => isIPv6(host))) {
    // IPv4 and IPv6 overlap only if one listener takes both families, as `::` does.
    return [a, b].some(({ host }) => isIPv6(host) && isEveryInterface(host))
  }
  if (isEveryInterface(a.host) || isEveryInterface(b.host)) return true
  if (a.host.toLowerCase() === b.host.toLowerCase()) return true
  return [a, b].every(({ host }) => isLoopback(host)) && [a, b].some(({ host }) => host.toLowerCase() === "localhost")
}

/** The address of a client that a proxy does not name properly: in no network. */
const UNKNOWN_CLIENT = "0.0.0.0"

/** The client that a proxy names last in the header X-Forwarded-For; `undefined` without that header. */
export const forwardedFor = (header: ReadonlyArray<string> | string | undefined): string | undefined => {
  const last = (typeof header === "string" ? header : header?.at(-1))?.split(",").at(-1)?.trim()
  return last !== undefined && isIP(last) === 0 ? UNKNOWN_CLIENT : last
}
