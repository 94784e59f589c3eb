import { isIPv4 } from "node:net"
import type { DnsClient } from "../Responder.ts"

const IPV4_MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** An address of a socket without zone, and as IPv4 even where the socket takes both families. */
const plainAddress = (address: string): string => {
  if (!address.includes(":")) return address
  const [plain = ""] = address.split("%")
  return IPV4_MAPPED.exec(plain)?.[1] ?? plain
}

interface Remote {
  /** Missing once a socket is closed. */
  readonly address: string | undefined
  readonly port: number | undefined
}

export const dnsClient = (transport: DnsClient["transport"], { address = "", port = 0 }: Remote): DnsClient => ({
  transport,
  address: plainAddress(address),
  port
})

/** The eight groups of an IPv6 address that the system printed. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [head = "", tail] = address.split("::")
  const numbers = (text: string): ReadonlyArray<number> =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16))
  const [front, back] = [numbers(head), numbers(tail ?? "")]
  const zeros = Math.max(0, 8 - front.length - back.length)
  return [...front, ...Array.from({ length: tail === undefined ? 0 : zeros }, () => 0), ...back]
}

/** The network of a client as a text: /24, or /56 of IPv6. Who spoofs a sender can spoof all of its network. */
export const networkOf = (address: string): string => {
  if (isIPv4(address)) return address.slice(0, address.lastIndexOf("."))
  const [a = 0, b = 0, c = 0, d = 0] = groupsOf(address)
  return [a, b, c, d & 0xff00].map((group) => group.toString(16)).join(":")
}
