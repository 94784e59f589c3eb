import { Effect } from "effect"
import { type Disk, replaceDisk, systemDisk } from "../../src/base/disk.ts"

/** Does all work of the thread pool at once. */
export const blockingDisk: Disk = { ...systemDisk, aside: async ({ now }) => now() }

/** Runs an effect, and nothing else of the process, over another disk. */
export const overDisk = (disk: Disk) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => replaceDisk(disk)),
    () => work,
    (before) => Effect.sync(() => replaceDisk(before))
  )
