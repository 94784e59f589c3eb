import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** The outcome of an effect that is an outcome already, so that it need not be run. */
export const settled = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> | undefined =>
  // `isExit` forgets the types; an effect of A and E that is an exit is one of A and E.
  Exit.isExit(effect) ? effect as Exit.Exit<A, E> : undefined
