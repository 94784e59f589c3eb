import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../../scripts/which-tests.mjs", import.meta.url))

const SOURCES = {
  "src/names/NameDb.ts": "export interface Row {}\nexport const open = 1",
  "src/rpc/nameMethods.ts": `import { open } from "../names/NameDb.ts"`,
  "src/names/other.ts": `import type { Row } from "./NameDb.ts"`,
  "src/bin/svcd.ts": `import "../rpc/nameMethods.ts"`,
  "test/names/NameDb.test.ts": `import { open } from "../../src/names/NameDb.ts"`,
  "test/names/a.test.ts": `import { open } from "../../src/names/NameDb.ts"`,
  "test/names/other.test.ts": `import "../../src/names/other.ts"`,
  "test/names/types.test.ts": `import { type Row } from "../../src/names/NameDb.ts"`,
  "test/rpc/later.test.ts": `await import("../../src/rpc/nameMethods.ts")`,
  "test/names/child.ts": `export * from "../../src/names/NameDb.ts"`,
  "test/names/killed.test.ts": `new URL("child.ts", import.meta.url)`,
  "test/support/daemon.ts": "(name) => new URL(`../../build/src/bin/${name}.js`, import.meta.url)",
  "test/integration/daemon.test.ts": `import "../support/daemon.ts"`
}

let tree = ""

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "svcd-which-tests-"))
  for (const [path, text] of Object.entries(SOURCES)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
})

afterAll(() => rmSync(tree, { recursive: true, force: true }))

const whichTests = (...files: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [SCRIPT, ...files], { cwd: tree, encoding: "utf8" })

describe("which-tests", () => {
  it("prints the tests that load a file, nearest first: through imports, and as programs that they start", () => {
    const { status, stdout } = whichTests("src/names/NameDb.ts")
    assert.deepStrictEqual(stdout.trimEnd().split("\n"), [
      "test/names/NameDb.test.ts",
      "test/names/a.test.ts",
      "test/names/killed.test.ts",
      "test/rpc/later.test.ts",
      "test/integration/daemon.test.ts"
    ])
    assert.strictEqual(status, 0)
  })

  it("accepts several files, and prints a test once", () => {
    const { stdout } = whichTests("./src/names/other.ts", join(tree, "src/rpc/nameMethods.ts"))
    assert.strictEqual(
      stdout,
      "test/names/other.test.ts\ntest/rpc/later.test.ts\ntest/integration/daemon.test.ts\n"
    )
  })

  it("refuses a path that is not a source of the project", () => {
    const { status, stderr, stdout } = whichTests("src/names/NameDb.ts", "src/names/none.ts", "src/names")
    assert.strictEqual(status, 2)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^src\/names\/none\.ts: no TypeScript file in src, [^]*\nsrc\/names: no TypeScript file in/)
    assert.strictEqual(whichTests().status, 2)
  })
})
