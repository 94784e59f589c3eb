import type { IncomingHttpHeaders } from "node:http"
import { isIPv6, type Socket } from "node:net"
import { forwardedFor } from "../base/addresses.ts"
import type { CallerNet } from "../config/accessKinds.ts"
import { onThisMachineOr } from "../config/callerNets.ts"

/** `-rpcallowip`: this machine and the networks; without any, all. Upstream `httpserver.cpp`, `ClientAllowed`. */
export const allowedCallers = (nets: ReadonlyArray<CallerNet>): (address: string) => boolean =>
  nets.length === 0 ? () => true : onThisMachineOr(nets)

/** For limits and logs. */
export interface ClientAddress {
  /** An IPv4 address, or the first 64 bits of an IPv6 address. */
  readonly key: string
  /** As IPv4 even if the socket uses IPv6. */
  readonly address: string
  readonly loopback: boolean
  /** Address and port, for logs. */
  readonly text: string
}

const IPV4_MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** One household can use any address of its IPv6 /64, so these share a limit. */
export const clientAddress = (address = "", port = 0): ClientAddress => {
  const plain = IPV4_MAPPED.exec(address)?.[1] ?? address
  if (!isIPv6(plain)) {
    return { key: plain, address: plain, loopback: plain.startsWith("127."), text: `${plain}:${port}` }
  }
  return { key: `${networkOf(plain)}::/64`, address: plain, loopback: plain === "::1", text: `[${plain}]:${port}` }
}

/** The first four groups of an IPv6 address, written out. */
const networkOf = (address: string): string => {
  const [withoutZone = ""] = address.split("%")
  const [head = "", tail] = withoutZone.split("::")
  const front = head === "" ? [] : head.split(":")
  const back = tail === undefined || tail === "" ? [] : tail.split(":")
  // A group with dots counts as two.
  const length = front.length + back.length + (back.at(-1)?.includes(".") === true ? 1 : 0)
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - length)
  const groups = [...front, ...Array.from({ length: zeros }, () => "0"), ...back]
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(":")
}

/** Who asks, where a proxy on this machine may name its client. */
export const clientBehindProxy = (
  { headers, socket: { remoteAddress, remotePort } }: {
    readonly headers: IncomingHttpHeaders
    readonly socket: Pick<Socket, "remoteAddress" | "remotePort">
  }
): ClientAddress => {
  const direct = clientAddress(remoteAddress, remotePort)
  const forwarded = direct.loopback ? forwardedFor(headers["x-forwarded-for"]) : undefined
  return forwarded === undefined ? direct : clientAddress(forwarded, remotePort)
}
