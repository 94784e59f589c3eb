import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../../scripts/check-lengths.mjs", import.meta.url))

let root = ""

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "svcd-lengths-"))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const check = (sources: Readonly<Record<string, string>>) => {
  const tree = mkdtempSync(join(root, "tree-"))
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const { status, stderr, stdout } = spawnSync(process.execPath, [SCRIPT, tree], { encoding: "utf8" })
  return { status, stdout, problems: stderr.split("\n").filter((line) => line !== "") }
}

/** A function of so many lines, its first and last included. */
const functionOf = (lines: number, first = "export const f = () => {") =>
  [first, ...Array.from({ length: lines - 2 }, () => "  g()"), "}"].join("\n")

describe("check-lengths", () => {
  it("passes functions of 150 lines, files of 400, and long tables", () => {
    const { problems, status, stdout } = check({
      "src/a.ts": `${functionOf(150)}\n`,
      "src/b.ts": "// a line\n".repeat(400),
      "src/config/options.ts": "// a row\n".repeat(500),
      "test/a.test.ts": functionOf(400),
      "scripts/node_modules/a/long.mjs": "// a line\n".repeat(401)
    })
    assert.deepStrictEqual(problems, [])
    assert.include(stdout, "4 files, 0 problems")
    assert.strictEqual(status, 0)
  })

  it("names a longer function after what holds it", () => {
    const { problems, status } = check({
      "src/a.ts": `\n${functionOf(151)}`,
      "src/b.ts": functionOf(151, "export function b() {"),
      "src/c.ts": `class A {\n${functionOf(151, "c() {")}\n}`,
      "src/d.ts": `export const d = Effect.gen(${functionOf(151, "function*() {")})`
    })
    assert.deepStrictEqual(problems, [
      "src/a.ts:2: f has 151 lines: divide it by subject",
      "src/b.ts:1: b has 151 lines: divide it by subject",
      "src/c.ts:2: c has 151 lines: divide it by subject",
      "src/d.ts:1: d has 151 lines: divide it by subject"
    ])
    assert.strictEqual(status, 1)
  })

  it("names only the innermost one of functions inside each other", () => {
    const inner = functionOf(151, "  const inner = () => {")
    const { problems } = check({ "src/a.ts": `export const outer = () => {\n${inner}\n}` })
    assert.deepStrictEqual(problems, ["src/a.ts:2: inner has 151 lines: divide it by subject"])
  })

  it("names a file with more than 400 lines that is not a table", () => {
    const long = ["src/a.ts", "test/config/options.ts", "test/b.test.ts", "scripts/c.mjs", "examples/d/e.ts"]
    const { problems, status } = check(Object.fromEntries(long.map((path) => [path, "// a line\n".repeat(401)])))
    assert.deepStrictEqual(
      problems.toSorted(),
      long.map((path) => `${path}:1: the file has 401 lines: divide it by subject`).toSorted()
    )
    assert.strictEqual(status, 1)
  })
})
