/** Tasks of which a few are done in each turn of the event loop, the oldest first. */
export interface Line {
  readonly add: (task: () => void) => void
  /** Tasks that wait. */
  readonly length: number
}

/**
 * A line for short tasks: what many remote parties cause at once must not keep the others waiting.
 *
 * @param count how many are done in one turn of the event loop.
 */
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
