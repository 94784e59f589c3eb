// Refuses functions in src that take more than three parameters, or two neighbouring parameters of one primitive type that
// a caller can swap. A function that runs so often that an object would cost, or whose parameters another program sets,
// says so in a comment above it: `positional: <reason>`. Usage: check-params.mjs [root].

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { sourcesUnder } from "./importGraph.mjs"

const MOST_PARAMETERS = 3

const KEYWORDS = new Map([
  [ts.SyntaxKind.StringKeyword, "string"],
  [ts.SyntaxKind.NumberKeyword, "number"],
  [ts.SyntaxKind.BooleanKeyword, "boolean"],
  [ts.SyntaxKind.BigIntKeyword, "bigint"]
])

/** The primitive type that an initial value gives a parameter without a type. */
const typeOfValue = (value) => {
  if (ts.isNumericLiteral(value)) return "number"
  if (ts.isStringLiteralLike(value)) return "string"
  if (value.kind === ts.SyntaxKind.TrueKeyword || value.kind === ts.SyntaxKind.FalseKeyword) return "boolean"
  return ts.isBigIntLiteral(value) ? "bigint" : undefined
}

/** The primitive type of a parameter, `undefined` aside. A brand is a type of its own, so it is none. */
const primitiveOf = ({ initializer, type }) => {
  if (type === undefined) return initializer === undefined ? undefined : typeOfValue(initializer)
  if (!ts.isUnionTypeNode(type)) return KEYWORDS.get(type.kind)
  const [first, ...others] = type.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword)
  return others.length === 0 && first !== undefined ? KEYWORDS.get(first.kind) : undefined
}

/** Neighbours whose order is a convention that every reader knows. */
const CONVENTIONAL = new Set(["a b", "from to", "start end", "offset length", "min max", "low high", "x y"])

const isConventional = (one, other) => CONVENTIONAL.has(`${one.name.getText()} ${other.name.getText()}`)

/** Whether a comment above a line says why its function takes several parameters: `positional: <reason>`. */
const isDefended = (lines, line) => {
  for (let at = line - 2; at >= 0 && /^\s*(\/\/|\/\*\*|\*)/.test(lines[at] ?? ""); at--) {
    if (/positional: \S/.test(lines[at])) return true
  }
  return false
}

const faultOf = (parameters) => {
  if (parameters.length > MOST_PARAMETERS) return `${parameters.length} parameters`
  const at = parameters.findIndex((one, i) =>
    i > 0 && primitiveOf(one) && primitiveOf(one) === primitiveOf(parameters[i - 1]) &&
    !isConventional(parameters[i - 1], one)
  )
  if (at < 0) return undefined
  return `${parameters[at - 1].name.getText()} and ${parameters[at].name.getText()} are both ${
    primitiveOf(parameters[at])
  }`
}

/** The functions of a file that break the rule, as lines and reasons. Function types and overloads count as well. */
const faultsIn = (path) => {
  const text = readFileSync(path, "utf8")
  const lines = text.split("\n")
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const faults = []
  const visit = (node) => {
    if (ts.isFunctionLike(node) && !ts.isIndexSignatureDeclaration(node)) {
      const fault = faultOf(node.parameters.filter(({ name }) => name.getText() !== "this"))
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
      if (fault !== undefined && !isDefended(lines, line)) faults.push({ line, fault })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return faults
}

const [root = fileURLToPath(new URL("..", import.meta.url))] = process.argv.slice(2)

const files = sourcesUnder(join(root, "src"))
const problems = files.flatMap((file) =>
  faultsIn(join(root, "src", file)).map(({ fault, line }) => `src/${file}:${line}: ${fault}: take one object`)
)
for (const problem of problems) console.error(problem)
console.log(`params: ${files.length} files, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
