import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { fieldsOf } from "../../src/config/nodeOptions.ts"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const PAGE = readFileSync(join(ROOT, "docs/layers.md"), "utf8")

const write = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/write-layers-docs.mjs"), ...args], { encoding: "utf8" })

describe("docs/layers.md", () => {
  it("has a row for each option of a layer, as the script writes it", () => {
    const { status, stderr } = write("--check")
    assert.deepStrictEqual([status, stderr], [0, ""])
    const rows = Array.from(PAGE.matchAll(/^\| `(\w+)` \| [^|]+ \| [^|]+ \|$/gm), ([, name = ""]) => name)
    assert.deepStrictEqual(
      [...new Set(rows)].toSorted(),
      [...fieldsOf("Node", "RpcServer", "Metrics", "DnsServer", "ElectrumServer").keys()].toSorted()
    )
  })

  it("is found outdated where a default is another one", () =>
    withDirectory((directory) => {
      const page = join(directory, "layers.md")
      writeFileSync(page, PAGE.replace("| `maxPeers` |", "| `maxPears` |"))
      const checked = write("--check", page)
      assert.strictEqual(checked.status, 1)
      assert.include(checked.stderr, "is not what the options say")
    }))

  it("has a node of 20 lines", () => {
    const [, program = ""] = /`daemon\.mjs`:\n\n```js\n([\s\S]*?)```/.exec(PAGE) ?? []
    assert.isAbove(program.length, 100)
    assert.isAtMost(program.trimEnd().split("\n").length, 20)
  })
})
