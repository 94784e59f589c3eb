import { BlockList, isIPv6 } from "node:net"
import type { DnsTransferRule } from "../../config/dnsKinds.ts"
import { wireNameOfHost } from "../wire/name.ts"
import type { TransferKey } from "./tsig.ts"

/** The client that requests a zone transfer. */
export interface TransferClient {
  /** An IP address. IPv4 is not mapped into IPv6. */
  readonly address: string
  /** The key that signs the query. */
  readonly key: TransferKey | undefined
}

/** Decides by address or key whether a client may transfer the zone. Without rules, no client may. */
export const makeTransferAccess = (
  rules: ReadonlyArray<DnsTransferRule>
): (client: TransferClient) => boolean => {
  const addresses = new BlockList()
  const keys = new Set<string>()
  for (const rule of rules) {
    if ("key" in rule) keys.add(wireNameOfHost(rule.key))
    else addresses.addSubnet(rule.address, rule.prefix, isIPv6(rule.address) ? "ipv6" : "ipv4")
  }
  return ({ address, key }) =>
    (key !== undefined && keys.has(key.name)) || addresses.check(address, isIPv6(address) ? "ipv6" : "ipv4")
}
