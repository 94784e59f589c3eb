import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

let root = ""

/** A copy of the documents, to spoil. Tests and scripts are linked: documents only refer to them. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "svcd-docs-test-"))
  for (
    const name of [
      "README.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      "LICENSE",
      "contrib",
      "docs",
      "examples",
      "src",
      "vitest.config.ts"
    ]
  ) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true })
  }
  for (const name of ["test", "scripts"]) symlinkSync(join(ROOT, name), join(root, name))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const check = () => spawnSync(process.execPath, [join(ROOT, "scripts/check-docs.mjs"), root], { encoding: "utf8" })

const edit = (name: string, change: (text: string) => string): void => {
  const file = join(root, name)
  const before = readFileSync(file, "utf8")
  const after = change(before)
  assert.notStrictEqual(after, before, `${name} was to be spoiled`)
  writeFileSync(file, after)
}

describe("check-docs", () => {
  it("passes the documents of this repository", () => {
    const { status, stderr } = check()
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })

  it("names what the documents lack, and what they make up", () => {
    edit("README.md", (text) => `${text}\nSee [this](docs/none.md) and [that](docs/architecture.md#no-such-heading).\n`)
    edit("docs/configuration.md", (text) => text.replace(/^\| *`-network.*$/m, "").concat("\n`-nosuchflag` helps.\n"))
    edit("docs/rpc.md", (text) => text.replace(/^(#+) `?name_show`?$/m, "$1 name_tell"))
    writeFileSync(join(root, "docs/unlisted.md"), "# Unlisted\n")
    edit("docs/where-to-look.md", (text) => text.replace("`SCRYPT` in", "`SCRIPT` in"))
    edit("docs/names.md", (text) => `${text}\nSee \`isExpired\` in \`consensus/expired.ts\`.\n`)
    // Put together here: the check reads this file too.
    const foreign = ["design.md", "5"].join(" ")
    const [protocol, rpc] = ["protocol", "rpc"].map((name) => `reference/${name}.md`)
    writeFileSync(
      join(root, "src/cites.ts"),
      `// ${protocol} 99.1; ${rpc} 1.1 and 98.2\n` +
        `/**\n * Good (${protocol} 6.7, 6.8; ${protocol} appendix B), bad (${protocol} 6.7,\n` +
        ` * 97.3; ${protocol}\n * 96.4).\n */\n// ${foreign}\n`
    )
    const { status, stderr } = check()
    assert.strictEqual(status, 1)
    for (const [line, section] of [[1, "99.1"], [1, "98.2"], [3, "97.3"], [4, "96.4"]]) {
      assert.match(
        stderr,
        new RegExp(`^src/cites\\.ts:${line}: docs/reference/\\w+\\.md has no section ${section}$`, "m")
      )
    }
    assert.include(stderr, `src/cites.ts:7: cites a document that is not there: ${foreign}`)
    assert.lengthOf(stderr.match(/^src\/cites\.ts:/gm) ?? [], 5)
    assert.include(stderr, "the link leads nowhere: docs/none.md")
    assert.include(stderr, "no heading of docs/architecture.md is called #no-such-heading")
    assert.include(stderr, "docs/unlisted.md:1: docs/README.md does not list this page")
    assert.include(stderr, "`wallet/keys/seal.ts` has no `SCRIPT`")
    assert.include(stderr, "no file of this row has `SCRIPT`")
    assert.include(stderr, "there is no source file `consensus/expired.ts`")
    assert.include(stderr, "no row of a table begins with `-network`")
    assert.include(stderr, "there is no flag `-nosuchflag`")
    assert.include(stderr, "no heading for the method name_show")
    assert.include(stderr, "there is no method name_tell")
  })
})
