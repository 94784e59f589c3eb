import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** The outcome if the effect is an `Exit` and need not run. */
export const settled = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> | undefined =>
  // `isExit` loses the types A and E.
  Exit.isExit(effect) ? effect as Exit.Exit<A, E> : undefined
