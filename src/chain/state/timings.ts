/** The time spent on connecting blocks, in milliseconds. */
export interface Timings {
  read: number
  parse: number
  /** Checks that need no coins, hashes included. */
  check: number
  append: number
  /** Rules against coins and claims. */
  connect: number
  /** Checking scripts on this thread and waiting for the workers. */
  scripts: number
  flush: number
  /** Followers: names and indexes. */
  follow: number
}

export const noTime = (): Timings => ({
  read: 0,
  parse: 0,
  check: 0,
  append: 0,
  connect: 0,
  scripts: 0,
  flush: 0,
  follow: 0
})
