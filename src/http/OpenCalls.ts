import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { PlaceShare } from "../base/FairPlaces.ts"
import { afterDelay, cancelTimer } from "../base/turns.ts"
import type { Call } from "../rpc/Dispatch.ts"
import type { Demand } from "../rpc/method/methodTable.ts"
import { notPermitted } from "./permissions.ts"
import { BUSY, forbidden, type HttpRefusal, NO_ROOM, tooMany } from "./refusals.ts"
import { type Session, VISITOR } from "./Session.ts"

/** Releases the memory of a call. */
export type Release = () => void

interface Claimant {
  readonly session: Session
  readonly open: OpenCalls
}

/** The first need of a call that its user lacks. */
const missing = ({ permitted }: Session, call: Call): Demand | undefined =>
  permitted === undefined ? undefined : notPermitted(permitted, call.demands())

const count = (session: Session, call: Call): number | undefined => session.count(Math.max(1, call.count))

const hold = ({ open, session }: Claimant, call: Call): Release | HttpRefusal =>
  call.mayEnd || open.admits(session.share, session.isOperator) ? session.memory.hold(call.weight) ?? NO_ROOM : BUSY

/** Takes the call's share of the limits, or returns why it is refused. */
export const claim = (claimant: Claimant, call: Call): Release | HttpRefusal => {
  const { session } = claimant
  const lacking = missing(session, call)
  if (lacking !== undefined) return forbidden(lacking)
  const seconds = count(session, call)
  return seconds === undefined ? hold(claimant, call) : tooMany(seconds)
}

/** For the fast lane. Node's server claims a refused call (`undefined`) again, so it must not be counted here. */
export const claimPlain = (claimant: Claimant, call: Call): Release | undefined => {
  const { session } = claimant
  if (missing(session, call) !== undefined) return undefined
  const release = hold(claimant, call)
  if (typeof release !== "function") return undefined
  if (count(session, call) === undefined) return release
  release()
  return undefined
}

export interface OpenCall {
  readonly share: PlaceShare
  /** Whether it may end for its caller, or for another one that has less. */
  readonly mayEnd: boolean
  /** Called when the call turns out to take longer, and when it ends. */
  readonly working: (works: boolean) => void
}

export interface OpenCallsConfig {
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  /** For each of the two kinds of calls. */
  readonly most: number
}

/** Shares of the places for calls that run to their end: of a user, and of one address of the desk's visitors. */
const EACH = 0.5
const EACH_VISITOR = 0.25

/** Share left for operators. */
const RESERVE = 1 / 8

/** What a call counts for, with the share that it may fill. No user name begins with a colon. */
const lines = ([user = "", address = ""]: PlaceShare): ReadonlyArray<readonly [line: string, part: number]> =>
  user === VISITOR ? [[user, EACH], [`${user} ${address}`, EACH_VISITOR]] : [[user, EACH]]

/**
 * Calls that outlast their first turn. Those that may end early share places, of which every newcomer gets one
 * (`EvictingPlaces`). The others run to their end. A user may hold half of their places, an address of the desk's
 * visitors (one user) a quarter, and some are left for operators.
 */
export class OpenCalls {
  readonly #config: OpenCallsConfig
  readonly #fibers = new Set<Fiber.RuntimeFiber<unknown>>()
  readonly #mayEnd: EvictingPlaces<Fiber.RuntimeFiber<unknown>>
  readonly #lasting = new Map<string, number>()
  #whenDrained: (() => void) | undefined

  constructor(config: OpenCallsConfig) {
    this.#config = config
    this.#mayEnd = new EvictingPlaces(config.most, (fiber) => fiber.unsafeInterruptAsFork(fiber.id()))
  }

  get size(): number {
    return this.#fibers.size
  }

  /** Whether the user may begin another call that runs to its end. */
  admits(share: PlaceShare, isOperator: boolean): boolean {
    const { most } = this.#config
    const held = this.size - this.#mayEnd.size
    if (isOperator) return held < most
    return held < most - Math.floor(most * RESERVE) &&
      lines(share).every(([line, part]) => (this.#lasting.get(line) ?? 0) < Math.ceil(most * part))
  }

  /** Returns the fiber of a call that does not end at once. */
  run<A>(
    effect: Effect.Effect<A>,
    { mayEnd, share, working }: OpenCall,
    end: (exit: Exit.Exit<A>) => void
  ): Fiber.RuntimeFiber<A> | undefined {
    const fiber = this.#config.run(effect)
    const exit = fiber.unsafePoll()
    if (exit !== null) {
      end(exit)
      return undefined
    }
    this.#fibers.add(fiber)
    working(true)
    if (!mayEnd) this.#count(share, 1)
    fiber.addObserver((exit) => {
      this.#fibers.delete(fiber)
      if (mayEnd) this.#mayEnd.leave(fiber)
      else this.#count(share, -1)
      working(false)
      end(exit)
      if (this.#fibers.size === 0) this.#whenDrained?.()
    })
    if (mayEnd) this.#mayEnd.enter(fiber, share)
    return fiber
  }

  #count(share: PlaceShare, change: 1 | -1): void {
    for (const [line] of lines(share)) {
      const count = (this.#lasting.get(line) ?? 0) + change
      if (count > 0) this.#lasting.set(line, count)
      else this.#lasting.delete(line)
    }
  }

  /** Interrupts the running calls after a time. */
  drained(timeout: number): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (this.#fibers.size === 0) return resume(Effect.void)
      const timer = afterDelay(timeout, () => {
        this.#whenDrained = undefined
        for (const fiber of this.#fibers) fiber.unsafeInterruptAsFork(fiber.id())
        resume(Effect.void)
      })
      this.#whenDrained = () => {
        cancelTimer(timer)
        resume(Effect.void)
      }
    })
  }
}
