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
  setFlagsFromString(TWICE)
  const alive: Array<object> = []
  for (let round = 0; round < ROUNDS && youngBytes() < YOUNG_BYTES; round++) {
    for (let i = 0; i < OBJECTS; i++) alive.push([i])
  }
  setFlagsFromString(NO_MORE)
  // A thread that starts resets the factor for all of them. Each thread has a limit of its own where it is started.
  process.on("worker", (worker) => worker.once("online", () => setFlagsFromString(NO_MORE)))
}
