import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../../scripts/check-english.mjs", import.meta.url))

let root = ""

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "svcd-english-"))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const check = (files: Readonly<Record<string, string>>) => {
  const tree = mkdtempSync(join(root, "tree-"))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, tree], { encoding: "utf8" })
  return { status, problems: stderr.split("\n").filter((line) => line !== "") }
}

describe("check-english", () => {
  it.each([
    ["A name that is no domain.", "is no domain"],
    ["Bytes which are no text.", "are no text"],
    ["It works. Also after a restart.", "Also after"],
    ["It continues, also if the node restarts.", ", also if"],
    ["It lists all of them, also those of others.", ", also those"],
    ["The reason stands in the log.", "stands in"],
    ["It goes on over restarts.", "over restarts"]
  ])("finds the form in: %s", (sentence, found) => {
    const { problems, status } = check({ "src/a.ts": `// One.\n// ${sentence}\n` })
    assert.lengthOf(problems, 1)
    assert.include(problems[0], `src/a.ts:2: "${found}"`)
    assert.strictEqual(status, 1)
  })

  it("reads documents, tests, scripts and examples, but neither fixtures nor the changelog", () => {
    const wrong = "This is no name.\n"
    const { problems } = check({
      "README.md": wrong,
      "CHANGELOG.md": wrong,
      "docs/decisions/a.md": wrong,
      "examples/a.ts": wrong,
      "scripts/a.mjs": wrong,
      "test/a.test.ts": wrong,
      "test/fixtures/README.md": wrong
    })
    assert.deepStrictEqual(problems.map((problem) => problem.split(":")[0]), [
      "test/a.test.ts",
      "scripts/a.mjs",
      "examples/a.ts",
      "docs/decisions/a.md",
      "README.md"
    ])
  })

  it("passes what a native writer keeps", () => {
    const { problems, status } = check({
      "docs/a.md": [
        "There is no wallet, and where there are no peers it is no longer in sync.",
        "The rate is no higher than before, and the answer is no more than a guess.",
        "Also known as a reorg. It also survives a restart, and it stands in for the node.",
        "The name stands for a domain, and the vote is over."
      ].join("\n")
    })
    assert.deepStrictEqual(problems, [])
    assert.strictEqual(status, 0)
  })
})
