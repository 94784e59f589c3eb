import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * A place for what is there only later, or only for a time: the methods of a listener that answers before there is a node. It holds its
 * first value until it is filled, and again after that.
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
