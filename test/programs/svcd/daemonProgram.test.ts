import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

/** The files that a file loads when it is loaded itself, without types. */
const loadedBy = (path: string): ReadonlyArray<string> =>
  [...readFileSync(path, "utf8").matchAll(/^import (?!type )[^;]*? from "([^"]+)"/gm)].flatMap(([, from]) => from ?? [])

describe("the start of programs", () => {
  it("loads the node only to run it: help and version need a third of the time", () => {
    const loaded = loadedBy("src/programs/svcd/daemonProgram.ts")
    assert.include(loaded, "../../config/commandLine.ts")
    assert.deepStrictEqual(loaded.filter((file) => file.includes("/node/") || file.includes("runDaemon")), [])
  })

  it("loads the client of svcd-mail only to ask a daemon", () => {
    assert.deepStrictEqual(loadedBy("src/bin/svcd-mail.ts").filter((file) => file.endsWith("/names.ts")), [])
  })
})
