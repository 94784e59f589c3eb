import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Budget } from "../base/MemoryBudget.ts"
import { make } from "./connect/manager.ts"
import type { PeerManagerOptions } from "./connect/net.ts"
import type { ListenFailed, PeerNotFound } from "./errors.ts"
import type { ConnectionType, Peer } from "./Peer.ts"
import type { PeerHandlers } from "./PeerHandlers.ts"
import type { AddressNetwork, NetAddress } from "./wire/netAddress.ts"

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

/** The network: who we are connected to, who may be, and how to change that. */
export class PeerManager extends Context.Tag("svcd/PeerManager")<PeerManager, {
  /** Peers whose handshake is complete, by id. */
  readonly peers: Effect.Effect<ReadonlyArray<PeerInfo>>
  readonly count: Effect.Effect<{ readonly inbound: number; readonly outbound: number }>
  /** Bytes of all connections since the start, the ended ones included. */
  readonly totals: Effect.Effect<{ readonly sent: number; readonly received: number }>
  /** Bits of `Services` that we announce. */
  readonly services: bigint
  /** What we announce as our user agent. */
  readonly userAgent: string
  /** The proxy that connections go through, as `host:port`. */
  readonly proxy: string | undefined
  readonly localAddresses: Effect.Effect<ReadonlyArray<LocalAddress>>
  readonly active: Effect.Effect<boolean>
  /** Ends all connections and makes no new ones while it is off. */
  readonly setActive: (active: boolean) => Effect.Effect<void>
  /** Calls a peer once, as one of the operator's or of another type. Returns before it answers, and whether it does. */
  readonly connectOnce: (node: string, type?: Exclude<ConnectionType, "inbound">) => Effect.Effect<void>
  /** Calls a peer, and again whenever it went away. False where it was added already. */
  readonly add: (node: string) => Effect.Effect<boolean>
  /** Takes that back; the connection stays. False where it was not added. */
  readonly remove: (node: string) => Effect.Effect<boolean>
  readonly added: Effect.Effect<ReadonlyArray<AddedNode>>
  readonly disconnect: (which: { readonly name: string } | { readonly id: number }) => Effect.Effect<void, PeerNotFound>
  /** Asks every peer for a `pong` now. */
  readonly ping: Effect.Effect<void>
  /** Bans an address or range and disconnects who is in it; false where it is banned already, or is no address. */
  readonly ban: (subnet: string, until: number) => Effect.Effect<"banned" | "already" | "invalid">
  readonly unban: (subnet: string) => Effect.Effect<"unbanned" | "unknown" | "invalid">
  readonly bans: Effect.Effect<ReadonlyArray<Ban>>
  readonly clearBans: Effect.Effect<void>
  /** Addresses that are known and not too old, at random; all where `count` is 0. */
  readonly addresses: (count: number, network?: AddressNetwork) => Effect.Effect<ReadonlyArray<KnownAddress>>
  readonly addressCounts: Effect.Effect<
    ReadonlyMap<AddressNetwork, { readonly fresh: number; readonly tried: number }>
  >
  /** Whether peers are configured or to be found, and none has answered so far. */
  readonly lonely: Effect.Effect<boolean>
}>() {}

/**
 * Listens and calls as the options say, as long as the layer lives. When it is released the port is free first; then
 * all connections end, without a word to anybody.
 */
export const layer = (
  options: PeerManagerOptions
): Layer.Layer<PeerManager, ListenFailed, PeerHandlers | Budget> => Layer.scoped(PeerManager, make(options))
