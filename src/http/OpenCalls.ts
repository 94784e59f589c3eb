import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { PlaceShare } from "../base/FairPlaces.ts"

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

/** The part of the places that one user's calls without an early end may hold. */
const EACH = 0.5

/** The part of these places that is left for operators. */
const RESERVE = 1 / 8

/**
 * Calls that did not end in the turn in which they began. Those that may end early share places of which every newcomer
 * gets one (`EvictingPlaces`). The others run to their end, so a user gets no more than half of their places, and some
 * are left for operators.
 */
export class OpenCalls {
  readonly #config: OpenCallsConfig
  readonly #fibers = new Set<Fiber.RuntimeFiber<unknown>>()
  readonly #mayEnd: EvictingPlaces<Fiber.RuntimeFiber<unknown>>
  /** Calls that run to their end, by user. */
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
  admits([user = ""]: PlaceShare, isOperator: boolean): boolean {
    const { most } = this.#config
    const held = this.size - this.#mayEnd.size
    if (isOperator) return held < most
    return held < most - Math.floor(most * RESERVE) && (this.#lasting.get(user) ?? 0) < Math.ceil(most * EACH)
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

  #count([user = ""]: PlaceShare, change: 1 | -1): void {
    const count = (this.#lasting.get(user) ?? 0) + change
    if (count > 0) this.#lasting.set(user, count)
    else this.#lasting.delete(user)
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
