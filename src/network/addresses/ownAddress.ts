import { below, type Random } from "../../base/random.ts"
import type { Peer } from "../Peer.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { isRoutable } from "../wire/netGroup.ts"

export interface ScoredAddress {
  readonly address: NetAddress
  readonly port: number
  readonly score: number
}

/** Higher scores exceed an operator's setting: peers confirmed the address (upstream `net.h`, `LOCAL_MANUAL`). */
const MANUAL_SCORE = 4

/** The address that the peer can best reach: in its own network, then by score. */
const best = (local: ReadonlyArray<ScoredAddress>, { address: { network } }: Peer): ScoredAddress | undefined =>
  [...local].sort((a, b) =>
    Number(b.address.network === network) - Number(a.address.network === network) || b.score - a.score
  )[0]

/**
 * Our address as announced to a peer: a known one or, if none is known and sometimes otherwise, the one that the peer
 * sees. It sees our port only if it connected to us. Source: upstream `net.cpp`, `GetLocalAddrForPeer`.
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
