import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const withTree = (version: unknown, use: (root: string) => void): void => {
  const root = mkdtempSync(join(tmpdir(), "svcd-version-"))
  try {
    mkdirSync(join(root, "src"))
    writeFileSync(join(root, "package.json"), JSON.stringify({ version }))
    use(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const setVersion = (root: string, given?: string) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/set-version.mjs"), root], {
    encoding: "utf8",
    env: { ...process.env, SVCD_BUILD_VERSION: given }
  })

describe("set-version", () => {
  it("writes the file that is in the repository", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))
    withTree(version, (root) => {
      assert.strictEqual(setVersion(root).status, 0)
      const written = readFileSync(join(root, "src/version.ts"), "utf8")
      assert.strictEqual(written, readFileSync(join(ROOT, "src/version.ts"), "utf8"))
      assert.include(written, JSON.stringify(version))
    })
  })

  it("leaves a file with the right version unchanged", () => {
    withTree("1.2.3", (root) => {
      setVersion(root)
      const file = join(root, "src/version.ts")
      const { mtimeMs } = statSync(file)
      setVersion(root)
      assert.strictEqual(statSync(file).mtimeMs, mtimeMs)
    })
  })

  it("takes the version of the build in place of the package's", () => {
    withTree("1.2.3", (root) => {
      assert.strictEqual(setVersion(root, "1.3.0-rc.1+ours").status, 0)
      assert.include(readFileSync(join(root, "src/version.ts"), "utf8"), "\"1.3.0-rc.1+ours\"")
      assert.include(setVersion(root, "new").stderr, "SVCD_BUILD_VERSION: \"new\" is not a version")
    })
  })

  it.each(["1.2", "1.2.3\"\nprocess.exit()", undefined, 1])("refuses %j", (version) => {
    withTree(version, (root) => {
      const { status, stderr } = setVersion(root)
      assert.strictEqual(status, 1)
      assert.include(stderr, "is not a version")
    })
  })
})
