import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const completeLock = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/complete-lock.mjs"), ...args], { encoding: "utf8" })

describe("package-lock.json", () => {
  it("has the packages of every platform, so that npm ci accepts it everywhere", () => {
    const { status, stderr } = completeLock("--check")
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })

  it("does not say where packages came from", () => {
    assert.notInclude(readFileSync(join(ROOT, "package-lock.json"), "utf8"), "\"resolved\"")
  })

  it("gets what a registry lacked, in the form of npm", () => {
    const directory = mkdtempSync(join(tmpdir(), "svcd-lock-"))
    try {
      const file = join(directory, "package-lock.json")
      const optionalDependencies = { "tool-linux-arm64-musl": "1.2.3", "tool-darwin-x64": "1.2.3", fsevents: "~2.3.2" }
      writeFileSync(
        file,
        JSON.stringify({
          packages: {
            "": { devDependencies: { tool: "1.2.3" } },
            "node_modules/tool": { version: "1.2.3", dev: true, optionalDependencies },
            "node_modules/tool-darwin-x64": { version: "1.2.3", dev: true, optional: true }
          }
        })
      )
      assert.strictEqual(
        completeLock("--check", file).stderr,
        "package-lock.json lacks tool-linux-arm64-musl\npackage-lock.json lacks fsevents\n"
      )
      completeLock(file)
      const { packages } = JSON.parse(readFileSync(file, "utf8"))
      assert.deepStrictEqual(Object.keys(packages), [
        "",
        "node_modules/fsevents",
        "node_modules/tool",
        "node_modules/tool-darwin-x64",
        "node_modules/tool-linux-arm64-musl"
      ])
      assert.deepStrictEqual(packages["node_modules/tool-linux-arm64-musl"], {
        version: "1.2.3",
        cpu: ["arm64"],
        dev: true,
        libc: ["musl"],
        optional: true,
        os: ["linux"]
      })
      assert.strictEqual(completeLock("--check", file).status, 0)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
