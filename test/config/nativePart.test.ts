import { assert, describe, it } from "@effect/vitest"
import { missingPart, nativeProblem } from "../../src/config/nativePart.ts"

const failed = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code })

describe("nativeProblem", () => {
  it.each([
    [failed("Cannot find module '/x/better_sqlite3.node'\nRequire stack:\n- /y", "MODULE_NOT_FOUND"), "is missing"],
    [failed("/x.node: invalid ELF header", "ERR_DLOPEN_FAILED"), "cannot be loaded on this system"],
    [failed("libc.so.6: version `GLIBC_2.34' not found", "ERR_DLOPEN_FAILED"), "cannot be loaded on this system"]
  ])("names part, platform and remedy on one line: %s", (error, what) => {
    const problem = nativeProblem(error, "better-sqlite3") ?? ""
    const part = `the native part of better-sqlite3 for ${process.platform} on ${process.arch}`
    assert.isTrue(problem.startsWith(`${part} ${what}: install svcd again, or compile it with "npm explore`), problem)
    assert.notInclude(problem, "\n")
  })

  it("says nothing about other errors", () => {
    assert.isUndefined(nativeProblem(failed("x", "SQLITE_BUSY"), "better-sqlite3"))
    assert.isUndefined(nativeProblem(failed("Cannot find module 'x'", "MODULE_NOT_FOUND"), "x"))
    assert.isUndefined(nativeProblem("x", "better-sqlite3"))
  })
})

describe("missingPart", () => {
  const remedy = "is missing: run \"npm install\" where svcd is installed, or install svcd again"

  it.each([
    [
      "Cannot find package 'better-sqlite3' imported from /x/chunk.js",
      "ERR_MODULE_NOT_FOUND",
      "the package better-sqlite3"
    ],
    ["Cannot find module '@effect/sql'\nRequire stack:\n- /y", "MODULE_NOT_FOUND", "the package @effect/sql"],
    ["Cannot find module '/x/chunk-AB.js' imported from /x/svcd-mail.main.js", "ERR_MODULE_NOT_FOUND", "a file of svcd"]
  ])("names what is missing, and the remedy: %s", (message, code, what) => {
    assert.strictEqual(missingPart(failed(message, code)), `${what} ${remedy}`)
  })

  it("says nothing about other errors", () => {
    assert.isUndefined(missingPart(failed("Cannot find package 'x'")))
    assert.isUndefined(missingPart("x"))
  })
})
