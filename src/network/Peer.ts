import type * as Effect from "effect/Effect"
import type { Account } from "../base/MemoryBudget.ts"
import type { Message } from "./wire/message.ts"
import type { BlockStart } from "./wire/messages/block.ts"
import type { NetAddress } from "./wire/netAddress.ts"

/** Why there is a connection; the words are those of the reference node's `getpeerinfo`. */
export type ConnectionType =
  | "inbound"
  | "manual"
  | "outbound-full-relay"
  | "block-relay-only"
  | "addr-fetch"
  | "feeler"

/** What a peer said of itself in its `version`, and what was agreed before `verack`. */
export interface Hello {
  /** What it announced: decides on the sizes of `headers` (reference/protocol.md 6.2). */
  readonly version: number
  /** The lower of its version and ours: decides on everything else. */
  readonly commonVersion: number
  /** Bits of `Services`. */
  readonly services: bigint
  /** Fit to be shown. */
  readonly userAgent: string
  readonly startHeight: number
  /** Whether it wants transactions announced. */
  readonly relay: boolean
  /** Its clock less ours at the handshake, seconds. */
  readonly timeOffset: number
  /** Both sides announce transactions by wtxid (BIP 339). */
  readonly wtxidRelay: boolean
  /** It wants `addrv2` (BIP 155). */
  readonly addrV2: boolean
  /** Our address as it sees it. */
  readonly ourAddress: { readonly address: NetAddress; readonly port: number } | undefined
}

/** What a peer asked for since. */
export interface Features {
  /** It wants new blocks announced by `headers` (BIP 130). */
  sendHeaders: boolean
  /** Whether it speaks compact blocks, and wants them without being asked first (BIP 152). */
  compactBlocks: "none" | "low-bandwidth" | "high-bandwidth"
  /** Least fee rate that it wants announced, smallest units a kvB (BIP 133). */
  feeFilter: number
}

/** Bytes and messages of one connection, frames with their headers. */
export interface Traffic {
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Seconds since 1970; 0 for never. */
  readonly lastSend: number
  readonly lastReceive: number
  /** Bytes by command; what we do not know is under `*other*`. */
  readonly sentByCommand: ReadonlyMap<string, number>
  readonly receivedByCommand: ReadonlyMap<string, number>
}

/** Round trips of `ping`, milliseconds; `undefined` as long as there was none. */
export interface Latency {
  readonly last: number | undefined
  readonly best: number | undefined
  /** How long the ping that is under way has been waiting. */
  readonly waiting: number | undefined
}

/** Why a connection ends. */
export interface Disconnection {
  /** For the log and for errors; words of our own. */
  readonly reason: string
  /** Whether the peer broke the rules (reference/protocol.md 6.11): then its address is discouraged. */
  readonly misbehaving: boolean
}

/**
 * A connection whose handshake is complete. Messages come from one fiber, which waits for whoever handles them; they go
 * through a bounded queue to another fiber. So a slow peer slows itself.
 */
export interface Peer {
  /** Counts connections, upwards from 0. */
  readonly id: number
  readonly type: ConnectionType
  readonly inbound: boolean
  /** Where it is. */
  readonly address: NetAddress
  readonly port: number
  /** `address:port` as people write it, or what the operator called. */
  readonly name: string
  /** Our end of the connection, as `address:port`. */
  readonly bind: string | undefined
  /** Seconds since 1970. */
  readonly connectedAt: number
  readonly hello: Hello
  readonly features: Features
  readonly traffic: Traffic
  readonly latency: Latency
  /** Whether `disconnect` was called or the connection is gone. */
  readonly closed: boolean
  /**
   * Queues a message when there is room: for answers, from the fiber that handles the peer's messages. Returns without
   * a word where the connection is over.
   */
  readonly send: (message: Message) => Effect.Effect<void>
  /**
   * Waits until the peer has read most of what was queued for it: before a long answer is read from disk, which nobody
   * but this peer will want.
   */
  readonly ready: Effect.Effect<void>
  /**
   * Queues a message without waiting: for fibers that serve many peers, and for what must not be held up by one. A peer that is so far behind that its
   * queue has reached its hard limit is disconnected.
   */
  readonly post: (message: Message) => void
  /** Ends the connection, soon and once. */
  readonly disconnect: (disconnection: Disconnection) => void
  /** Where memory is counted that is held because of what the peer sent. Closed with the connection. */
  readonly memory: Account
  /**
   * Charges the peer for time that its messages took in other fibers than the one that reads from it, which is measured
   * anyway: milliseconds of this thread, as measured. What the peer was `asked` for is on trust, as there.
   */
  readonly spent: (milliseconds: number, asked?: boolean) => void
  /**
   * Tells what came of blocks or headers that the peer was asked for. The time that they took is on trust until then: it
   * is charged to the peer where they are refused or nothing new, and what it still owes is read at its pace.
   */
  readonly judged: (good: boolean) => void
  /**
   * Lets others have their turn within work on a message of the peer that takes long, in the fiber that handles it. What
   * was taken is charged before, and waited for as between two messages.
   */
  readonly turn: Effect.Effect<void>
}

/** What a peer did that a whole part of the node is to hear of. */
export interface PeerHandler {
  /** Comes before any message. Does not wait for anything that needs the peer. */
  readonly connected: (peer: Peer) => Effect.Effect<void>
  /** Runs in the fiber that reads from the peer: waiting here slows this peer and nobody else. */
  readonly received: (peer: Peer, message: Message) => Effect.Effect<void>
  /**
   * Whether a `block` or `cmpctblock` is worth decoding, by what stands in front of its transactions. False: the message
   * is dropped.
   */
  readonly screened?: (peer: Peer, type: "block" | "cmpctblock", start: BlockStart) => Effect.Effect<boolean>
  /** Comes last, and once. */
  readonly gone: (peer: Peer) => Effect.Effect<void>
}
