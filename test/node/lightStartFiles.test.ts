import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { removeFiles } from "../../src/node/lightStart.ts"
import { temporaryDirectory } from "../support/chain.ts"

describe("the files of a light start", () => {
  it.scoped("are removed, and a file that cannot be is a warning", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = (name: string): string => join(directory, name)
      writeFileSync(file("names-window.db"), "x")
      writeFileSync(file("light-peers.json"), "{}")
      yield* removeFiles({ file }, false)
      assert.isFalse(existsSync(file("names-window.db")) || existsSync(file("light-peers.json")))
      // A directory in its place is not removed.
      mkdirSync(file("names-window-different.db"))
      writeFileSync(join(file("names-window-different.db"), "a"), "x")
      writeFileSync(file("names-window.db"), "x")
      const lines: Array<unknown> = []
      const log = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(message)))
      yield* Effect.provide(removeFiles({ file }, true), log)
      assert.lengthOf(lines, 1)
      assert.include(JSON.stringify(lines), "names-window.db")
    }))
})
