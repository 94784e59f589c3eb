import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HeaderId, PeerId } from "../protocol/keys.ts"
import type { AddressStore } from "./addresses/AddressStore.ts"
import type { MessageTable } from "./messageTable.ts"
import type { Peer, PeerHandler } from "./Peer.ts"
import type { UploadTarget } from "./peer/UploadTarget.ts"
import type { PeerInfo } from "./peerInfo.ts"
import type { StoredOrphan } from "./relay/Orphanage.ts"
import type { FetchOutcome } from "./sync/directFetch.ts"

export class PeerHandlers extends Context.Tag("svcd/PeerHandlers")<PeerHandlers, {
  /** Order in which each handler receives every peer. */
  readonly handlers: ReadonlyArray<PeerHandler>
  readonly messages: MessageTable
  readonly store: AddressStore
  /** Known of a peer even before `connected` and after `gone`. */
  readonly info: (peer: Peer) => Omit<PeerInfo, "peer">
  /** Seconds since 1970; 0 for never. */
  readonly lastAnnouncement: (peer: Peer) => number
  readonly fetchBlock: (peer: PeerId, header: HeaderId) => Effect.Effect<FetchOutcome>
  readonly orphans: () => ReadonlyArray<StoredOrphan>
  readonly services: () => bigint
  readonly upload: UploadTarget
  readonly startHeight: () => number
  /** Whether our tip is recent, so that peers without old blocks suffice (reference/protocol.md 6.3). */
  readonly nearTip: () => boolean
  /** Whether the tip is stale, so that one more peer may have a better chain (reference/protocol.md 6.10). */
  readonly needExtraPeer: () => boolean
}>() {}
