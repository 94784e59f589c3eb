import { BlockList, isIPv6 } from "node:net"
import type { CallerNet } from "../config/accessKinds.ts"

/**
 * Returns whether the listener answers callers at an address (`-rpcallowip`): this machine, and the given networks.
 * Without networks it answers every address. Upstream `httpserver.cpp`, `ClientAllowed`.
 */
export const allowedCallers = (nets: ReadonlyArray<CallerNet>): (address: string) => boolean => {
  if (nets.length === 0) return () => true
  const list = new BlockList()
  for (const { address, prefix } of [{ address: "127.0.0.0", prefix: 8 }, { address: "::1", prefix: 128 }, ...nets]) {
    list.addSubnet(address, prefix, familyOf(address))
  }
  return (address) => {
    const [withoutZone = ""] = address.split("%")
    return withoutZone !== "" && list.check(withoutZone, familyOf(withoutZone))
  }
}

const familyOf = (address: string): "ipv4" | "ipv6" => isIPv6(address) ? "ipv6" : "ipv4"
