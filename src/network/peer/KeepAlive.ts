import * as Effect from "effect/Effect"
import type { Disconnection, Latency, Peer, PeerHandler } from "../Peer.ts"

const MOST_WAITING = 16

/** Answers a peer's pings once its earlier data has its effect, reading on meanwhile. */
export class Pongs {
  private readonly handlers: ReadonlyArray<PeerHandler>
  private waiting = 0

  constructor(handlers: ReadonlyArray<PeerHandler>) {
    this.handlers = handlers
  }

  answer(peer: Peer, nonce: bigint): Effect.Effect<void> {
    const pong = { type: "pong", nonce } as const
    const settled = this.handlers.flatMap((handler) => handler.settled === undefined ? [] : [handler.settled(peer)])
    if (settled.length === 0) return peer.send(pong)
    const answered = Effect.zipRight(
      Effect.all(settled, { discard: true }),
      Effect.sync(() => {
        this.waiting--
        peer.post(pong)
      })
    )
    return this.waiting++ < MOST_WAITING ? Effect.asVoid(Effect.fork(answered)) : answered
  }
}

/** Milliseconds (reference/protocol.md 6.5; upstream `net.h`, `net_processing.cpp`). */
export const PING_INTERVAL = 2 * 60_000
export const SILENCE_LIMIT = 20 * 60_000

const fallenSilent = (reason: string): Disconnection => ({ reason, misbehaving: false })

export type Due =
  | { readonly type: "ping" }
  | { readonly type: "disconnection"; readonly disconnection: Disconnection }
  | { readonly type: "wait"; readonly until: number }

/** Monotonic milliseconds. */
export class KeepAlive {
  /** Since protocol version 60001. */
  private readonly answers: boolean
  private readonly silentFrom: number
  private lastSend: number
  private lastReceive: number
  private lastPing: number | undefined
  private waiting: { readonly nonce: bigint; readonly since: number } | undefined
  private last: number | undefined
  private best: number | undefined

  /** The peer never counts as silent before `silentFrom`. */
  constructor(now: number, answers: boolean, silentFrom = now) {
    this.answers = answers
    this.silentFrom = silentFrom
    this.lastSend = now
    this.lastReceive = now
  }

  sent(now: number): void {
    this.lastSend = now
  }

  received(now: number): void {
    this.lastReceive = now
  }

  pinged(nonce: bigint, now: number): void {
    this.lastPing = now
    if (this.answers) this.waiting = { nonce, since: now }
  }

  /**
   * Ignores other nonces. A `pong` without a nonce ends the wait unmeasured: old nodes answer so (upstream
   * `net_processing.cpp`, `PONG`).
   */
  ponged(nonce: bigint | undefined, now: number): void {
    if (nonce === undefined || nonce === 0n) this.waiting = undefined
    if (this.waiting === undefined || this.waiting.nonce !== nonce) return
    this.last = now - this.waiting.since
    this.best = Math.min(this.best ?? this.last, this.last)
    this.waiting = undefined
  }

  latency(now: number): Latency {
    return { last: this.last, best: this.best, waiting: this.waiting && now - this.waiting.since }
  }

  due(now: number): Due {
    const nextPing = this.waiting === undefined ? (this.lastPing ?? -Infinity) + PING_INTERVAL : Infinity
    const deadlines: ReadonlyArray<readonly [at: number, reason: string]> = [
      [(this.waiting?.since ?? Infinity) + SILENCE_LIMIT, "timeout: no pong for 20 minutes"],
      [this.lastReceive + SILENCE_LIMIT, "timeout: nothing received for 20 minutes"],
      [this.lastSend + SILENCE_LIMIT, "timeout: nothing could be sent for 20 minutes"]
    ]
    for (const [at, reason] of deadlines) {
      if (now >= Math.max(at, this.silentFrom)) return { type: "disconnection", disconnection: fallenSilent(reason) }
    }
    if (now >= nextPing) return { type: "ping" }
    return { type: "wait", until: Math.min(nextPing, ...deadlines.map(([at]) => Math.max(at, this.silentFrom))) }
  }
}
