import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"

/** Who a call is carried out for. */
export interface Owner {
  /** Whether a call of it is being carried out that takes longer than a turn. */
  working: boolean
}

/** Calls that have not ended in the turn that they began in. */
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

  /** Runs a call. Returns its fiber where it does not end at once. */
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

  /** Waits for the calls that run, and ends them when the time is up. */
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
