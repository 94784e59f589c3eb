import type { Network, NetworkName } from "./networks.ts"

const NAMES: ReadonlyMap<string, NetworkName> = new Map<Network["chainName"], NetworkName>([
  ["main", "mainnet"],
  ["test", "testnet"],
  ["regtest", "regtest"]
])

export const networkOfChain = (chainName: string): NetworkName | undefined => NAMES.get(chainName)
