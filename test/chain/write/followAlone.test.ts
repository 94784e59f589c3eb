import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Logger } from "effect"
import { join } from "node:path"
import type { Follower } from "../../../src/chain/write/Follower.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { Height } from "../../../src/protocol/keys.ts"
import { blocksOf, temporaryDirectory, withChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"

const blocks = blocksOf("regtest-names/blocks.dat")
const TIP = blocks.length - 1

/** The last block that a start would find. */
const storedBlock = (directory: string): string => {
  const database = new SQLite(join(directory, "chainstate", "chainstate.db"), { readonly: true })
  try {
    const row = database.prepare<[], { readonly best: Uint8Array }>("SELECT best_hash AS best FROM state").get()
    return row === undefined ? "nothing" : displayHash(row.best)
  } finally {
    database.close()
  }
}

describe("a follower that catches up in the background", () => {
  it.scopedLive("gets the blocks of a series once the chain has stored them", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const hashes = blocks.map(({ hash }) => displayHash(hash))
      const applied = new Map<Height, Height>()
      const follower: Follower = {
        name: "a test",
        background: true,
        cursor: Effect.succeed(undefined),
        apply: (given) =>
          Effect.sync(() => void applied.set(given.at(-1)?.height ?? -1, hashes.indexOf(storedBlock(directory)))),
        rewind: () => Effect.void
      }
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(1), true)
          assert.isBelow(hashes.indexOf(storedBlock(directory)), 1)
          yield* chain.control.register(follower)
          yield* eventually("the follower is at the tip", Effect.sync(() => applied.has(TIP)))
          assert.isAbove(applied.size, 1)
          for (const [height, stored] of applied) assert.isAtLeast(stored, height)
        }))
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
})
