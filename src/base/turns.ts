import * as Effect from "effect/Effect"
import { monotonic } from "./clock.ts"

/** A task of a later turn of the event loop. */
export interface Timer extends Disposable {
  /** Lets the process end before the task has run. */
  readonly unref: () => Timer
}

/** What the slices of one turn share. */
export interface Turn {
  /** When the first of them began, in milliseconds; `undefined` before. */
  began: number | undefined
}

/** The event loop. Only `useVirtual` replaces it. */
export interface EventLoop {
  readonly nextTurn: (task: () => void) => Timer
  /** Milliseconds first. */
  readonly afterDelay: (delay: number, task: () => void) => Timer
  /** The turn of who calls: simulated nodes have a loop each. */
  readonly turn: () => Turn
}

const onlyTurn: Turn = { began: undefined }

let loop: EventLoop = {
  nextTurn: (task) => setImmediate(task),
  afterDelay: (delay, task) => setTimeout(task, delay),
  turn: () => onlyTurn
}

export const replaceEventLoop = (other: EventLoop): EventLoop => {
  const replaced = loop
  loop = other
  return replaced
}

/** Runs a task after the sockets and timers that are due. */
export const nextTurn = (task: () => void): Timer => loop.nextTurn(task)

/** Runs a task after `delay` milliseconds. Effects use `Effect.sleep`. */
export const afterDelay = (delay: number, task: () => void): Timer => loop.afterDelay(delay, task)

/** No-op for a task that has run, or that was never set. */
export const cancelTimer = (timer: Timer | undefined): void => timer?.[Symbol.dispose]()

/** Gives sockets and timers a turn. `Effect.yieldNow` gives only other fibers a turn. */
export const turnOfEventLoop: Effect.Effect<void> = Effect.async<void>((resume) => {
  const timer = nextTurn(() => resume(Effect.void))
  return Effect.sync(() => cancelTimer(timer))
})

/** Milliseconds of work between two turns of the event loop. */
export const SLICE_MS = 5

/** Gives sockets and timers a turn if work has lasted for some milliseconds. One for each piece of work. */
export const pauses = (): Effect.Effect<void> => {
  let end = monotonic() + SLICE_MS
  return Effect.suspend(() =>
    monotonic() < end
      ? Effect.void
      : Effect.map(turnOfEventLoop, () => {
        end = monotonic() + SLICE_MS
      })
  )
}

const begin = (turn: Turn): number => {
  nextTurn(() => {
    turn.began = undefined
  })
  return turn.began = monotonic()
}

/**
 * Repeats a step of work for some milliseconds, at least once. Step and slice return whether work is left. All slices
 * of one turn share the time, such as checking scripts after connecting blocks. The chain slices one work at a time: of
 * two at once, the second would do one step a turn.
 */
export const slice = (step: () => boolean): boolean => {
  const turn = loop.turn()
  const end = (turn.began ?? begin(turn)) + SLICE_MS
  do {
    if (!step()) return false
  } while (monotonic() < end)
  return true
}
