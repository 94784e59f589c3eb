import type { ConnectionType } from "../Peer.ts"

/** How many connections there may be of which kind (reference/protocol.md 6.10). */

export interface SlotLimits {
  /** Connections that the node opens by itself, of each type. */
  readonly fullRelay: number
  readonly blockRelay: number
  readonly feelers: number
  /** Connections to peers that the operator named, at one time. */
  readonly manual: number
  readonly inbound: number
  /** All of them. */
  readonly total: number
}

const FULL_RELAY = 8
const BLOCK_RELAY = 2
const FEELERS = 1

/** Peers that the operator adds to a node that also finds its own: beyond the limits (upstream, `addnode`). */
const EXTRA_MANUAL = 8

export interface SlotOptions {
  readonly maxPeers: number
  readonly maxInbound: number
  readonly maxOutbound: number
  readonly listening: boolean
  /** Peers that are configured: where there are any, no others are called. */
  readonly configured: number
}

/** Divides the connections that the operator allows. Where the node listens, one slot at least is for who calls. */
export const slotLimits = (
  { configured, listening, maxInbound, maxOutbound, maxPeers }: SlotOptions
): SlotLimits => {
  const open = Math.min(maxOutbound, listening && maxPeers > 1 ? maxPeers - 1 : maxPeers)
  const automatic = configured > 0 ? 0 : open
  const fullRelay = Math.min(FULL_RELAY, automatic)
  const blockRelay = Math.min(BLOCK_RELAY, automatic - fullRelay)
  const feelers = Math.min(FEELERS, automatic - fullRelay - blockRelay)
  const reserved = configured > 0 ? Math.min(configured, open) : fullRelay + blockRelay + feelers
  return {
    fullRelay,
    blockRelay,
    feelers,
    manual: maxPeers === 0 ? 0 : configured > 0 ? open : EXTRA_MANUAL,
    inbound: listening && maxPeers > 0 ? Math.min(maxInbound, Math.max(1, maxPeers - reserved)) : 0,
    total: maxPeers
  }
}

/** What the node has and wants. */
export interface SlotState {
  /** Connections by type, the ones that are being made included. */
  readonly open: ReadonlyMap<ConnectionType, number>
  /** The tip is stale: one more peer may know of a better chain. */
  readonly extraPeer: boolean
  /** It is time for another look at who has blocks. */
  readonly extraBlockRelay: boolean
  /** It is time to test an address. */
  readonly feeler: boolean
}

/** What kind of connection to open next. Source: upstream `net.cpp`, `ThreadOpenConnections`. */
export const nextConnection = (
  limits: SlotLimits,
  { extraBlockRelay, extraPeer, feeler, open }: SlotState
): "outbound-full-relay" | "block-relay-only" | "feeler" | undefined => {
  const [fullRelay, blockRelay, feelers] = (["outbound-full-relay", "block-relay-only", "feeler"] as const)
    .map((type) => open.get(type) ?? 0)
  if (fullRelay === undefined || blockRelay === undefined || feelers === undefined) return undefined
  if (fullRelay < limits.fullRelay) return "outbound-full-relay"
  if (blockRelay < limits.blockRelay) return "block-relay-only"
  // The one slot for short visits serves all of these.
  const visits = fullRelay - limits.fullRelay + blockRelay - limits.blockRelay + feelers
  if (visits >= limits.feelers) return undefined
  if (extraPeer) return "outbound-full-relay"
  if (extraBlockRelay) return "block-relay-only"
  return feeler ? "feeler" : undefined
}
