import { afterAll, beforeAll } from "vitest"

/**
 * Fails a file of the quick tests whose tests take more than the limit: CPU time of this process, so that a busy machine
 * changes little.
 */

/** Seconds. A quick file takes a third of it on the machine that the division was made on. */
const LIMIT = 6

let before = process.cpuUsage()

beforeAll(() => {
  before = process.cpuUsage()
})

afterAll(() => {
  const { system, user } = process.cpuUsage(before)
  const seconds = (system + user) / 1e6
  if (seconds <= LIMIT) return
  throw new Error(
    `${
      seconds.toFixed(1)
    } s of CPU time, ${LIMIT} at most: make the tests cheaper, or list the file in SLOW of vitest.config.ts`
  )
})
