import process from "node:process"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { loopShare } from "./consumption.ts"

/**
 * V8's heap limits for a node. By default, V8 favors speed. During a sync, it fills the young generation and doubles
 * the heap before a full collection. These defaults take 50 MB more memory and save 3 % of the CPU time.
 */

/**
 * Size in bytes of the young generation, both halves together. By default, V8 lets it grow beyond 32 MiB. Growth at the
 * start of a thread doubles this size.
 */
export const YOUNG_BYTES = 4 * 1024 * 1024

/** V8 collects the old generation when the heap has grown by this percentage. With 0 it chooses. */
const GROWTH = "--heap-growing-percent=50"
const ANY_GROWTH = "--heap-growing-percent=0"

/** Milliseconds. A start keeps nearly all its objects, so that collecting them would only make it longer. */
const GROWTH_AFTER = 2_000

/** Growth factors of the young generation when many objects survive. A factor of 1 keeps its size. */
const TWICE = "--semi-space-growth-factor=2"
const NO_MORE = "--semi-space-growth-factor=1"

/** Maximum number of rounds that allocate live objects to grow the young generation. About ten are needed. */
const ROUNDS = 200
const OBJECTS = 2_000

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? Number.POSITIVE_INFINITY

const LOOK_EVERY = 1_000

/** The event loop utilization above which a thread's young generation is restored. */
const AT_WORK = 0.1

const enlarge = (target: number): void => {
  setFlagsFromString(TWICE)
  const alive: Array<object> = []
  for (let round = 0; round < ROUNDS && youngBytes() < target; round++) {
    for (let i = 0; i < OBJECTS; i++) alive.push([i])
  }
  setFlagsFromString(NO_MORE)
}

/**
 * Restores the size of the young generation, because V8 shrinks it when a thread is idle or releases memory. A small
 * young generation is collected four times as often, along with old objects. A growth step takes a few milliseconds.
 *
 * `room` is the size at the thread's start. In a 256 MB heap, as in a 512 MB container, the young generation cannot
 * reach `YOUNG_BYTES`, and each attempt would take 100 ms.
 */
const keepRoom = (room: number): void => {
  const share = loopShare()
  setInterval(() => {
    if (share() < AT_WORK) return
    const bytes = youngBytes()
    if (bytes < room) enlarge(Math.min(2 * bytes, room))
  }, LOOK_EVERY).unref()
}

const hasChosen = (): boolean =>
  [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /semi[-_]space/.test(option))

/**
 * Limits the young generation of this thread, within milliseconds, and the growth of its heap after the start. Call it
 * once, before the program loads. V8 reads the size of the young generation only when a thread starts, but the growth
 * factor at any time. A user's `--max-semi-space-size` takes precedence.
 */
export const boundHeap = (): void => {
  setTimeout(() => setFlagsFromString(GROWTH), GROWTH_AFTER).unref()
  if (hasChosen()) return
  enlarge(YOUNG_BYTES)
  // A new thread resets the factor for all threads. Its own limit is set by the code that starts it.
  process.on("worker", (worker) => worker.once("online", () => setFlagsFromString(NO_MORE)))
  keepRoom(Math.min(YOUNG_BYTES, youngBytes()))
}

/** Runs a function with the flags of a start: compiled code requires the flags under which it was stored. */
export const withFlagsOfStart = (run: () => void): void => {
  setFlagsFromString(ANY_GROWTH)
  try {
    run()
  } finally {
    setFlagsFromString(GROWTH)
  }
}
