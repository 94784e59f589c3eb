import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { METRICS } from "../../src/metrics/metrics.ts"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const write = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/write-metrics-docs.mjs"), ...args], { encoding: "utf8" })

describe("write-metrics-docs", () => {
  it("would not change docs/metrics.md, which has a row for each metric", () => {
    const { status, stderr } = write("--check")
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
    const page = readFileSync(join(ROOT, "docs/metrics.md"), "utf8")
    const rows = Array.from(page.matchAll(/^\| `(svcd_\w+)` \| (\w+) \|/gm), ([, name, kind]) => ({ name, kind }))
    assert.deepStrictEqual(rows, METRICS.map(({ kind, name }) => ({ name, kind })))
  })

  it("finds an outdated page, rewrites its generated part, and leaves the handwritten part", () =>
    withDirectory((directory) => {
      const page = join(directory, "metrics.md")
      copyFileSync(join(ROOT, "docs/metrics.md"), page)
      const good = readFileSync(page, "utf8")
      writeFileSync(
        page,
        good.replace("# Metrics", "# Our words").replace("| `svcd_errors_total` | counter", "| `x` | y")
      )
      const checked = write("--check", page)
      assert.strictEqual(checked.status, 1)
      assert.include(checked.stderr, "is not what the metrics say")
      assert.include(readFileSync(page, "utf8"), "| `x` | y")
      assert.strictEqual(write(page).status, 0)
      assert.strictEqual(readFileSync(page, "utf8"), good.replace("# Metrics", "# Our words"))
    }))
})
