import type * as Effect from "effect/Effect"
import type { MemoryAccount } from "../base/MemoryBudget.ts"
import type { Permission } from "../config/permissions.ts"
import type { PeerId } from "../protocol/keys.ts"
import type { BloomFilter } from "./relay/BloomFilter.ts"
import type { Message } from "./wire/message.ts"
import type { BlockStart } from "./wire/messages/block.ts"
import type { NetAddress } from "./wire/netAddress.ts"

/** Types of connections, named as in the reference node's `getpeerinfo`. */
export type ConnectionType =
  | "inbound"
  | "manual"
  | "outbound-full-relay"
  | "block-relay-only"
  | "addr-fetch"
  | "feeler"

/** The operator's permissions for a peer (`-whitelist`, `-whitebind`), in the order of `getpeerinfo`. */
export type Permissions = ReadonlySet<Permission>

export const NO_PERMISSIONS: Permissions = new Set<Permission>()

/** Data from a peer's `version`, and features negotiated before `verack`. */
export interface Hello {
  /** The peer's announced version, which decides the sizes of `headers` (reference/protocol.md 6.2). */
  readonly version: number
  /** The lower of the peer's version and ours, which decides everything else. */
  readonly commonVersion: number
  /** Bits of `Services`. */
  readonly services: bigint
  /** Cleaned for display. */
  readonly userAgent: string
  readonly startHeight: number
  /** Whether the peer wants transactions announced. */
  readonly relay: boolean
  /** The peer's clock minus ours at the handshake, seconds. */
  readonly timeOffset: number
  /** Both sides announce transactions by wtxid (BIP 339). */
  readonly wtxidRelay: boolean
  /** The peer wants `addrv2` (BIP 155). */
  readonly addrV2: boolean
  /** Our address as the peer sees it. */
  readonly ourAddress: { readonly address: NetAddress; readonly port: number } | undefined
}

/** Features that a peer requested, most after the handshake. */
export interface Features {
  /** The peer wants new blocks announced by `headers` (BIP 130). */
  sendHeaders: boolean
  /** Whether the peer supports compact blocks, and wants them unsolicited (BIP 152). */
  compactBlocks: "none" | "low-bandwidth" | "high-bandwidth"
  /** Lowest fee rate that the peer wants announced, smallest units per kvB (BIP 133). */
  feeFilter: number
  /** Whether the peer wants transactions announced; from its `version` on. */
  relay: boolean
  /** Which transactions to announce and to send with filtered blocks (BIP 37). */
  bloom: BloomFilter | undefined
}

/** Byte and message counts of one connection. Message sizes include frame headers. */
export interface Traffic {
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Seconds since 1970; 0 for never. */
  readonly lastSend: number
  readonly lastReceive: number
  /** Bytes by command; `*other*` for unknown ones. */
  readonly sentByCommand: ReadonlyMap<string, number>
  readonly receivedByCommand: ReadonlyMap<string, number>
}

/** Round trips of `ping`, milliseconds; `undefined` before the first `pong`. */
export interface Latency {
  readonly last: number | undefined
  readonly best: number | undefined
  /** How long the current ping has waited for its answer. */
  readonly waiting: number | undefined
}

export interface Disconnection {
  /** For logs and errors, in our own words. */
  readonly reason: string
  /** Whether the peer broke the protocol (reference/protocol.md 6.11). Its address is then discouraged. */
  readonly misbehaving: boolean
}

/**
 * A connection with a complete handshake. One fiber reads messages and waits for their handlers, another sends from a
 * bounded queue, so a slow peer delays only itself.
 */
export interface Peer {
  readonly id: PeerId
  readonly type: ConnectionType
  readonly inbound: boolean
  readonly address: NetAddress
  readonly port: number
  /** `address:port` in display form, or the name that the operator gave. */
  readonly name: string
  readonly permissions: Permissions
  /** The local end of the connection, as `address:port`. */
  readonly bind: string | undefined
  readonly connectedAt: number
  readonly hello: Hello
  readonly features: Features
  readonly traffic: Traffic
  readonly latency: Latency
  /** Whether `disconnect` was called or the connection has ended. */
  readonly closed: boolean
  /** Queues a message once there is room, for the fiber that handles the peer's messages. No-op once closed. */
  readonly send: (message: Message) => Effect.Effect<void>
  /** Waits until the peer has read most of its queue. Call it before reading a long answer from disk. */
  readonly ready: Effect.Effect<void>
  /**
   * Queues a message without waiting, for fibers that serve many peers. Disconnects a peer whose queue has reached its
   * hard limit.
   */
  readonly post: (message: Message) => void
  /** Disconnects the peer, soon and once; a misbehaving peer with the permission `noban` stays connected. */
  readonly disconnect: (disconnection: Disconnection) => void
  /** Counts memory held for data from the peer. Closed with the connection. */
  readonly memory: MemoryAccount
  /**
   * Charges the peer for milliseconds that its messages took on this thread outside its reading fiber. Time for `asked`
   * (requested) data is on trust.
   */
  readonly spent: (milliseconds: number, asked?: boolean) => void
  /**
   * Reports whether requested blocks or headers were good. If they were refused or brought nothing new, the peer is
   * charged for their time, and its outstanding answers are read at its pace.
   */
  readonly judged: (good: boolean) => void
  /**
   * Gives other peers a turn during long work on a message, in the fiber that handles it. Charges the time so far and
   * waits for it first.
   */
  readonly turn: Effect.Effect<void>
}

/** Peer events for a part of the node. Messages go through `messageTable.ts`. */
export interface PeerHandler {
  /** Runs before any message. Must not wait for anything that needs the peer. */
  readonly connected: (peer: Peer) => Effect.Effect<void>
  /** Whether to decode a `block` or `cmpctblock`, judging by the bytes before its transactions. False drops it. */
  readonly screened?: (peer: Peer, start: BlockStart) => Effect.Effect<boolean>
  /** Waits for a bounded time until what the peer sent before has its effect. A `pong` waits for it. */
  readonly settled?: (peer: Peer) => Effect.Effect<void>
  /** Runs last, and once. */
  readonly gone: (peer: Peer) => Effect.Effect<void>
}
