// Refuses functions in src longer than 150 lines, and files longer than 400 there and in test, scripts and examples. A table,
// one literal that is read row by row, may be longer: TABLES lists the files. Usage: check-lengths.mjs [root].

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { sourcesUnder } from "./importGraph.mjs"

const LONGEST_FUNCTION = 150
const LONGEST_FILE = 400

/** Whether the functions of a folder are held to a length, beside its files: the body of a test is a story. */
const FOLDERS = { src: true, test: false, scripts: false, examples: false }

/** Files that may be longer, since they are tables. */
const TABLES = ["src/config/options.ts", "src/metrics/metrics.ts", "src/programs/cli/commandTable.ts"]

/** What a function is called by its readers: its own name, or that of the constant or member it is the value of. */
const nameOf = (node) => {
  if (node.name !== undefined) return node.name.getText()
  for (let at = node.parent; at !== undefined && !ts.isBlock(at); at = at.parent) {
    if (ts.isVariableDeclaration(at) || ts.isPropertyAssignment(at) || ts.isPropertyDeclaration(at)) {
      return at.name.getText()
    }
  }
  return "a function"
}

/** The functions of a file that are too long. Of functions inside each other, only the innermost one is named. */
const longFunctionsIn = (source) => {
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1
  const found = []
  const visit = (node) => {
    const before = found.length
    ts.forEachChild(node, visit)
    if (found.length > before || !ts.isFunctionLike(node) || node.body === undefined) return
    const line = lineAt(node.getStart())
    const lines = lineAt(node.end) - line + 1
    if (lines > LONGEST_FUNCTION) found.push({ line, fault: `${nameOf(node)} has ${lines} lines` })
  }
  visit(source)
  return found
}

const faultsIn = (root, file, looksAtFunctions) => {
  const text = readFileSync(join(root, file), "utf8")
  const faults = looksAtFunctions ? longFunctionsIn(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)) : []
  const lines = text.trimEnd().split("\n").length
  if (lines > LONGEST_FILE && !TABLES.includes(file)) faults.unshift({ line: 1, fault: `the file has ${lines} lines` })
  return faults
}

/** The programs under a folder, without those of packages, as paths from the root. */
const programsUnder = (root, folder) =>
  existsSync(join(root, folder))
    ? sourcesUnder(join(root, folder), /^(?!.*node_modules\/).*\.(?:ts|mjs)$/).map((file) => `${folder}/${file}`)
    : []

const [root = fileURLToPath(new URL("..", import.meta.url))] = process.argv.slice(2)

let count = 0
const problems = Object.entries(FOLDERS).flatMap(([folder, looksAtFunctions]) => {
  const files = programsUnder(root, folder)
  count += files.length
  return files.flatMap((file) =>
    faultsIn(root, file, looksAtFunctions).map(({ fault, line }) => `${file}:${line}: ${fault}: divide it by subject`)
  )
})
for (const problem of problems) console.error(problem)
console.log(`lengths: ${count} files, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
