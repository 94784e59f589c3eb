import * as Effect from "effect/Effect"
import { barLine, CLEAR_LINE, type Progress } from "../../base/progressBar.ts"
import type { CliInput } from "./outcome.ts"

/** What a command shows while it waits: a bar on the terminal behind standard error, else a line there for each new state. */

export interface WaitStep extends Progress {
  /** The state for a reader of lines, which changes more slowly than the facts; the facts themselves without it. */
  readonly state?: string
}

export interface Waiting {
  readonly show: (step: WaitStep) => void
  /** Takes the bar away. */
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
