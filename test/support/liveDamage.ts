import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { DataHealth } from "../../src/storage/DataHealth.ts"

/** Damage of databases that a node has open: written in place, like bits that change on the disk. */

const PAGE = 4096

const inPlace = (file: string, work: (descriptor: number) => void): void => {
  const descriptor = openSync(file, "r+")
  try {
    work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Overwrites all pages but the first, so that SQLite itself cannot read them. */
export const spoilPages = (file: string): void =>
  inPlace(file, (descriptor) => {
    const { size } = fstatSync(descriptor)
    assert.isAbove(size, 2 * PAGE)
    writeSync(descriptor, Buffer.alloc(size - PAGE, 0xa5), 0, size - PAGE, PAGE)
  })

/** Flips a bit of one byte. */
export const flipByte = (file: string, at: number): void =>
  inPlace(file, (descriptor) => {
    const byte = Buffer.alloc(1)
    readSync(descriptor, byte, 0, 1, at)
    writeSync(descriptor, Uint8Array.of(byte.readUInt8(0) ^ 1), 0, 1, at)
  })

/** Flips a bit where these bytes are, which SQLite reads without a complaint. */
export const flipIn = (file: string, bytes: Uint8Array): void =>
  inPlace(file, (descriptor) => {
    const content = Buffer.alloc(fstatSync(descriptor).size)
    readSync(descriptor, content, 0, content.length, 0)
    const at = content.indexOf(bytes)
    assert.isAtLeast(at, 0, "the file does not have these bytes")
    for (let from = at; from >= 0; from = content.indexOf(bytes, from + 1)) {
      writeSync(descriptor, Uint8Array.of(content.readUInt8(from) ^ 1), 0, 1, from)
    }
  })

/** Runs the background check of a file from one end to the other. */
export const checkAll = (what: string) =>
  Effect.gen(function*() {
    const { parts } = yield* DataHealth
    const part = (yield* parts).find((part) => part.what === what)
    if (part === undefined) return assert.fail(`${what} is not checked`)
    for (let next: number | undefined = 0; next !== undefined;) next = yield* part.check(next)
  })

/** The current doubts of the node. */
export const doubted = Effect.flatMap(
  DataHealth,
  ({ doubts }) => Effect.map(doubts, (list) => list.map(({ what }) => what))
)

/** Waits until the node has no doubts. */
export const untilSound = Effect.gen(function*() {
  const { doubts } = yield* DataHealth
  while ((yield* doubts).length > 0) yield* turnOfEventLoop
})

/** How often damage of a file was recorded. */
export const damageOf = (what: string) =>
  Effect.flatMap(
    DataHealth,
    ({ progress }) => Effect.map(progress, (parts) => parts.find((part) => part.what === what)?.damaged)
  )
