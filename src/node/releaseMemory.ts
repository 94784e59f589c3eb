import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { LightNode } from "../light/LightPart.ts"

/**
 * Gives memory back to the system once a sync is over. A sync fills the heap with short-lived objects; V8 would keep the
 * room for them for as long as the process runs, since a node at the tip needs too little to make it look again.
 */

const LOOK_EVERY = "2 seconds"

/** How often in a row the node has to be at the tip: between two phases of a sync it is there for a moment. */
const LOOKS = 2

/** Bytes of heap above which nothing is done: a program with so much of its own would stop for too long. */
const MOST_HEAP = 400 * 1024 * 1024

/**
 * Collects the garbage of this thread as V8 does when memory is low: it also moves objects together and frees the room of young
 * ones. The thread stops for about two milliseconds for each megabyte in use. Does nothing if more bytes of heap
 * are in use than `mostHeap`, and in a Node.js without inspector.
 */
export const collectGarbageUpTo = (mostHeap: number): Effect.Effect<void> =>
  Effect.ignore(Effect.tryPromise(async () => {
    if (process.memoryUsage().heapUsed > mostHeap) return
    const { Session } = await import("node:inspector/promises")
    const session = new Session()
    session.connect()
    try {
      await session.post("HeapProfiler.collectGarbage")
    } finally {
      session.disconnect()
    }
  }))

/** The same, for a node. */
export const collectGarbage = collectGarbageUpTo(MOST_HEAP)

/** Whether a light part has nothing to do: it knows all names, and their signatures. */
export const isLightSettled = ({ progress }: Pick<LightNode, "progress">): Effect.Effect<boolean> =>
  Effect.map(progress, ({ phase, unchecked }) => phase === "ready" && unchecked === 0)

/** Waits until a node has nothing to do any more, then releases memory, once. */
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
