import process from "node:process"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/**
 * Bounds of V8 for a program that is a node. V8's own are for speed at any size: a sync fills the room for young objects and
 * doubles what is in use before it collects the old ones, which takes 50 MB more for 3 % less processor time.
 */

/**
 * Bytes of the two halves of the young generation together, which V8 lets grow to 32 MiB and more. If they grow at the moment when
 * a thread starts, it is twice as much.
 */
export const YOUNG_BYTES = 4 * 1024 * 1024

/** What the heap of old objects may grow by, in per cent of what is in use, before V8 collects it. */
const GROWTH = "--heap-growing-percent=50"

/** The factor by which V8 enlarges the halves of the young generation when many objects survive: from 1 MiB to 2, then no more. */
const TWICE = "--semi-space-growth-factor=2"
const NO_MORE = "--semi-space-growth-factor=1"

/** Rounds and objects of a round that live until the young generation has grown; some ten rounds are needed. */
const ROUNDS = 200
const OBJECTS = 2_000

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? Number.POSITIVE_INFINITY

/** Milliseconds between two looks at the room for young objects. */
const LOOK_EVERY = 1_000

/** The part of its time that the thread has to work in before it gets room back: a node that waits needs none. */
const AT_WORK = 0.1

/** Lets V8 enlarge the room for young objects until it has these bytes, within some rounds of objects that live. */
const enlarge = (target: number): void => {
  setFlagsFromString(TWICE)
  const alive: Array<object> = []
  for (let round = 0; round < ROUNDS && youngBytes() < target; round++) {
    for (let i = 0; i < OBJECTS; i++) alive.push([i])
  }
  setFlagsFromString(NO_MORE)
}

/**
 * Gives the room back that V8 takes from a thread that waits, or whose memory was released: without growth it would have too little
 * from then on, and collect four times as often, and old objects with them. One step of growth takes some milliseconds. `room` is what
 * the thread had: a heap of 256 MB, as in a container of 512, does not allow for all of `YOUNG_BYTES`, and each try would take 100 ms.
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

/** Whether the user chose the size of the young generation. */
const hasChosen = (): boolean =>
  [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /semi[-_]space/.test(option))

/**
 * Bounds the heap of this thread, within some milliseconds; call it once, before the program loads. V8 reads the size of the
 * young generation only when a thread starts, but its growth all the time. A choice of the user (`--max-semi-space-size`) stays.
 */
export const boundHeap = (): void => {
  setFlagsFromString(GROWTH)
  if (hasChosen()) return
  enlarge(YOUNG_BYTES)
  // A thread that starts resets the factor for all of them. Each thread has a limit of its own where it is started.
  process.on("worker", (worker) => worker.once("online", () => setFlagsFromString(NO_MORE)))
  keepRoom(Math.min(YOUNG_BYTES, youngBytes()))
}
