import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../../scripts/check-waits.mjs", import.meta.url))

// In parts, since the check reads this file as well.
const SLEEP = ["Effect", "sleep(1)"].join(".")
const DELAY = ["Effect", "delay(1)"].join(".")
const TIMER = ["set", "Timeout(done, 5)"].join("")

describe("check-waits", () => {
  it("finds fixed waits in a test, but not in helpers and in tests of programs", () => {
    const root = mkdtempSync(join(tmpdir(), "svcd-waits-"))
    const files = {
      "test/a.test.ts": `${SLEEP}\n${TIMER}\nclock.${TIMER}\n`,
      "test/support/eventually.ts": SLEEP,
      "test/integration/a.test.ts": TIMER,
      "test/base/NodeClock.test.ts": `${SLEEP}\n${DELAY}\n`
    }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, root], { encoding: "utf8" })
    rmSync(root, { recursive: true, force: true })
    assert.deepStrictEqual(stderr.trim().split("\n").map((line) => line.split("(")[0]), [
      "test/a.test.ts:1: Effect.sleep",
      "test/a.test.ts:2: setTimeout",
      "test/base/NodeClock.test.ts:2: Effect.delay"
    ])
    assert.strictEqual(status, 1)
  })
})
