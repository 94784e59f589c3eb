import type { Peer } from "./Peer.ts"
import type { NetAddress } from "./wire/netAddress.ts"

/** How far a peer is, and what it is asked for. */
export interface PeerSync {
  /** Height of the last header that we have in common; -1 for none known. */
  readonly syncedHeaders: number
  /** Height of the last block that we have in common; -1 for none known. */
  readonly syncedBlocks: number
  /** Headers of its chain that were looked at while its work was too low to keep them; -1 where there is no such pass. */
  readonly presyncedHeaders: number
  /** Heights of the blocks that it was asked for. */
  readonly inFlight: ReadonlyArray<number>
  /** When it last gave us a block that was new, seconds since 1970; 0 for never. */
  readonly lastBlock: number
  /** Whether we chose it, and it chose us, to send compact blocks unasked. */
  readonly highBandwidthTo: boolean
  readonly highBandwidthFrom: boolean
}

/** How transactions go between a peer and us. */
export interface PeerRelay {
  /** Transactions that wait to be announced to it. */
  readonly toAnnounce: number
  /** Mempool sequence at the last announcement. */
  readonly lastSequence: number
  /** When it last gave us a transaction that was new, seconds since 1970; 0 for never. */
  readonly lastTransaction: number
}

/** Addresses that a peer sent. */
export interface PeerGossip {
  readonly enabled: boolean
  readonly processed: number
  readonly rateLimited: number
}

/** A peer with all that is known of it. */
export interface PeerInfo {
  readonly peer: Peer
  readonly sync: PeerSync
  readonly relay: PeerRelay
  readonly gossip: PeerGossip
}

/** An address that is not let in. */
export interface Ban {
  /** An address or a range, as `192.0.2.0/24`. */
  readonly subnet: string
  /** Seconds since 1970. */
  readonly created: number
  readonly until: number
}

/** An address that the node knows of. */
export interface KnownAddress {
  readonly address: NetAddress
  readonly port: number
  readonly services: bigint
  /** When somebody saw it last, seconds since 1970. */
  readonly time: number
}

/** A peer that the operator added. */
export interface AddedNode {
  /** As it was given. */
  readonly node: string
  readonly connected: { readonly address: string; readonly inbound: boolean } | undefined
}

/** An address of our own that others can reach. */
export interface LocalAddress {
  readonly address: string
  readonly port: number
  readonly score: number
}
