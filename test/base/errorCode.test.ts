import { assert, describe, it } from "@effect/vitest"
import { codeOf, diskRemedy, reasonOf } from "../../src/base/errorCode.ts"

describe("codeOf", () => {
  it.each<readonly [string, unknown, string]>([
    ["an error of the system", Object.assign(new Error("open 'x'"), { code: "ENOENT" }), "ENOENT"],
    ["an error without a code", new TypeError("not open"), "not open"],
    ["an error whose code is a number", Object.assign(new Error("refused"), { code: 7 }), "refused"],
    ["an error without any text", new RangeError(""), "RangeError"],
    ["a text", "closed", "closed"]
  ])("returns the text of %s", (_, error, expected) => {
    assert.strictEqual(codeOf(error), expected)
  })
})

describe("reasonOf", () => {
  const own = new Map([["ENOENT", "it is gone"], ["ENOSPC", "no room for mail"]])

  it.each([
    { code: "ENOSPC", words: "the disk is full" },
    { code: "EADDRINUSE", words: "the address is in use; another program, or another svcd, listens there" },
    { code: "ECONNREFUSED", words: "connection refused" },
    { code: "ENOENT", words: "ENOENT" },
    { code: "EUNKNOWN", words: "EUNKNOWN" }
  ])("$code is: $words", ({ code, words }) => {
    assert.strictEqual(reasonOf(code), words)
  })

  it("prefers the words of its caller", () => {
    assert.deepStrictEqual(["ENOENT", "ENOSPC", "EROFS"].map((code) => reasonOf(code, own)), [
      "it is gone",
      "no room for mail",
      "the file system is read-only"
    ])
  })
})

describe("diskRemedy", () => {
  it("is one for a failing disk, whether the system or SQLite reports it", () => {
    assert.match(diskRemedy("EIO"), /check the disk/)
    for (const code of ["SQLITE_IOERR", "SQLITE_IOERR_FSYNC"]) assert.strictEqual(diskRemedy(code), diskRemedy("EIO"))
    assert.match(diskRemedy("ENOSPC"), /make room/)
    assert.deepStrictEqual([diskRemedy("ENOENT"), diskRemedy(undefined)], ["", ""])
  })
})
