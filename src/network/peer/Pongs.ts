import * as Effect from "effect/Effect"
import type { Peer, PeerHandler } from "../Peer.ts"

/** The most pings of a peer that wait for their answers while the peer is read. */
const MOST_WAITING = 16

/** Answers a peer's pings once what it sent before has its effect, reading on meanwhile. */
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
