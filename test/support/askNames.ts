import { Effect } from "effect"
import { NamesIncomplete } from "../../src/names/errors.ts"

/** `ask` of names that may be denied while they are complete. */
export const askWhile =
  (isComplete: () => boolean) =>
  <A, E>(question: Effect.Effect<A, E>, denies: (answer: A) => boolean): Effect.Effect<A, E | NamesIncomplete> =>
    Effect.filterOrFail(question, (answer) => !denies(answer) || isComplete(), () => new NamesIncomplete())
