import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"
import { changed, type PlantedBug } from "./planted.ts"

/** A copy of the build with a planted bug. */

/** What a world loads of the build. */
const PARTS = ["examples", "scripts", "src", "test"]

/** Links the compiled files of a folder into another. */
const linkAll = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) linkAll(join(from, entry.name), join(to, entry.name))
    else if (entry.name.endsWith(".js")) linkSync(join(from, entry.name), join(to, entry.name))
  }
}

const compiled = (source: string, options: ts.CompilerOptions, fileName: string): string =>
  ts.transpileModule(source, { compilerOptions: options, fileName }).outputText

const compilerOptions = (root: string): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => readFileSync(path, "utf8"))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  // A transpiler sees one file, and not the package.json that makes it a module.
  const modules = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
  return { ...options, ...modules, declaration: false, declarationMap: false, sourceMap: false, incremental: false }
}

/**
 * Makes `build/planted/NAME` from the last build. Returns the compiled folder of the simulation there. Throws if the bug
 * does not apply to the sources.
 */
export const plant = (root: string, { edits, name }: PlantedBug): string => {
  const place = join(root, "build", "planted", name)
  rmSync(place, { recursive: true, force: true })
  for (const part of PARTS) linkAll(join(root, "build", part), join(place, part))
  const options = compilerOptions(root)
  const sources = new Map<string, string>()
  for (const edit of edits) {
    const before = sources.get(edit.file) ?? readFileSync(join(root, "src", edit.file), "utf8")
    sources.set(edit.file, changed(before, edit))
  }
  for (const [file, source] of sources) {
    const target = join(place, "src", file.replace(/\.ts$/, ".js"))
    // The link leads to the file of the build.
    rmSync(target)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, compiled(source, options, file))
  }
  return join(place, "test", "simulation")
}
