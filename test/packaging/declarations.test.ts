import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, cpSync, mkdirSync, symlinkSync } from "node:fs"
import { isBuiltin } from "node:module"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { modulesIn, reachedFrom } from "../../scripts/bundle/declarations.ts"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** Makes a folder with svcd installed, as the declarations of the build, and other packages beside it. */
const install = (folder: string, packages: ReadonlyArray<string>): void => {
  const svcd = join(folder, "node_modules/svcd")
  mkdirSync(svcd, { recursive: true })
  copyFileSync(join(ROOT, "package.json"), join(svcd, "package.json"))
  cpSync(join(ROOT, "build/types"), join(svcd, "build/types"), {
    recursive: true,
    filter: (path) => extname(path) === "" || path.endsWith(".d.ts")
  })
  for (const name of packages) symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name))
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
      install(folder, ["effect"])
      assert.strictEqual(compile(folder, ".ci/exported-types.ts"), "")
    }))

  it("of svcd/promise compile without skipLibCheck where there is no effect, and have no `any`", () =>
    withDirectory((folder) => {
      install(folder, [])
      assert.strictEqual(compile(folder, ".ci/promise-types.ts"), "")
    }))

  it("of svcd/promise name no other package, of whatever version an application has one", () => {
    const texts = [...reachedFrom(join(ROOT, "build/types"), ["promise"]).values()]
    const modules = texts.flatMap((text) => [
      // An example in a comment is not loaded.
      ...modulesIn(text.replaceAll(/\/\*.*?\*\//gs, "")),
      ...[...text.matchAll(/^\/\/\/ <reference types="([^"]+)"/gm)].map(([, name = ""]) => name)
    ])
    assert.isAbove(modules.length, 0)
    assert.deepStrictEqual(modules.filter((name) => !name.startsWith(".") && !isBuiltin(name)), [])
  })
})
