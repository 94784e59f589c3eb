import type * as Effect from "effect/Effect"
import type { PeerNotFound } from "./errors.ts"
import type { ConnectionType } from "./Peer.ts"
import type { AddedNode, Ban, KnownAddress, LocalAddress, PeerInfo } from "./peerInfo.ts"
import type { AddressNetwork } from "./wire/netAddress.ts"

/** What the node and its operator ask of the network: which peers there are, which may be, and how to change that. */
export interface PeerControl {
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
}
