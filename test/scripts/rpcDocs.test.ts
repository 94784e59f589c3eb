import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const write = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/write-rpc-docs.mjs"), ...args], { encoding: "utf8" })

describe("write-rpc-docs", () => {
  it("would not change docs/rpc.md", () => {
    const { status, stderr } = write("--check")
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  }, 60_000)

  it(
    "finds an outdated page, rewrites its generated part, and leaves the handwritten part",
    () =>
      withDirectory((directory) => {
        const page = join(directory, "rpc.md")
        copyFileSync(join(ROOT, "docs/rpc.md"), page)
        const good = readFileSync(page, "utf8")
        writeFileSync(page, good.replace("# JSON-RPC", "# Our words").replace("### name_show", "### name_tell"))
        const checked = write("--check", page)
        assert.strictEqual(checked.status, 1)
        assert.include(checked.stderr, "is not what the methods say")
        assert.include(readFileSync(page, "utf8"), "### name_tell")
        assert.strictEqual(write(page).status, 0)
        assert.strictEqual(readFileSync(page, "utf8"), good.replace("# JSON-RPC", "# Our words"))
      }),
    60_000
  )

  it("refuses a page without the mark", () =>
    withDirectory((directory) => {
      const page = join(directory, "rpc.md")
      writeFileSync(page, "# JSON-RPC\n")
      assert.notStrictEqual(write(page).status, 0)
      assert.strictEqual(readFileSync(page, "utf8"), "# JSON-RPC\n")
    }))
})
