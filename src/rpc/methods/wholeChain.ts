import * as Effect from "effect/Effect"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { NamesIncomplete } from "../../names/errors.ts"
import type { Method } from "../method/methodTable.ts"
import { nameProofs } from "./nameProof.ts"

/** Refuses calls of methods that need the coins of the whole chain while a window of the last blocks answers: -10. */
export const coinsOfWholeChain = (
  methods: ReadonlyArray<Method>
): Effect.Effect<ReadonlyArray<Method>, never, NameAnswers | SyncReporter> =>
  Effect.gen(function*() {
    const { fromWindow } = yield* NameAnswers
    const { refuse } = nameProofs(yield* SyncReporter)
    return methods.map((method): Method =>
      method.coins === "whole"
        ? {
          ...method,
          call: (params, context) => fromWindow() ? refuse(new NamesIncomplete()) : method.call(params, context)
        }
        : method
    )
  })
