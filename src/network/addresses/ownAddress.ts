import { below, type Random } from "../../base/random.ts"
import type { BlockLosses } from "../../chain/repair/BlockLosses.ts"
import type { Peer } from "../Peer.ts"
import { Services } from "../wire/messages/version.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { isRoutable } from "../wire/netGroup.ts"

/**
 * Services of this node (reference/protocol.md 6.3): all blocks, only the latest if any other is missing, or none if
 * one of the latest is missing.
 */
export const ownServices = (
  losses: Pick<BlockLosses, "any" | "recent">,
  { bloom = false, filters = false, prunes = false }: {
    readonly filters?: boolean
    readonly bloom?: boolean
    readonly prunes?: boolean
  } = {}
): bigint => blockServices(losses, prunes) | (filters ? Services.compactFilters : 0n) | (bloom ? Services.bloom : 0n)

const blockServices = (losses: Pick<BlockLosses, "any" | "recent">, prunes: boolean): bigint => {
  if (!losses.any && !prunes) return Services.network | Services.witness | Services.networkLimited
  return losses.recent ? Services.witness : Services.witness | Services.networkLimited
}

export interface ScoredAddress {
  readonly address: NetAddress
  readonly port: number
  readonly score: number
}

/** Higher scores exceed an operator's setting: peers confirmed the address (upstream `net.h`, `LOCAL_MANUAL`). */
const MANUAL_SCORE = 4

/** In its own network, then by score. */
const best = (local: ReadonlyArray<ScoredAddress>, { address: { network } }: Peer): ScoredAddress | undefined =>
  [...local].sort((a, b) =>
    Number(b.address.network === network) - Number(a.address.network === network) || b.score - a.score
  )[0]

/**
 * The address to announce to a peer: a known one or, if none is known and sometimes otherwise, the one that the peer
 * sees. An outbound peer does not see our port. Source: upstream `net.cpp`, `GetLocalAddrForPeer`.
 */
export const ownAddressFor = (
  peer: Peer,
  options: {
    readonly local: ReadonlyArray<ScoredAddress>
    readonly listenPort: number
    /** Whether to trust addresses seen by peers: not behind a proxy or with a configured address. */
    readonly discover: boolean
    readonly random: Random
  }
): { readonly address: NetAddress; readonly port: number } | undefined => {
  const { discover, listenPort, random } = options
  const known = best(options.local.filter(({ address }) => isRoutable(address)), peer)
  const seen = peer.hello.ourAddress
  const believed = discover && isRoutable(peer.address) && seen !== undefined && isRoutable(seen.address)
  if (believed && (known === undefined || below(random, known.score > MANUAL_SCORE ? 8 : 2) === 0)) {
    return { address: seen.address, port: peer.inbound ? seen.port : known?.port ?? listenPort }
  }
  return known === undefined ? undefined : { address: known.address, port: known.port }
}
