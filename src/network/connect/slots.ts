import type { ConnectionType } from "../Peer.ts"

export interface SlotLimits {
  readonly fullRelay: number
  readonly blockRelay: number
  readonly feelers: number
  readonly manual: number
  readonly inbound: number
  readonly total: number
}

const FULL_RELAY = 8
const BLOCK_RELAY = 2
const FEELERS = 1

/** Manual connections beyond the limits, on a node that also finds peers by itself (upstream, `addnode`). */
const EXTRA_MANUAL = 8

export interface SlotOptions {
  readonly maxPeers: number
  readonly maxInbound: number
  readonly maxOutbound: number
  readonly listening: boolean
  /** Configured peers. If there are any, the node connects to no others. */
  readonly configured: number
}

/** If the node listens, at least one slot is for inbound peers. */
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

export interface SlotState {
  /** By type, including connections being opened. */
  readonly open: ReadonlyMap<ConnectionType, number>
  /** The tip is stale: one more peer may have a better chain. */
  readonly extraPeer: boolean
  readonly extraBlockRelay: boolean
  readonly feeler: boolean
}

/** Source: upstream `net.cpp`, `ThreadOpenConnections`. */
export const nextConnection = (
  limits: SlotLimits,
  { extraBlockRelay, extraPeer, feeler, open }: SlotState
): "outbound-full-relay" | "block-relay-only" | "feeler" | undefined => {
  const [fullRelay, blockRelay, feelers] = (["outbound-full-relay", "block-relay-only", "feeler"] as const)
    .map((type) => open.get(type) ?? 0)
  if (fullRelay === undefined || blockRelay === undefined || feelers === undefined) return undefined
  if (fullRelay < limits.fullRelay) return "outbound-full-relay"
  if (blockRelay < limits.blockRelay) return "block-relay-only"
  // Extra and feeler connections share one slot.
  const visits = fullRelay - limits.fullRelay + blockRelay - limits.blockRelay + feelers
  if (visits >= limits.feelers) return undefined
  if (extraPeer) return "outbound-full-relay"
  if (extraBlockRelay) return "block-relay-only"
  return feeler ? "feeler" : undefined
}
