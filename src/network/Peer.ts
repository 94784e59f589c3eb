import type * as Effect from "effect/Effect"
import type { MemoryAccount } from "../base/MemoryBudget.ts"
import type { Permission } from "../config/permissions.ts"
import type { PeerId } from "../protocol/keys.ts"
import type { BloomFilter } from "./relay/BloomFilter.ts"
import type { Message } from "./wire/message.ts"
import type { BlockStart } from "./wire/messages/block.ts"
import type { NetAddress } from "./wire/netAddress.ts"

/** Named as in the reference node's `getpeerinfo`. */
export type ConnectionType =
  | "inbound"
  | "manual"
  | "outbound-full-relay"
  | "block-relay-only"
  | "addr-fetch"
  | "feeler"

/** The operator's permissions (`-whitelist`, `-whitebind`), in the order of `getpeerinfo`. */
export type Permissions = ReadonlySet<Permission>

export const NO_PERMISSIONS: Permissions = new Set<Permission>()

/** Data from a peer's `version`, and features negotiated before `verack`. */
export interface Hello {
  /** The announced version, which decides the sizes of `headers` (reference/protocol.md 6.2). */
  readonly version: number
  /** The lower of both versions, which decides everything else. */
  readonly commonVersion: number
  readonly services: bigint
  /** Cleaned for display. */
  readonly userAgent: string
  readonly startHeight: number
  readonly relay: boolean
  readonly timeOffset: number
  readonly wtxidRelay: boolean
  readonly addrV2: boolean
  readonly ourAddress: { readonly address: NetAddress; readonly port: number } | undefined
}

export interface Features {
  sendHeaders: boolean
  /** Support for compact blocks, unsolicited in high-bandwidth mode (BIP 152). */
  compactBlocks: "none" | "low-bandwidth" | "high-bandwidth"
  /** Lowest fee rate to announce, in smallest units per kvB (BIP 133). */
  feeFilter: number
  relay: boolean
  /** Selects the transactions of announcements and filtered blocks (BIP 37). */
  bloom: BloomFilter | undefined
}

/** Message sizes include frame headers. */
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

/** Milliseconds; `undefined` before the first `pong`. */
export interface Latency {
  readonly last: number | undefined
  readonly best: number | undefined
  readonly waiting: number | undefined
}

export interface Disconnection {
  readonly reason: string
  /** Whether the peer broke the protocol (reference/protocol.md 6.11), so that its address is discouraged. */
  readonly misbehaving: boolean
}

/** A connection after the handshake. A slow peer delays only itself. */
export interface Peer {
  readonly id: PeerId
  readonly type: ConnectionType
  readonly inbound: boolean
  readonly address: NetAddress
  readonly port: number
  /** `address:port` in display form, or the name that the operator gave. */
  readonly name: string
  readonly permissions: Permissions
  readonly bind: string | undefined
  readonly connectedAt: number
  readonly hello: Hello
  readonly features: Features
  readonly traffic: Traffic
  readonly latency: Latency
  readonly closed: boolean
  /** Waits for room in the queue, for the fiber that handles the peer's messages. No-op once closed. */
  readonly send: (message: Message) => Effect.Effect<void>
  /** Waits until the peer has read most of its queue. Call it before reading a long answer from disk. */
  readonly ready: Effect.Effect<void>
  /** Does not wait, for fibers that serve many peers. Disconnects a peer whose queue is at its hard limit. */
  readonly post: (message: Message) => void
  /** Disconnects once; a misbehaving peer with the permission `noban` stays connected. */
  readonly disconnect: (disconnection: Disconnection) => void
  /** Memory held for data from the peer. Closed with the connection. */
  readonly memory: MemoryAccount
  /** Charges milliseconds of this thread outside the reading fiber; for `asked` data, only if `judged` finds it bad. */
  readonly spent: (milliseconds: number, asked?: boolean) => void
  /** Whether requested data was good. Otherwise charges the peer, and reads its outstanding answers at its pace. */
  readonly judged: (good: boolean) => void
  /** Gives other peers a turn in the handling fiber. Charges the time so far and waits for it first. */
  readonly turn: Effect.Effect<void>
}

export interface PeerHandler {
  /** Runs before any message. Must not wait for anything that needs the peer. */
  readonly connected: (peer: Peer) => Effect.Effect<void>
  /** Whether to decode a `block` or `cmpctblock`, judging by the bytes before its transactions. */
  readonly screened?: (peer: Peer, start: BlockStart) => Effect.Effect<boolean>
  /** Waits, for a bounded time, until earlier data of the peer has its effect. A `pong` waits for it. */
  readonly settled?: (peer: Peer) => Effect.Effect<void>
  /** Runs last, and once. */
  readonly gone: (peer: Peer) => Effect.Effect<void>
}
