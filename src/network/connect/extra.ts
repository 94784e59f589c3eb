import type { AddressNetwork } from "../wire/netAddress.ts"

/** An outbound peer as a candidate to be let go. Times are seconds since 1970. */
export interface ExtraPeer {
  readonly id: number
  readonly network: AddressNetwork
  readonly connectedAt: number
  /** When it last announced a block that was ahead of us; 0 for never. */
  readonly lastAnnouncement: number
  /** When it last gave us a block that was new; 0 for never. */
  readonly lastBlock: number
  /** Whether it was asked for blocks that have not come. */
  readonly busy: boolean
}

/** How long a peer has to show what it is good for, seconds (reference/protocol.md 6.10). */
const TRIAL = 30

const mayGo = ({ busy, connectedAt }: ExtraPeer, now: number): boolean => !busy && now - connectedAt > TRIAL

/**
 * Which of too many full-relay peers to let go: the one whose last announcement of a block is the oldest, of equals the
 * youngest; but never one that is the only of its network, those of the operator (`manual`) counted. Source: upstream
 * `net_processing.cpp`, `EvictExtraOutboundPeers`.
 */
export const extraFullRelay = (
  peers: ReadonlyArray<ExtraPeer>,
  manual: ReadonlyArray<AddressNetwork>,
  limit: number,
  now: number
): number | undefined => {
  if (peers.length <= limit) return undefined
  const networks = [...manual, ...peers.map(({ network }) => network)]
  const [worst] = peers
    .filter(({ network }) => networks.filter((other) => other === network).length > 1)
    .sort((a, b) => a.lastAnnouncement - b.lastAnnouncement || b.id - a.id)
  return worst !== undefined && mayGo(worst, now) ? worst.id : undefined
}

/**
 * Which of too many block-relay-only peers to let go: the youngest, or the one before it where the youngest has given us
 * a block since. Source: as above.
 */
export const extraBlockRelay = (peers: ReadonlyArray<ExtraPeer>, limit: number, now: number): number | undefined => {
  if (peers.length <= limit) return undefined
  const [youngest, next] = [...peers].sort((a, b) => b.id - a.id)
  const chosen = youngest !== undefined && next !== undefined && youngest.lastBlock > next.lastBlock ? next : youngest
  return chosen !== undefined && mayGo(chosen, now) ? chosen.id : undefined
}
