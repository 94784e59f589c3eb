import { assert, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeDirectory } from "../../src/base/makeDirectory.ts"
import { withDirectory } from "../support/temporary.ts"

describe("makeDirectory", () => {
  it("makeDirectory creates missing directories for the owner only, and keeps existing ones", () =>
    withDirectory((directory) => {
      const [there, path] = [join(directory, "a"), join(directory, "a", "b", "c")]
      mkdirSync(there)
      chmodSync(there, 0o750)
      assert.strictEqual(makeDirectory(path), join(there, "b"))
      assert.isUndefined(makeDirectory(path))
      const modes = [there, join(there, "b"), path].map((each) => statSync(each).mode & 0o777)
      assert.deepStrictEqual(modes, [0o750, 0o700, 0o700])
    }))

  it.each([["file", "EEXIST"], ["file/a", "ENOTDIR"], ["file/a/b", "ENOTDIR"]])(
    "makeDirectory refuses %s: %s",
    (path, code) =>
      withDirectory((directory) => {
        writeFileSync(join(directory, "file"), "")
        assert.throws(() => makeDirectory(join(directory, path)), code)
      })
  )

  // A test timeout cannot end synchronous work that hangs. Node's own way never returned on one of the two levels.
  it.skipIf(!existsSync("/proc/self"))(
    "comes back where the system makes nothing and says that nothing is there",
    () => assert.throws(() => makeDirectory("/proc/svcd-nothing/log"), "ENOENT")
  )
})
