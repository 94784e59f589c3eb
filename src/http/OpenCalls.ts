import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { PlaceShare } from "../base/FairPlaces.ts"
import { VISITOR } from "./Session.ts"

/** A call that takes longer than a turn. */
export interface OpenCall {
  readonly share: PlaceShare
  /** Whether it may be ended for its caller, or for another one that has less. */
  readonly mayEnd: boolean
  /** Called when the call turns out to take longer, and when it ends. */
  readonly working: (works: boolean) => void
}

export interface OpenCallsConfig {
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  /** Most calls of each of the two kinds. */
  readonly most: number
}

/** The part of the places that one user's calls without an early end may hold, and one address of the desk's visitors. */
const EACH = 0.5
const EACH_VISITOR = 0.25

/** The part of these places that is left for operators. */
const RESERVE = 1 / 8

/** What a call counts for, with the part of the places that it may fill. A user has no colon at its beginning. */
const lines = ([user = "", address = ""]: PlaceShare): ReadonlyArray<readonly [line: string, part: number]> =>
  user === VISITOR ? [[user, EACH], [`${user} ${address}`, EACH_VISITOR]] : [[user, EACH]]

/**
 * Calls that did not end in the turn in which they began. Those that may end early share places of which every newcomer
 * gets one (`EvictingPlaces`). The others run to their end, so a user gets no more than half of their places, and some
 * are left for operators. Visitors of the desk are one user, of which an address gets no more than a quarter.
 */
export class OpenCalls {
  readonly #config: OpenCallsConfig
  readonly #fibers = new Set<Fiber.RuntimeFiber<unknown>>()
  readonly #mayEnd: EvictingPlaces<Fiber.RuntimeFiber<unknown>>
  /** Calls that run to their end, by what they count for. */
  readonly #lasting = new Map<string, number>()
  #whenDrained: (() => void) | undefined

  constructor(config: OpenCallsConfig) {
    this.#config = config
    this.#mayEnd = new EvictingPlaces(config.most, (fiber) => fiber.unsafeInterruptAsFork(fiber.id()))
  }

  get size(): number {
    return this.#fibers.size
  }

  /** Whether another call of a user may begin that runs to its end. */
  admits(share: PlaceShare, isOperator: boolean): boolean {
    const { most } = this.#config
    const held = this.size - this.#mayEnd.size
    if (isOperator) return held < most
    return held < most - Math.floor(most * RESERVE) &&
      lines(share).every(([line, part]) => (this.#lasting.get(line) ?? 0) < Math.ceil(most * part))
  }

  /** Runs a call. Returns its fiber if it does not end at once. */
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

  /** Waits for the running calls, and interrupts them after a time. */
  drained(timeout: number): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (this.#fibers.size === 0) return resume(Effect.void)
      const timer = setTimeout(() => {
        this.#whenDrained = undefined
        for (const fiber of this.#fibers) fiber.unsafeInterruptAsFork(fiber.id())
        resume(Effect.void)
      }, timeout)
      this.#whenDrained = () => {
        clearTimeout(timer)
        resume(Effect.void)
      }
    })
  }
}
