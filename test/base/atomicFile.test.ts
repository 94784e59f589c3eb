import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { replaceFile, replaceFileNow } from "../../src/base/atomicFile.ts"
import { temporaryDirectory } from "../support/chain.ts"

type Write = (path: string, content: string | Uint8Array) => Promise<void>

const writers: Readonly<Record<string, Write>> = {
  replaceFile: (path, content) => replaceFile(path, [content]),
  replaceFileNow: async (path, content) => replaceFileNow(path, content)
}

for (const [name, write] of Object.entries(writers)) {
  describe(`${name}`, () => {
    it.scoped("it creates a file for its owner only, and replaces it", () =>
      Effect.gen(function*() {
        const path = join(yield* temporaryDirectory, "file")
        yield* Effect.promise(() => write(path, "first"))
        assert.deepStrictEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["first", 0o600])
        yield* Effect.promise(() => write(path, Uint8Array.of(0x00, 0xff)))
        assert.deepStrictEqual([...readFileSync(path)], [0x00, 0xff])
      }))

    it.scoped("it ignores the content and the permissions of an old draft", () =>
      Effect.gen(function*() {
        const path = join(yield* temporaryDirectory, "file")
        writeFileSync(`${path}.new`, "a long draft of before", { mode: 0o666 })
        chmodSync(`${path}.new`, 0o666)
        yield* Effect.promise(() => write(path, "short"))
        assert.deepStrictEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["short", 0o600])
        assert.isFalse(existsSync(`${path}.new`))
      }))

    it.scoped("a failure keeps the old file and leaves no draft", () =>
      Effect.gen(function*() {
        const path = join(yield* temporaryDirectory, "file")
        // A file cannot replace a directory.
        mkdirSync(path)
        const exit = yield* Effect.exit(Effect.tryPromise(() => write(path, "content")))
        assert.strictEqual(exit._tag, "Failure")
        assert.isTrue(statSync(path).isDirectory())
        assert.isFalse(existsSync(`${path}.new`))
      }))
  })
}

it.scoped("replaceFile joins its parts", () =>
  Effect.gen(function*() {
    const path = join(yield* temporaryDirectory, "file")
    yield* Effect.promise(() => replaceFile(path, ["a", Uint8Array.of(0x62), "c"]))
    assert.strictEqual(readFileSync(path, "utf8"), "abc")
  }))
