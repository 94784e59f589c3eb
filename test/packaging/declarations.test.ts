import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, cpSync, mkdirSync, symlinkSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** Makes a folder with svcd installed: the declarations of the build, and effect beside it. */
const install = (folder: string): void => {
  const svcd = join(folder, "node_modules/svcd")
  mkdirSync(svcd, { recursive: true })
  copyFileSync(join(ROOT, "package.json"), join(svcd, "package.json"))
  cpSync(join(ROOT, "build/types"), join(svcd, "build/types"), {
    recursive: true,
    filter: (path) => extname(path) === "" || path.endsWith(".d.ts")
  })
  symlinkSync(join(ROOT, "node_modules/effect"), join(folder, "node_modules/effect"))
}

const FLAGS =
  "--strict --exactOptionalPropertyTypes --declaration --target es2022 --module nodenext --types node --outDir made"

const compile = (folder: string, source: string): string => {
  copyFileSync(join(ROOT, source), join(folder, "program.mts"))
  const typeRoots = join(ROOT, "node_modules/@types")
  const { stdout } = spawnSync(
    process.execPath,
    [join(ROOT, "node_modules/typescript/bin/tsc"), ...FLAGS.split(" "), "--typeRoots", typeRoots, "program.mts"],
    { cwd: folder, encoding: "utf8" }
  )
  return stdout
}

describe("the declarations of the package", () => {
  it("name all that an application infers over them (TS2742), and compile without skipLibCheck", () =>
    withDirectory((folder) => {
      install(folder)
      assert.strictEqual(compile(folder, ".ci/exported-types.ts"), "")
    }))
})
