import type * as Effect from "effect/Effect"
import type { ProxiedNetwork } from "../config/proxies.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { HeaderId, PeerId } from "../protocol/keys.ts"
import type { BookPlace } from "./addresses/BookTables.ts"
import type { PeerNotFound } from "./errors.ts"
import type { ConnectionType } from "./Peer.ts"
import type { UploadState } from "./peer/UploadTarget.ts"
import type { AddedNode, Ban, KnownAddress, LocalAddress, PeerInfo } from "./peerInfo.ts"
import type { StoredOrphan } from "./relay/Orphanage.ts"
import type { FetchOutcome } from "./sync/directFetch.ts"
import type { AddressNetwork } from "./wire/netAddress.ts"

export interface PeerControl {
  readonly peers: Effect.Effect<ReadonlyArray<PeerInfo>>
  readonly count: Effect.Effect<{ readonly inbound: number; readonly outbound: number }>
  /** Includes closed connections. */
  readonly totals: Effect.Effect<{ readonly sent: number; readonly received: number }>
  readonly relaysTransactions: boolean
  readonly upload: Effect.Effect<UploadState>
  readonly networks: ReadonlySet<AddressNetwork>
  readonly services: bigint
  readonly userAgent: string
  /** `host:port`, or `unix:` and a path. */
  readonly proxyTo: (
    network: ProxiedNetwork
  ) => { readonly address: string; readonly randomize: boolean } | undefined
  readonly localAddresses: Effect.Effect<ReadonlyArray<LocalAddress>>
  readonly active: Effect.Effect<boolean>
  readonly setActive: (active: boolean) => Effect.Effect<void>
  /** Does not wait for the connection. */
  readonly connectOnce: (node: string, type?: Exclude<ConnectionType, "inbound">) => Effect.Effect<void>
  /** Adds a peer to reconnect to after each disconnection. False if it was already added. */
  readonly add: (node: string) => Effect.Effect<boolean>
  readonly remove: (node: string) => Effect.Effect<boolean>
  readonly added: Effect.Effect<ReadonlyArray<AddedNode>>
  readonly disconnect: (which: { readonly name: string } | { readonly id: number }) => Effect.Effect<void, PeerNotFound>
  readonly ping: Effect.Effect<void>
  /** For tests: sends any message to a peer. False if there is no such peer. */
  readonly sendRaw: (
    id: number,
    message: { readonly command: string; readonly payload: Bytes }
  ) => Effect.Effect<boolean>
  readonly fetchBlock: (peer: PeerId, header: HeaderId) => Effect.Effect<FetchOutcome>
  readonly bookPlaces: Effect.Effect<ReadonlyArray<BookPlace>>
  readonly orphans: Effect.Effect<ReadonlyArray<StoredOrphan>>
  readonly ban: (subnet: string, until: number) => Effect.Effect<"banned" | "already" | "invalid">
  readonly unban: (subnet: string) => Effect.Effect<"unbanned" | "unknown" | "invalid">
  readonly bans: Effect.Effect<ReadonlyArray<Ban>>
  readonly clearBans: Effect.Effect<void>
  /** Random known addresses that are not too old; all if `count` is 0. */
  readonly addresses: (count: number, network?: AddressNetwork) => Effect.Effect<ReadonlyArray<KnownAddress>>
  /** Adds an address as if the peer itself had announced it. Tried ones count as having answered. */
  readonly learn: (
    known: Pick<KnownAddress, "address" | "port">,
    table: "new" | "tried"
  ) => Effect.Effect<"added" | "not new" | "not tried">
  readonly addressCounts: Effect.Effect<
    ReadonlyMap<AddressNetwork, { readonly fresh: number; readonly tried: number }>
  >
  /** Whether peers are configured or can be found but none has answered. */
  readonly lonely: Effect.Effect<boolean>
}
