import { fromBinaryString } from "../../protocol/bytes.ts"
import { endpointKey, type NetAddress } from "../wire/netAddress.ts"

export const endpointBytes = (address: NetAddress, port: number): Uint8Array =>
  fromBinaryString(endpointKey(address, port))
