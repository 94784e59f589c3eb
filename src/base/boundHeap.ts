import process from "node:process"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/**
 * Bounds of V8 for a node. V8 optimizes for speed: a sync fills the young generation and doubles the heap before a full
 * collection, which takes 50 MB more for 3 % less processor time.
 */

/**
 * Bytes of both halves of the young generation, which V8 lets grow beyond 32 MiB. Growth at a thread's start doubles
 * this.
 */
export const YOUNG_BYTES = 4 * 1024 * 1024

/** Heap growth in per cent before V8 collects the old generation. */
const GROWTH = "--heap-growing-percent=50"

/** The growth factor of the young generation when many objects survive: from 1 MiB to 2, then no more. */
const TWICE = "--semi-space-growth-factor=2"
const NO_MORE = "--semi-space-growth-factor=1"

/** Rounds of live objects, and objects per round, that grow the young generation; some ten rounds are needed. */
const ROUNDS = 200
const OBJECTS = 2_000

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? Number.POSITIVE_INFINITY

const LOOK_EVERY = 1_000

/** The share of time that a thread has to work before its young generation is restored. */
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
 * Restores the young generation, which V8 shrinks when a thread waits or its memory is released: it would then be
 * collected four times as often, with old objects. One step of growth takes some milliseconds. `room` is the thread's
 * initial size: a heap of 256 MB, as in a container of 512, cannot hold all of `YOUNG_BYTES`, and each try would take
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
 * Bounds the heap of this thread, within milliseconds; call it once, before the program loads. V8 reads the young
 * generation's size only when a thread starts, but its growth factor at any time. A user's `--max-semi-space-size`
 * stays.
 */
export const boundHeap = (): void => {
  setFlagsFromString(GROWTH)
  if (hasChosen()) return
  enlarge(YOUNG_BYTES)
  // A starting thread resets the factor for all threads. Its own limit is set where it is started.
  process.on("worker", (worker) => worker.once("online", () => setFlagsFromString(NO_MORE)))
  keepRoom(Math.min(YOUNG_BYTES, youngBytes()))
}
