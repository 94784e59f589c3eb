import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { TsProcess } from "../../support/tsProcess.ts"

const PROGRAM = new URL("../../../src/bin/svcd.ts", import.meta.url)

describe("svcd", () => {
  it.live("survives a SIGHUP that arrives before it is loaded", () =>
    Effect.promise(async () => {
      // Sends the signal as soon as the program listens for it, before it does anything else.
      const program = new TsProcess(new URL("hangUp.ts", import.meta.url), [fileURLToPath(PROGRAM), "-version"])
      assert.strictEqual(await program.ended, 0, program.stderr)
      assert.match(program.stdout, /^svcd \d+\.\d+\.\d+\S*\nhung up\n$/)
    }))
})
