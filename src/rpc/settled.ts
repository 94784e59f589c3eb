import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** The outcome of an effect that is already an `Exit`, so that it need not run. */
export const settled = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> | undefined =>
  // `isExit` loses the types; an effect of A and E that is an exit is an exit of A and E.
  Exit.isExit(effect) ? effect as Exit.Exit<A, E> : undefined
