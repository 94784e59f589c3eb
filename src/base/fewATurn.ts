export interface Line {
  readonly add: (task: () => void) => void
  readonly length: number
}

/** Keeps many tasks of remote parties from delaying other work. `count`: tasks per turn of the event loop. */
export const fewATurn = (count: number): Line => {
  const waiting: Array<() => void> = []
  let scheduled = false
  const schedule = (): void => {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    setImmediate(() => {
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
