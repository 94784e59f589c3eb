// Checks that imports in src point one way and in no circle, what each folder imports from outside, that none goes round a
// seam (seams.mjs, machineUse.mjs), and that each exported name and each _tag is in one file. Usage: check-imports.mjs [root]

import { existsSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { readModule, sourcesUnder } from "./importGraph.mjs"
import { machineUses } from "./machineUse.mjs"
import { faultOfSeam } from "./seams.mjs"

/** The folders of src in the order of the data flow: each imports only from those before it. */
const ORDER = [
  "protocol",
  "base",
  "consensus",
  "values",
  "verify",
  "config",
  "metrics",
  "storage",
  "chain",
  "names",
  "light",
  "dns",
  "mempool",
  "publish",
  "webhooks",
  "wallet",
  "alerts",
  "network",
  "rpc",
  "http",
  "electrum",
  "web",
  "desk",
  "client",
  "mail",
  "postgres",
  "node",
  "programs",
  "bin"
]

/** The files at the top of src are entry points of the library, between `node` and `programs`; but the version ranks before everything. */
const DOOR = ORDER.indexOf("node") + 0.5
const VERSION = "version.ts"

/** Folders and files that stay plain and synchronous, so that they run in a worker and in a browser too. */
const PURE = [
  "protocol/",
  "base/siphash.ts",
  "base/safeText.ts",
  "consensus/",
  "values/",
  "verify/",
  "network/wire/",
  "dns/wire/",
  "dns/zone/",
  "dns/records.ts",
  "dns/answer.ts",
  "dns/query.ts",
  "dns/domainRecord.ts",
  "dns/domainRecords.ts",
  "dns/hostQuestion.ts",
  "dns/plainZone.ts",
  "dns/recordsOfValue.ts",
  "dns/recordTypes.ts",
  "dns/tlsa.ts"
]

/** The files of the pure folders that load native code where the platform has it. */
const NATIVE_DOORS = ["protocol/hash.ts", "consensus/signature.ts", "consensus/signatureNative.ts"]

/** The one way back: the layers of `NameClient` are its statics, and load their code when they are built. */
const LATER = { from: "client/NameClient.ts", to: "node/clients.ts" }

/** The build puts values in place of this module (scripts/bundle.ts): what it imports is not loaded. */
const COMPUTED = "rpc/contract/arguments.ts"

/** Programs and entries that must start fast, and the folders that they therefore must not load, unless on use. */
const LIGHT = {
  "testing.ts": ["network", "http", "web", "desk", "mail"],
  "bin/svcd-cli.ts": [
    "metrics",
    "storage",
    "chain",
    "names",
    "mempool",
    "wallet",
    "network",
    "http",
    "web",
    "desk",
    "mail",
    "node"
  ]
}

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url))
const src = join(root, "src")
const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** Packages that src may import. Those of `devDependencies` end inside the bundles: scripts/bundle.ts refuses any other way. */
const packages = { ...devDependencies, ...dependencies }

/** The target of a relative import, as a path from the top of src. */
const resolved = ({ file, target }) => posix.join(posix.dirname(file), target)

const problems = []

const importsOf = (file) =>
  readModule(join(src, file), machineUses(file, problems)).imports
    .map((imported) => ({ file, ...imported }))
    .filter((imported) => !(imported.onUse && file === LATER.from && resolved(imported) === LATER.to))

const folderOf = (file) => file.includes("/") ? file.slice(0, file.indexOf("/")) : file

/** The rank of a file in the order; `undefined` for a folder that has none. */
const rankOf = (file) => {
  if (!file.includes("/")) return file === VERSION ? -1 : DOOR
  return ORDER.includes(folderOf(file)) ? ORDER.indexOf(folderOf(file)) : undefined
}

const isPure = (file) => PURE.some((folder) => file.startsWith(folder))

/** Packages without code for one platform, whose functions only compute. */
const isCorePackage = (name) => name.startsWith("@noble/") || name === "@scure/base"

const packageOf = (target) => target.split("/").slice(0, target.startsWith("@") ? 2 : 1).join("/")

const faultInside = (imported) => {
  const path = resolved(imported)
  if (path.startsWith("..")) return "leads out of src"
  if (!existsSync(join(src, path))) return "leads nowhere"
  if (rankOf(path) > rankOf(imported.file)) return `${folderOf(path)} comes after ${folderOf(imported.file)}`
  if (isPure(imported.file) && !isPure(path)) return "the core is plain and synchronous, and imports only itself"
  return undefined
}

