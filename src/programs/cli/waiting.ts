import * as Effect from "effect/Effect"
import { barLine, CLEAR_LINE, type Progress } from "../../base/progressBar.ts"
import type { CliInput } from "./outcome.ts"

/** Shows a bar on a terminal, else a line per new state. */

export interface WaitStep extends Progress {
  /** For a reader of lines, changing more slowly than the facts; defaults to the facts. */
  readonly state?: string
}

export interface Waiting {
  readonly show: (step: WaitStep) => void
  readonly end: Effect.Effect<void>
}

export const waitingOn = ({ note, progress }: Pick<CliInput, "note" | "progress">): Waiting => {
  let last: string | undefined
  return {
    show: (step) => {
      if (progress !== undefined) return progress.write(CLEAR_LINE + barLine(step, progress.columns))
      const { facts, state = facts } = step
      if (state !== last) note(state)
      last = state
    },
    end: Effect.sync(() => progress?.write(CLEAR_LINE))
  }
}
