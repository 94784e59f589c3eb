import type { Network, NetworkName } from "./networks.ts"

const NAMES: ReadonlyMap<string, NetworkName> = new Map<Network["chainName"], NetworkName>([
  ["main", "mainnet"],
  ["test", "testnet"],
  ["regtest", "regtest"]
])

/** The network with this name in the reference node's `getblockchaininfo`; `undefined` if svcd does not know it. */
export const networkOfChain = (chainName: string): NetworkName | undefined => NAMES.get(chainName)
