import type { Peer } from "./Peer.ts"
import type { NetAddress } from "./wire/netAddress.ts"

export interface PeerSync {
  /** Height of the last common header; -1 if unknown. */
  readonly syncedHeaders: number
  /** Height of the last common block; -1 if unknown. */
  readonly syncedBlocks: number
  /** Headers checked while the peer's chain had too little work to store them; -1 if no such pass runs. */
  readonly presyncedHeaders: number
  readonly inFlight: ReadonlyArray<number>
  /** When the peer last sent a new block, seconds since 1970; 0 for never. */
  readonly lastBlock: number
  /** Whether each side selected the other to send compact blocks unsolicited. */
  readonly highBandwidthTo: boolean
  readonly highBandwidthFrom: boolean
}

export interface PeerRelay {
  readonly toAnnounce: number
  /** Mempool sequence at the last announcement. */
  readonly lastSequence: number
  /** When the peer last sent a new transaction, seconds since 1970; 0 for never. */
  readonly lastTransaction: number
}

export interface PeerGossip {
  readonly enabled: boolean
  readonly processed: number
  readonly rateLimited: number
}

export interface PeerInfo {
  readonly peer: Peer
  readonly sync: PeerSync
  readonly relay: PeerRelay
  readonly gossip: PeerGossip
}

export interface Ban {
  /** An address or a range, as `192.0.2.0/24`. */
  readonly subnet: string
  readonly created: number
  readonly until: number
}

export interface KnownAddress {
  readonly address: NetAddress
  readonly port: number
  readonly services: bigint
  /** When it was last seen, as reported by peers, seconds since 1970. */
  readonly time: number
}

export interface AddedNode {
  readonly node: string
  readonly connected: { readonly address: string; readonly inbound: boolean } | undefined
}

export interface LocalAddress {
  readonly address: string
  readonly port: number
  readonly score: number
}
