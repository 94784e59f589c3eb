import type { Network, NetworkName } from "./networks.ts"

const NAMES: ReadonlyMap<string, NetworkName> = new Map<Network["chainName"], NetworkName>([
  ["main", "mainnet"],
  ["test", "testnet"],
  ["regtest", "regtest"]
])

/** The network that the reference node calls so in `getblockchaininfo`; `undefined` for one that svcd does not have. */
export const networkOfChain = (chainName: string): NetworkName | undefined => NAMES.get(chainName)
