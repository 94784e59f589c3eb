import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Holds its first value until it is filled, and again afterwards: for a listener that answers before its node exists.
 */
export class Slot<A> {
  readonly #first: A
  #now: A

  constructor(first: A) {
    this.#first = first
    this.#now = first
  }

  get current(): A {
    return this.#now
  }

  /** Fills the slot until the scope closes, or another value takes its place. */
  fill(value: A): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => {
        this.#now = value
      }),
      () =>
        Effect.sync(() => {
          if (this.#now === value) this.#now = this.#first
        })
    )
  }
}
