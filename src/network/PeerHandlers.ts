import * as Context from "effect/Context"
import type { AddressStore } from "./addresses/AddressStore.ts"
import type { Peer, PeerHandler } from "./Peer.ts"
import type { PeerInfo } from "./peerInfo.ts"

/** What the network asks the rest of the node: who handles messages, and how the node is. */
export class PeerHandlers extends Context.Tag("svcd/PeerHandlers")<PeerHandlers, {
  /** Each hears of every peer and every message, in this order. */
  readonly handlers: ReadonlyArray<PeerHandler>
  /** Where peers may be, who is banned, and what of that outlives the node. */
  readonly store: AddressStore
  /** What the handlers know of a peer; also of one that they have not heard of yet, or hear of no longer. */
  readonly info: (peer: Peer) => Omit<PeerInfo, "peer">
  /** When a peer last announced a block that was ahead of us, seconds since 1970; 0 for never. */
  readonly lastAnnouncement: (peer: Peer) => number
  /** What this node offers just now. */
  readonly services: () => bigint
  /** The height that we announce. */
  readonly startHeight: () => number
  /** Whether our tip is recent: then peers without old blocks are good enough (reference/protocol.md 6.3). */
  readonly nearTip: () => boolean
  /** Whether the tip is stale, so that one more peer may know of a better chain (reference/protocol.md 6.10). */
  readonly needExtraPeer: () => boolean
}>() {}
