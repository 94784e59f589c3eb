import { BlockList, isIPv6 } from "node:net"
import type { CallerNet } from "./accessKinds.ts"

const familyOf = (address: string): "ipv4" | "ipv6" => isIPv6(address) ? "ipv6" : "ipv4"

const THIS_MACHINE: ReadonlyArray<CallerNet> = [{ address: "127.0.0.0", prefix: 8 }, { address: "::1", prefix: 128 }]

/** Whether an address is in one of the networks. An IPv6 address may have a zone. */
export const inNets = (nets: ReadonlyArray<CallerNet>): (address: string) => boolean => {
  const list = new BlockList()
  for (const { address, prefix } of nets) list.addSubnet(address, prefix, familyOf(address))
  return (address) => {
    const [withoutZone = ""] = address.split("%")
    return withoutZone !== "" && list.check(withoutZone, familyOf(withoutZone))
  }
}

/** Whether an address is of this machine or in one of the networks. */
export const onThisMachineOr = (nets: ReadonlyArray<CallerNet>): (address: string) => boolean =>
  inNets([...THIS_MACHINE, ...nets])
