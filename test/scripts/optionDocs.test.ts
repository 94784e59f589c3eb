import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { OPTIONS } from "../../src/config/options.ts"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const PAGES = ["configuration.md", "layers.md", "svcd.conf.sample"] as const

describe("write-option-docs.mjs", () => {
  it("adds what the documents lack of an option, and nothing else", () =>
    withDirectory((directory) => {
      for (const page of PAGES) copyFileSync(join(ROOT, "docs", page), join(directory, page))
      const read = (page: (typeof PAGES)[number]): ReadonlyArray<string> =>
        readFileSync(join(directory, page), "utf8").split("\n")
      const before = PAGES.map(read)
      const row = read("configuration.md").findIndex((line) => line.startsWith("| `-dbcache` |"))
      const key = read("svcd.conf.sample").findIndex((line) => line.startsWith("# dbcache = "))
      writeFileSync(join(directory, "configuration.md"), read("configuration.md").toSpliced(row, 1).join("\n"))
      writeFileSync(join(directory, "svcd.conf.sample"), read("svcd.conf.sample").toSpliced(key - 2, 3).join("\n"))
      const { status, stderr } = spawnSync(
        process.execPath,
        [join(ROOT, "scripts/write-option-docs.mjs"), directory],
        { encoding: "utf8" }
      )
      assert.deepStrictEqual([status, stderr], [0, ""])
      assert.strictEqual(
        read("configuration.md")[row],
        `| \`-dbcache\` | number | \`32\` | | M${OPTIONS.dbcache.description.slice(1)}. |`
      )
      assert.strictEqual(read("svcd.conf.sample")[key], `# dbcache = ${OPTIONS.dbcache.default}`)
      assert.deepStrictEqual(PAGES.map((page) => read(page).length), before.map((lines) => lines.length))
      assert.deepStrictEqual(read("layers.md"), before[1])
    }))
})
