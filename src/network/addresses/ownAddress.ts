import { below, type Random } from "../../base/random.ts"
import type { Peer } from "../Peer.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { isRoutable } from "../wire/netGroup.ts"

/** An address of ours, and how much speaks for it. */
export interface ScoredAddress {
  readonly address: NetAddress
  readonly port: number
  readonly score: number
}

/** Scores from here on are more than an operator's word: peers have confirmed it (upstream `net.h`, `LOCAL_MANUAL`). */
const MANUAL_SCORE = 4

/** The one that a peer can rather reach: in its own network, then by score. */
const best = (local: ReadonlyArray<ScoredAddress>, { address: { network } }: Peer): ScoredAddress | undefined =>
  [...local].sort((a, b) =>
    Number(b.address.network === network) - Number(a.address.network === network) || b.score - a.score
  )[0]

/**
 * The address that a peer is told is ours: one that we know, or, where we know none and sometimes else, the one that the
 * peer sees. It sees the port only where it called us. Source: upstream `net.cpp`, `GetLocalAddrForPeer`.
 */
export const ownAddressFor = (
  peer: Peer,
  options: {
    readonly local: ReadonlyArray<ScoredAddress>
    readonly listenPort: number
    /** Whether what peers see is believed: not behind a proxy, nor where the operator gave the address. */
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
