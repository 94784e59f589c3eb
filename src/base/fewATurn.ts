import { nextTurn } from "./turns.ts"
export interface Line {
  readonly add: (task: () => void) => void
  readonly length: number
}

/** Runs at most `count` tasks per turn of the event loop, so that tasks of remote parties do not delay other work. */
export const fewATurn = (count: number): Line => {
  const waiting: Array<() => void> = []
  let scheduled = false
  const schedule = (): void => {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    nextTurn(() => {
      scheduled = false
      for (const task of waiting.splice(0, count)) task()
      schedule()
    })
  }
  return {
    add: (task) => {
      waiting.push(task)
      schedule()
    },
    get length() {
      return waiting.length
    }
  }
}
