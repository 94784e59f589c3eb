import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as WatchList from "../../src/alerts/WatchList.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { text } from "../names/blocks.ts"
import { temporaryDirectory } from "../support/chain.ts"

const shown = (list: typeof WatchList.WatchList.Service): ReadonlyArray<string> =>
  list.names().map(({ configured, name }) => `${Buffer.from(name).toString()}${configured ? " (settings)" : ""}`)

/** Uses the list of a file as one run of the node does. */
const withList = <A, E>(
  filename: string,
  use: (list: typeof WatchList.WatchList.Service) => Effect.Effect<A, E, DataHealth.DataHealth>,
  configured: ReadonlyArray<Bytes> = []
) =>
  Effect.provide(
    Effect.flatMap(WatchList.WatchList, use),
    WatchList.layer({ filename, configured }).pipe(
      Layer.provideMerge(DataHealth.layer),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
  )

describe("WatchList", () => {
  it.scoped("keeps the names that callers add across restarts, and those of the settings as long as they are there", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "watched.json")
      const odd = Uint8Array.of(0, 0xff, 0x2f)
      yield* withList(file, ({ add }) => add([text("d/b"), odd, text("d/a"), text("d/b")]), [text("d/a")])
      yield* withList(file, (list) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(shown(list), [Buffer.from(odd).toString(), "d/b", "d/c (settings)"])
          assert.isTrue(list.has(odd) && list.has(text("d/c")))
          assert.isFalse(list.has(text("d/a")))
          const before = list.version()
          yield* list.remove([odd, text("d/none")])
          assert.isAbove(list.version(), before)
        }), [text("d/c")])
      yield* withList(file, (list) => Effect.sync(() => assert.deepStrictEqual(shown(list), ["d/b"])))
    }))

  it.scoped("refuses too many names, too long ones and a name of the settings, and changes nothing then", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "watched.json")
      yield* withList(file, (list) =>
        Effect.gen(function*() {
          const many = Array.from({ length: 10_000 }, (_, i) => text(`d/${i}`))
          assert.include((yield* Effect.flip(list.add(many))).message, "10000 names can be watched")
          assert.include((yield* Effect.flip(list.add([text("d/x"), new Uint8Array(256)]))).message, "255 bytes")
          assert.include((yield* Effect.flip(list.add([new Uint8Array(0)]))).message, "255 bytes")
          assert.include((yield* Effect.flip(list.remove([text("d/set")]))).message, "svcd.conf")
          assert.deepStrictEqual(shown(list), ["d/set (settings)"])
          assert.isFalse(existsSync(file))
          yield* list.add(many.slice(1))
          assert.lengthOf(list.names(), 10_000)
        }), [text("d/set")])
    }))

  it.scoped("puts a damaged file aside, and begins with an empty list", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "watched.json")
      yield* withList(file, ({ add }) => add([text("d/a")]))
      const damaged = readFileSync(file, "utf8").replace("642f61", "642f62")
      writeFileSync(file, damaged)
      yield* withList(file, (list) => Effect.sync(() => assert.deepStrictEqual(shown(list), [])))
      assert.strictEqual(readFileSync(`${file}.damaged`, "utf8"), damaged)
      yield* withList(file, ({ add }) => add([text("d/c")]))
      const reasons = Effect.flatMap(DataHealth.DataHealth, ({ notices }) =>
        Effect.map(notices, (all) => all.map(({ reason, what }) => `${what} ${reason}`)))
      yield* withList(file, (list) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(shown(list), ["d/c"])
          // After a restart too: the names are still missing.
          assert.match(
            (yield* reasons).join(),
            /^watched.json was damaged or unreadable and is kept as watched.json.damaged: the names that/
          )
        }))
      // Damage of today does not replace what was kept.
      writeFileSync(file, "damaged again")
      yield* withList(file, () =>
        reasons)
      assert.strictEqual(readFileSync(`${file}.damaged`, "utf8"), damaged)
      assert.strictEqual(readFileSync(`${file}.damaged.2`, "utf8"), "damaged again")
      rmSync(`${file}.damaged`)
      rmSync(`${file}.damaged.2`)
      yield* withList(file, () => Effect.map(reasons, (none) => assert.deepStrictEqual(none, [])))
    }))
})