const faultOutside = (imported) => {
  const { file, target } = imported
  if (/^(effect|@effect\/[^/]+)$/.test(target)) return "loads the whole package: import its modules one by one"
  const builtin = isBuiltin(target)
  const name = packageOf(target)
  if (!builtin && packages[name] === undefined) return `${name} is not among the packages of package.json`
  if (!isPure(file) || isCorePackage(name) || NATIVE_DOORS.includes(file)) return faultOfSeam(imported)
  return "the core takes nothing from outside but @noble/* and @scure/base"
}

const faultOf = (imported) => imported.target.startsWith(".") ? faultInside(imported) : faultOutside(imported)

/** The first import path by which a light program loads a forbidden folder. */
const heavyPath = (start, forbidden, byFile) => {
  const cameFrom = new Map([[start, undefined]])
  for (const file of cameFrom.keys()) {
    if (forbidden.includes(folderOf(file))) {
      const path = []
      for (let at = file; at !== undefined; at = cameFrom.get(at)) path.unshift(at)
      return path
    }
    for (const imported of file === COMPUTED ? [] : byFile.get(file) ?? []) {
      if (imported.typesOnly || imported.onUse || !imported.target.startsWith(".")) continue
      const next = resolved(imported)
      if (!cameFrom.has(next)) cameFrom.set(next, file)
    }
  }
  return undefined
}

/**
 * The cycles of files that import each other, type imports included: each a list of files. Tarjan's algorithm for
 * strongly connected components.
 */
const circlesOf = (byFile) => {
  const numbers = new Map()
  const lowest = new Map()
  const stack = []
  const circles = []
  const visit = (file) => {
    numbers.set(file, numbers.size)
    lowest.set(file, numbers.get(file))
    stack.push(file)
    for (const imported of byFile.get(file)) {
      const next = imported.target.startsWith(".") ? resolved(imported) : undefined
      if (next === file || !byFile.has(next)) continue
      if (!numbers.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)))
    }
    if (lowest.get(file) !== numbers.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1) circles.push(circle)
  }
  for (const file of byFile.keys()) if (!numbers.has(file)) visit(file)
  return circles
}

/** Functions of a module that is used as a namespace, as `NameDb.layer`: their names are in many files. */
const NAMESPACED = ["layer", "layerMemory", "make", "open", "run"]

/** Schemas of parameters and of results have the same words. Results are used as a namespace: `Result.amount`. */
const TWICE = ["rpc/method/params.ts", "rpc/method/results.ts"]

/** What `svcd/promise` declares has the names that `svcd` uses, in files of its own that need no Effect. */
const PLAIN = "client/promise/"

const isTwin = (places) => places.length === 2 && places.filter((file) => file.startsWith(PLAIN)).length === 1

const EXPORTED = /^export (?:abstract )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm
const TAGGED = /Tagged(?:Error|Class|Request)(?:<\w+>\(\))?\("(\w+)"/g

/** The names that a pattern finds in more than one file, with the files. */
const repeated = (files, pattern) => {
  const places = new Map()
  for (const file of files) {
    const text = readFileSync(join(src, file), "utf8")
    for (const name of new Set([...text.matchAll(pattern)].map((match) => match[1]))) {
      places.set(name, [...places.get(name) ?? [], file])
    }
  }
  return [...places].filter(([, found]) => found.length > 1)
}

const files = sourcesUnder(src)
const byFile = new Map(files.map((file) => [file, importsOf(file)]))

for (const [file, imports] of byFile) {
  if (rankOf(file) === undefined) problems.push(`src/${file}:1: ${folderOf(file)} has no place in the order of folders`)
  for (const imported of imports) {
    const fault = faultOf(imported)
    if (fault !== undefined) problems.push(`src/${file}:${imported.line}: "${imported.target}": ${fault}`)
  }
}
for (const [start, forbidden] of Object.entries(LIGHT)) {
  const path = byFile.has(start) ? heavyPath(start, forbidden, byFile) : undefined
  if (path !== undefined) problems.push(`src/${start}:1: has to stay light, but loads ${path.slice(1).join(" → ")}`)
}
for (const [name, places] of repeated(files, EXPORTED)) {
  if (NAMESPACED.includes(name) || places.every((file) => TWICE.includes(file)) || isTwin(places)) continue
  problems.push(`src/${places[0]}:1: ${name} is exported by ${places.slice(1).join(", ")} as well`)
}
for (const [tag, places] of repeated(files, TAGGED)) {
  problems.push(`src/${places[0]}:1: the _tag ${tag} is in ${places.slice(1).join(", ")} as well`)
}
for (const circle of circlesOf(byFile)) {
  const [first, ...others] = circle.toSorted()
  problems.push(`src/${first}:1: imports itself through ${others.join(", ")}`)
}

for (const problem of problems) console.error(problem)
const total = [...byFile.values()].reduce((sum, imports) => sum + imports.length, 0)
console.log(`imports: ${files.length} files, ${total} imports, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
