import { assert, describe, it } from "@effect/vitest"
import { nativeProblem } from "../../src/base/nativePart.ts"

const failed = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code })

describe("nativeProblem", () => {
  it.each([
    [failed("Could not locate the bindings file. Tried:\n → /x/better_sqlite3.node\n → /y"), "is missing"],
    [
      failed(
        "The module '/x.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 1",
        "ERR_DLOPEN_FAILED"
      ),
      "was built for another version of Node.js"
    ],
    [failed("/x.node: invalid ELF header", "ERR_DLOPEN_FAILED"), "cannot be loaded on this system"]
  ])("names part and remedy on one line: %s", (error, what) => {
    assert.strictEqual(
      nativeProblem(error, "better-sqlite3"),
      `the native part of better-sqlite3 ${what}: run "npm rebuild better-sqlite3" where svcd is installed, or install svcd again`
    )
  })

  it("says nothing about other errors", () => {
    assert.isUndefined(nativeProblem(failed("x", "SQLITE_BUSY"), "better-sqlite3"))
    assert.isUndefined(nativeProblem("x", "better-sqlite3"))
  })
})
