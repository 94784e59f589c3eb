import * as Effect from "effect/Effect"
import type { Message } from "../wire/message.ts"
import { Asked } from "./Asked.ts"
import type { Pace, PeerPace } from "./Pace.ts"

/**
 * Milliseconds that a message is taken to cost beside what is measured: its part of reading from the socket, and of
 * collecting what it leaves in memory.
 */
export const UNSEEN_COST = 0.05

/** The same for each unsolicited byte: the time in which the kernel and libuv copy it cannot be measured here. */
const UNSEEN_BYTE_COST = 1 / 1_000_000

/**
 * Most milliseconds that a handshake costs its peer. It may take longer for reasons that are not the peer's: a program that
 * has just begun, a collection of garbage.
 */
const MOST_GREETING = 5

/**
 * When more is read of a peer: what it was asked for at once, everything else at the pace of peers who called us. Times
 * are milliseconds of a clock that does not go back.
 */
export class Intake {
  readonly asked = new Asked()
  private readonly all: Pace
  private readonly group: string
  private readonly now: () => number
  private pace: PeerPace | undefined
  /** Milliseconds that the handshake may be charged with yet. */
  private greeting = MOST_GREETING
  /** Milliseconds that went into answers, and that may be charged yet. */
  private trusted = 0

  /** @param group the network group of the peer's address: what its peers owe outlives their connections. */
  constructor(all: Pace, group: string, now: () => number) {
    this.all = all
    this.group = group
    this.now = now
  }

  /** Runs something while the peer is held to the pace. */
  readonly paced = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        this.pace = this.all.join(this.now(), this.group)
      }),
      () => effect,
      () => Effect.sync(() => this.pace?.leave(this.now()))
    )

  /** Notes a message of ours. */
  asks(message: Message): void {
    this.asked.sent(message, this.now())
  }

  /** Whether the peer owes us an answer that its next bytes may belong to. */
  get expects(): boolean {
    return this.asked.bytes(this.now()) > 0
  }

  /** Notes bytes that came. Returns whether all of them may be part of answers; where not, they cost the peer. */
  arrived(size: number): boolean {
    const expected = this.asked.arrived(size, this.now())
    if (!expected) this.spent(size * UNSEEN_BYTE_COST)
    return expected
  }

  /** Notes time that went into something that nobody asked for. */
  spent(milliseconds: number): void {
    this.pace?.spent(milliseconds, this.now())
  }

  /** Notes time that went into the handshake: the same work for every peer, so that more than that is chance. */
  greeted(milliseconds: number): void {
    const charged = Math.min(milliseconds, this.greeting)
    this.greeting -= charged
    this.spent(charged)
  }

  /** Notes time that went into what the peer was asked for: its own, until the chain says what it is worth. */
  trusts(milliseconds: number): void {
    this.trusted += milliseconds
  }

  /** Notes what came of what the peer was asked for: where that is worth nothing, its time is the peer's. */
  judged(good: boolean): void {
    const { trusted } = this
    this.trusted = 0
    if (good) return
    this.asked.distrust()
    this.spent(trusted)
  }

  /** Notes a frame that came; `undefined` where it is left out. Returns whether it was unsolicited. */
  uncalled(message: Message | undefined): boolean {
    if (message !== undefined && this.asked.answered(message, this.now())) return false
    this.spent(UNSEEN_COST)
    return true
  }

  /**
   * Waits while too much time goes into what the peer sends and nobody asked for. `ended` returns when the peer sends no
   * more. Returns whether it does.
   */
  due(ended: Effect.Effect<void>): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const wait = this.pace?.wait(this.now()) ?? 0
      if (wait === 0) return Effect.succeed(true)
      return Effect.raceFirst(Effect.as(Effect.sleep(wait), true), Effect.as(ended, false)).pipe(
        Effect.ensuring(Effect.sync(() => this.pace?.goOn(this.now()))),
        // The wait may have been a part of it.
        Effect.flatMap((waited) => waited ? this.due(ended) : Effect.succeed(false))
      )
    })
  }
}
