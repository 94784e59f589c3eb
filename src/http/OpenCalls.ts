import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"

/** The connection that a call is carried out for. */
export interface Owner {
  /** Whether a call of it is running that takes longer than a turn. */
  working: boolean
}

/** Calls that did not end in the turn in which they began. */
export class OpenCalls {
  readonly #run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  readonly #fibers = new Set<Fiber.RuntimeFiber<unknown>>()
  #whenDrained: (() => void) | undefined

  constructor(run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>) {
    this.#run = run
  }

  get size(): number {
    return this.#fibers.size
  }

  /** Runs a call. Returns its fiber if it does not end at once. */
  run<A>(
    effect: Effect.Effect<A>,
    owner: Owner,
    end: (exit: Exit.Exit<A>) => void
  ): Fiber.RuntimeFiber<A> | undefined {
    const fiber = this.#run(effect)
    const exit = fiber.unsafePoll()
    if (exit !== null) {
      end(exit)
      return undefined
    }
    this.#fibers.add(fiber)
    owner.working = true
    fiber.addObserver((exit) => {
      this.#fibers.delete(fiber)
      owner.working = false
      end(exit)
      if (this.#fibers.size === 0) this.#whenDrained?.()
    })
    return fiber
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
