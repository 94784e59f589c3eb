import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { freeAside } from "../base/disk.ts"
import { DataHealth } from "./DataHealth.ts"
import { StorageUnavailable } from "./errors.ts"

/** A clean end before the disk is full loses nothing and leaves space for the last writes. */

/** Bytes below which the node stops, like the reference node (`util/fs_helpers.cpp`, `CheckDiskSpace`). */
export const LEAST_FREE = 50_000_000

/** Bytes below which the operator is warned. */
export const LOW = 1_000_000_000

/** Bytes at which the warning ends: free space fluctuates while databases merge their logs. */
const ENOUGH = 1_200_000_000

const LOOK_EVERY = "30 seconds"

/** Bytes that this process may still write; `undefined` if unknown. */
const freeAt = (path: string): Effect.Effect<number | undefined> =>
  Effect.promise(() => freeAside(path).catch(() => undefined))

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1e6)} MB`

const nearlyFull = (directory: string, left: number): StorageUnavailable =>
  new StorageUnavailable({
    file: directory,
    doing: "writing to",
    reason: `the disk is nearly full, with ${megabytes(left)} left of the ${megabytes(LEAST_FREE)} that svcd needs: ` +
      "make room and start again"
  })

/** The path, or its nearest existing folder. */
const existing = (path: string): string => {
  const above = dirname(path)
  return above === path || existsSync(path) ? path : existing(above)
}

/** Checks before the first write to a data directory, which may not exist. Fails if the disk is nearly full. */
export const checkDisk = (
  directory: string,
  free: (path: string) => Effect.Effect<number | undefined> = freeAt
): Effect.Effect<void, StorageUnavailable> =>
  Effect.flatMap(
    Effect.suspend(() => free(existing(directory))),
    (left) => left !== undefined && left < LEAST_FREE ? nearlyFull(directory, left) : Effect.void
  )

/** Starts after half a minute. Fails once the disk is nearly full. */
export const watchDisk = (
  directory: string,
  free: (path: string) => Effect.Effect<number | undefined> = freeAt
): Effect.Effect<never, StorageUnavailable, DataHealth> =>
  Effect.gen(function*() {
    const { notice } = yield* DataHealth
    let withdraw: Effect.Effect<void> | undefined
    for (;;) {
      yield* Effect.sleep(LOOK_EVERY)
      const left = yield* free(directory)
      if (left === undefined) continue
      if (left < LEAST_FREE) return yield* nearlyFull(directory, left)
      if (left < LOW && withdraw === undefined) {
        const reason = `${megabytes(left)} are left in ${directory}; svcd stops below ${megabytes(LEAST_FREE)}`
        withdraw = yield* notice({ what: "disk space", reason })
      } else if (left >= ENOUGH && withdraw !== undefined) {
        yield* withdraw
        withdraw = undefined
      }
    }
  })
