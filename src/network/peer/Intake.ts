import * as Effect from "effect/Effect"
import type { Message } from "../wire/message.ts"
import { Asked } from "./Asked.ts"
import type { Pace, PeerPace } from "./Pace.ts"

/** Unmeasured milliseconds of a message: its share of socket reads and garbage collection. */
export const UNSEEN_COST = 0.05

/** Unmeasured cost of an unsolicited byte: copying in the kernel and libuv. */
const UNSEEN_BYTE_COST = 1 / 1_000_000

/** In milliseconds. More is not the peer's fault: a cold program, garbage collection. */
const MOST_GREETING = 5

/** Reads requested data at once, the rest at the pace of inbound peers. Monotonic milliseconds. */
export class Intake {
  readonly asked = new Asked()
  private readonly all: Pace
  private readonly group: string
  private readonly now: () => number
  private pace: PeerPace | undefined
  private greeting = MOST_GREETING
  /** Milliseconds spent on answers, which may still be charged. */
  private trusted = 0

  /** @param group the network group of the peer's address. Debts outlive connections. */
  constructor(all: Pace, group: string, now: () => number) {
    this.all = all
    this.group = group
    this.now = now
  }

  readonly paced = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        this.pace = this.all.join(this.now(), this.group)
      }),
      () => effect,
      () => Effect.sync(() => this.pace?.leave(this.now()))
    )

  asks(message: Message): void {
    this.asked.sent(message, this.now())
  }

  get expects(): boolean {
    return this.asked.bytes(this.now()) > 0
  }

  /** Returns whether all received bytes may be part of answers; otherwise they are charged. */
  arrived(size: number): boolean {
    const expected = this.asked.arrived(size, this.now())
    if (!expected) this.spent(size * UNSEEN_BYTE_COST)
    return expected
  }

  spent(milliseconds: number): void {
    this.pace?.spent(milliseconds, this.now())
  }

  /** For the handshake, whose work is equal for all peers, so excess is not the peer's fault. */
  greeted(milliseconds: number): void {
    const charged = Math.min(milliseconds, this.greeting)
    this.greeting -= charged
    this.spent(charged)
  }

  /** For requested data, charged only if `judged` reports it as bad. */
  trusts(milliseconds: number): void {
    this.trusted += milliseconds
  }

  judged(good: boolean): void {
    const { trusted } = this
    this.trusted = 0
    if (good) return
    this.asked.distrust()
    this.spent(trusted)
  }

  /** Records a received frame; `undefined` for a dropped one. Returns whether it was unsolicited. */
  uncalled(message: Message | undefined): boolean {
    if (message !== undefined && this.asked.answered(message, this.now())) return false
    this.spent(UNSEEN_COST)
    return true
  }

  /** Waits while unsolicited data takes too much time, or until `ended`. Returns whether the peer still sends. */
  due(ended: Effect.Effect<void>): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const wait = this.pace?.wait(this.now()) ?? 0
      if (wait === 0) return Effect.succeed(true)
      return Effect.raceFirst(Effect.as(Effect.sleep(wait), true), Effect.as(ended, false)).pipe(
        Effect.ensuring(Effect.sync(() => this.pace?.goOn(this.now()))),
        Effect.flatMap((waited) => waited ? this.due(ended) : Effect.succeed(false))
      )
    })
  }
}
