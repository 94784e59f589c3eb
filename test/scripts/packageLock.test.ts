import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const completeLock = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = process.env) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/complete-lock.mjs"), ...args], { encoding: "utf8", env })

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
}

const lockedPackages = (file: string): ReadonlyArray<readonly [path: string, entry: Locked]> =>
  Object.entries<Locked>(JSON.parse(readFileSync(file, "utf8")).packages).filter(([path]) => path !== "")

/**
 * Packages whose hash may be missing: compiled parts of development tools and of one optional speed-up, for platforms
 * other than the one that the lock was written on. Of any other package a missing hash is an error.
 */
const OTHER_PLATFORMS = /^node_modules\/(?:@dprint|@effect|@rollup|@oxlint|@msgpackr-extract|@typescript)\/[a-z0-9-]+$/

const inTemporaryDirectory = (use: (directory: string) => void): void => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-lock-"))
  try {
    use(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe("package-lock.json", () => {
  for (const name of ["package-lock.json", "scripts/effect/package-lock.json"]) {
    const file = join(ROOT, name)

    it(`${name} has the packages of every platform, so that npm ci accepts it everywhere`, () => {
      const { status, stderr } = completeLock(["--check", file])
      assert.strictEqual(stderr, "")
      assert.strictEqual(status, 0)
    })

    it(`${name} does not contain the registry that packages came from`, () => {
      assert.notInclude(readFileSync(file, "utf8"), "\"resolved\"")
    })

    it(`${name} pins every package by hash, but compiled ones for other platforms`, () => {
      for (const [path, { integrity, optional, os }] of lockedPackages(file)) {
        if (integrity !== undefined) {
          assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, path)
          continue
        }
        assert.match(path, OTHER_PLATFORMS)
        assert.isTrue(optional, path)
        assert.isNotEmpty(os, path)
      }
    })
  }

  it("has what the library loads as dependencies of exact versions, but effect, which an application shares", () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))
    const { effect, ...others } = dependencies
    assert.match(effect, /^\^3\./)
    assert.deepStrictEqual(Object.values(others).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version))), [])
  })

  it("gets the hashes that npm knows, and names the packages without one", () =>
    inTemporaryDirectory((directory) => {
      const file = join(directory, "package-lock.json")
      const integrity = `sha512-${"A".repeat(86)}==`
      writeFileSync(
        join(directory, "npm"),
        `#!/bin/sh\n[ "$*" = "view @a/tool@1.2.3 dist.integrity" ] && echo ${integrity} && exit 0\nexit 1\n`,
        { mode: 0o755 }
      )
      const known = { version: "2.0.0", integrity: "sha512-known" }
      const packages = {
        "": { name: "x" },
        "node_modules/@a/tool": { version: "1.2.3", dev: true },
        "node_modules/b": known,
        "node_modules/b/node_modules/c": { version: "3.0.0", optional: true }
      }
      writeFileSync(file, JSON.stringify({ packages }))
      const { status, stderr } = completeLock(["--integrity", file], {
        ...process.env,
        PATH: `${directory}:${process.env["PATH"]}`
      })
      assert.strictEqual(stderr, "the registry lacks c@3.0.0\n")
      assert.strictEqual(status, 1)
      const written = JSON.parse(readFileSync(file, "utf8")).packages
      assert.deepStrictEqual(written, {
        ...packages,
        "node_modules/@a/tool": { version: "1.2.3", integrity, dev: true }
      })
      assert.deepStrictEqual(Object.keys(written["node_modules/@a/tool"]), ["version", "integrity", "dev"])
    }))

  it("gets the packages that a registry lacked, in npm's form", () =>
    inTemporaryDirectory((directory) => {
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
        completeLock(["--check", file]).stderr,
        "package-lock.json lacks tool-linux-arm64-musl\npackage-lock.json lacks fsevents\n"
      )
      completeLock([file])
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
      assert.strictEqual(completeLock(["--check", file]).status, 0)
    }))
})
