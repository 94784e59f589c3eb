import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { heapUsed } from "../base/consumption.ts"
import type { LightNode } from "../light/LightPart.ts"

/**
 * Returns memory to the system after a sync, which fills the heap with short-lived objects. V8 would otherwise keep it
 * for the life of the process, since a node at the tip rarely triggers a collection.
 */

const LOOK_EVERY = "2 seconds"

/** How often in a row the node has to be at the tip, where it is briefly between two phases of a sync. */
const LOOKS = 2

/** Bytes of heap above which a collection would stop the program for too long. */
const MOST_HEAP = 400 * 1024 * 1024

/**
 * Collects the garbage of this thread as V8 does when memory is low: it also moves objects together and frees the young
 * generation. The thread stops for about two milliseconds per megabyte in use. No-op above `mostHeap` bytes of heap,
 * and in a Node.js without inspector.
 */
export const collectGarbageUpTo = (mostHeap: number): Effect.Effect<void> =>
  Effect.ignore(Effect.tryPromise(async () => {
    if (heapUsed() > mostHeap) return
    const { Session } = await import("node:inspector/promises")
    const session = new Session()
    session.connect()
    try {
      await session.post("HeapProfiler.collectGarbage")
    } finally {
      session.disconnect()
    }
  }))

export const collectGarbage = collectGarbageUpTo(MOST_HEAP)

export const isLightSettled = ({ progress }: Pick<LightNode, "progress">): Effect.Effect<boolean> =>
  Effect.map(progress, ({ phase, unchecked }) => phase === "ready" && unchecked === 0)

/** Once, when a node has nothing left to do. */
export const releaseMemory = (
  settled: Effect.Effect<boolean>,
  release = collectGarbage
): Effect.Effect<void> =>
  Effect.suspend(() => {
    let seen = 0
    const look = Effect.map(settled, (yes) => {
      seen = yes ? seen + 1 : 0
      return seen >= LOOKS
    })
    return Effect.zipRight(
      Effect.repeat(look, { schedule: Schedule.spaced(LOOK_EVERY), until: (done) => done }),
      release
    )
  })
