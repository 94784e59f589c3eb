import process from "node:process"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/**
 * V8's heap limits for a node. By default, V8 favors speed: a sync fills the young generation and doubles the heap
 * before a full collection, which takes 50 MB more memory for 3 % less CPU time.
 */

/**
 * Bytes of both halves of the young generation, which V8 would let grow beyond 32 MiB. Growth at a thread's start
 * doubles this.
 */
export const YOUNG_BYTES = 4 * 1024 * 1024

/** Heap growth in per cent before V8 collects the old generation. */
const GROWTH = "--heap-growing-percent=50"

/** The growth factor of the young generation when many objects survive: from 1 MiB to 2, then no more. */
const TWICE = "--semi-space-growth-factor=2"
const NO_MORE = "--semi-space-growth-factor=1"

/** Live objects make the young generation grow: at most this many rounds, where some ten are needed. */
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
 * Restores the young generation, which V8 shrinks when a thread is idle or its memory is released. A small one is
 * collected four times as often, with old objects. A growth step takes a few milliseconds. `room` is the thread's
 * initial size: a 256 MB heap, as in a 512 MB container, cannot hold all of `YOUNG_BYTES`, and each attempt would take
 * 100 ms.
 */
const keepRoom = (room: number): void => {
  let before = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization < AT_WORK) return
    const bytes = youngBytes()
    if (bytes < room) enlarge(Math.min(2 * bytes, room))
  }, LOOK_EVERY).unref()
}

const hasChosen = (): boolean =>
  [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /semi[-_]space/.test(option))

/**
 * Limits the heap of this thread, which takes milliseconds. Call it once, before the program loads. V8 reads the young
 * generation's size only when a thread starts, but its growth factor at any time. A user's `--max-semi-space-size`
 * takes precedence.
 */
export const boundHeap = (): void => {
  setFlagsFromString(GROWTH)
  if (hasChosen()) return
  enlarge(YOUNG_BYTES)
  // A new thread resets the factor for all threads. Its own limit is set by the code that starts it.
  process.on("worker", (worker) => worker.once("online", () => setFlagsFromString(NO_MORE)))
  keepRoom(Math.min(YOUNG_BYTES, youngBytes()))
}
