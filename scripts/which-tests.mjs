// Prints the test files that load the given files when they run, nearest first: through imports, and as programs that a
// test starts. Usage, at the top of the project: which-tests.mjs FILE…

import { existsSync } from "node:fs"
import { posix, relative } from "node:path"
import { readModule, sourcesUnder } from "./importGraph.mjs"

const FOLDERS = ["src", "test", "scripts", "examples"]

const files = FOLDERS.filter(existsSync).flatMap((folder) => sourcesUnder(folder).map((file) => `${folder}/${file}`))
const known = new Set(files)

/** The source of a path: of `x.js` and of `build/x.js`, it is `x.ts`. */
const sourceOf = (path) => path.replace(/^build\//, "").replace(/\.js$/, ".ts")

/** The files that a path with "*" in it may mean. */
const matches = (pattern) => {
  const [start, ...others] = pattern.split("*")
  return files.filter((file) => file.startsWith(start) && file.endsWith(others.at(-1)))
}

/** The files of the project that a file loads when it runs, or starts as programs. */
const loadedBy = (file) => {
  const { imports, urls } = readModule(file)
  const targets = imports.filter(({ target, typesOnly }) => !typesOnly && target.startsWith("."))
  return [...targets.map(({ target }) => target), ...urls]
    .map((target) => sourceOf(posix.join(posix.dirname(file), target)))
    .flatMap((path) => path.includes("*") ? matches(path) : [path])
    .filter((path) => known.has(path))
}

/** The number of steps from each file that loads one of the targets; 0 for the targets themselves. */
const distancesTo = (targets) => {
  const loaders = new Map(files.map((file) => [file, []]))
  for (const file of files) for (const loaded of loadedBy(file)) loaders.get(loaded).push(file)
  const distances = new Map(targets.map((target) => [target, 0]))
  for (const [file, distance] of distances) {
    for (const loader of loaders.get(file)) if (!distances.has(loader)) distances.set(loader, distance + 1)
  }
  return distances
}

/** The test of a file by its name: `src/a/B.ts` is tested by `test/a/B.test.ts`. */
const mirrorOf = (file) => file.replace(/^src\/(.*)\.ts$/, "test/$1.test.ts")

const targets = process.argv.slice(2).map((path) => relative(".", path).replaceAll("\\", "/"))
const unknown = targets.filter((target) => !known.has(target))

if (targets.length === 0 || unknown.length > 0) {
  for (const path of unknown) console.error(`${path}: no TypeScript file in ${FOLDERS.join(", ")}`)
  console.error("usage: node scripts/which-tests.mjs FILE…")
  process.exitCode = 2
} else {
  const mirrors = new Set(targets.map(mirrorOf))
  const tests = [...distancesTo(targets)]
    .filter(([file]) => file.endsWith(".test.ts"))
    .map(([file, distance]) => ({ file, distance: mirrors.has(file) ? 0 : distance }))
    .sort((a, b) => a.distance - b.distance || (a.file < b.file ? -1 : 1))
  for (const { file } of tests) console.log(file)
}
