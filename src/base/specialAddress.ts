import { BlockList, isIPv6 } from "node:net"
import { networkInterfaces } from "node:os"

// Addresses that others must not make the node send to, as they could otherwise reach into its network (server-side
// request forgery): those of callers' hooks, and of servers that values of names delegate to. Who connects uses exactly
// the address checked here.

export type ForbiddenKind =
  | "this machine"
  | "a private network"
  | "the local link"
  | "a multicast group"
  | "an address range for special purposes"
  | "a service of the cloud provider"

type Range = readonly [network: string, bits: number, kind: ForbiddenKind]

/** IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast (RFC 5771) and the reserved class E. */
const IPV4: ReadonlyArray<Range> = [
  ["0.0.0.0", 8, "this machine"],
  ["127.0.0.0", 8, "this machine"],
  ["10.0.0.0", 8, "a private network"],
  ["172.16.0.0", 12, "a private network"],
  ["192.168.0.0", 16, "a private network"],
  // Between a provider and its customers (RFC 6598).
  ["100.64.0.0", 10, "a private network"],
  ["169.254.0.0", 16, "the local link"],
  ["192.0.0.0", 24, "an address range for special purposes"],
  ["192.0.2.0", 24, "an address range for special purposes"],
  ["192.88.99.0", 24, "an address range for special purposes"],
  ["198.18.0.0", 15, "an address range for special purposes"],
  ["198.51.100.0", 24, "an address range for special purposes"],
  ["203.0.113.0", 24, "an address range for special purposes"],
  // Azure's agent on each machine, with a public address. Those of other providers are in the ranges above.
  ["168.63.129.16", 32, "a service of the cloud provider"],
  ["224.0.0.0", 4, "a multicast group"],
  ["240.0.0.0", 4, "an address range for special purposes"]
]

/** IANA IPv6 Special-Purpose Address Registry. Everything outside 2000::/3 is always forbidden. */
const IPV6: ReadonlyArray<Range> = [
  ["::", 127, "this machine"],
  ["fc00::", 7, "a private network"],
  ["fec0::", 10, "a private network"],
  ["fe80::", 10, "the local link"],
  ["ff00::", 8, "a multicast group"],
  // IETF protocol assignments, including Teredo and benchmarks, which may contain an IPv4 address.
  ["2001::", 23, "an address range for special purposes"],
  ["2001:db8::", 32, "an address range for special purposes"],
  // 6to4, which contains an IPv4 address.
  ["2002::", 16, "an address range for special purposes"],
  ["3fff::", 20, "an address range for special purposes"]
]

const listsOf = (ranges: ReadonlyArray<Range>, family: "ipv4" | "ipv6") =>
  ranges.map(([network, bits, kind]) => {
    const list = new BlockList()
    list.addSubnet(network, bits, family)
    return { list, kind }
  })

const FORBIDDEN_IPV4 = listsOf(IPV4, "ipv4")
const FORBIDDEN_IPV6 = listsOf(IPV6, "ipv6")

const listOf = (network: string, bits: number): BlockList => {
  const list = new BlockList()
  list.addSubnet(network, bits, "ipv6")
  return list
}

/** Unicast on the Internet. */
const GLOBAL = listOf("2000::", 3)

/** Mapped IPv4 addresses, and those that a translator reaches (NAT64, RFC 6052): the last four bytes count. */
const WITH_IPV4 = [listOf("::ffff:0:0", 96), listOf("64:ff9b::", 96)]

/** The last four bytes of an IPv6 address, as an IPv4 address. */
const lastFourBytes = (address: string): string => {
  // The URL standard writes each IPv6 address in one form, in groups of hexadecimal digits.
  const [high = "0", low = "0"] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(":").slice(-2)
  const bytes = [high, low].flatMap((group) => {
    const value = Number.parseInt(group === "" ? "0" : group, 16)
    return [value >> 8, value & 0xff]
  })
  return bytes.join(".")
}

const forbiddenIPv4 = (address: string): ForbiddenKind | undefined =>
  FORBIDDEN_IPV4.find(({ list }) => list.check(address, "ipv4"))?.kind

const familyOf = (address: string): "ipv4" | "ipv6" => isIPv6(address) ? "ipv6" : "ipv4"

/** Why an address of another's choice must not be used, if so. `own`: this machine's addresses, which may be public. */
export const forbiddenAddress = (address: string, own: ReadonlyArray<string> = []): ForbiddenKind | undefined => {
  const reached = reachedBy(address)
  const machine = new BlockList()
  for (const each of own) {
    const plain = reachedBy(each)
    machine.addAddress(plain, familyOf(plain))
  }
  return machine.check(reached, familyOf(reached)) ? "this machine" : forbiddenRange(reached)
}

/** The same for the addresses that this machine has now. */
export const forbiddenHere = (address: string): ForbiddenKind | undefined =>
  forbiddenAddress(
    address,
    Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map((each) => each.address))
  )

/** The address that a connection reaches, without a zone, and as IPv4 if it contains one. */
const reachedBy = (address: string): string => {
  const [plain = ""] = address.split("%", 1)
  return isIPv6(plain) && WITH_IPV4.some((list) => list.check(plain, "ipv6")) ? lastFourBytes(plain) : plain
}

const forbiddenRange = (plain: string): ForbiddenKind | undefined => {
  if (!isIPv6(plain)) return forbiddenIPv4(plain)
  const found = FORBIDDEN_IPV6.find(({ list }) => list.check(plain, "ipv6"))
  if (found !== undefined) return found.kind
  return GLOBAL.check(plain, "ipv6") ? undefined : "an address range for special purposes"
}
