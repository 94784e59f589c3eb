import type { PeerId } from "../../protocol/keys.ts"
import type { AddressNetwork } from "../wire/netAddress.ts"

/** An outbound peer that may be disconnected. Times are seconds since 1970. */
export interface ExtraPeer {
  readonly id: PeerId
  readonly network: AddressNetwork
  readonly connectedAt: number
  /** When the peer last announced a block ahead of our tip; 0 for never. */
  readonly lastAnnouncement: number
  /** When the peer last sent a new block; 0 for never. */
  readonly lastBlock: number
  /** Whether blocks are in flight from the peer. */
  readonly busy: boolean
}

/** Seconds before a peer can be disconnected (reference/protocol.md 6.10). */
const TRIAL = 30

const mayGo = ({ busy, connectedAt }: ExtraPeer, now: number): boolean => !busy && now - connectedAt > TRIAL

/**
 * The surplus full-relay peer to disconnect: the one with the oldest block announcement, the youngest among equals, but
 * never the only peer of its network, counting manual peers (`manual`). Source: upstream `net_processing.cpp`,
 * `EvictExtraOutboundPeers`.
 */
export const extraFullRelay = (
  peers: ReadonlyArray<ExtraPeer>,
  { limit, manual, now }: {
    readonly manual: ReadonlyArray<AddressNetwork>
    readonly limit: number
    readonly now: number
  }
): PeerId | undefined => {
  if (peers.length <= limit) return undefined
  const networks = [...manual, ...peers.map(({ network }) => network)]
  const [worst] = peers
    .filter(({ network }) => networks.filter((other) => other === network).length > 1)
    .sort((a, b) => a.lastAnnouncement - b.lastAnnouncement || b.id - a.id)
  return worst !== undefined && mayGo(worst, now) ? worst.id : undefined
}

/** The surplus block-relay-only peer to disconnect: the youngest, or the next if that sent a block. Source as above. */
export const extraBlockRelay = (
  peers: ReadonlyArray<ExtraPeer>,
  { limit, now }: { readonly limit: number; readonly now: number }
): PeerId | undefined => {
  if (peers.length <= limit) return undefined
  const [youngest, next] = [...peers].sort((a, b) => b.id - a.id)
  const chosen = youngest !== undefined && next !== undefined && youngest.lastBlock > next.lastBlock ? next : youngest
  return chosen !== undefined && mayGo(chosen, now) ? chosen.id : undefined
}
