// Reads what TypeScript files import, for check-imports.mjs and which-tests.mjs.

import { readdirSync, readFileSync } from "node:fs"
import ts from "typescript"

/** The TypeScript files under a folder, as sorted paths from there with slashes. */
export const sourcesUnder = (folder, pattern = /\.ts$/) =>
  readdirSync(folder, { recursive: true })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => pattern.test(file))
    .sort()

/**
 * What a node of the syntax tree imports: the node of the path, whether the import exists at run time, whether only on
 * use, and its names, types aside; `undefined` for all.
 */
const importOf = (node) => {
  if (ts.isImportDeclaration(node)) {
    const clause = node.importClause
    const named = clause?.namedBindings
    const typesOnly = clause?.isTypeOnly === true ||
      (clause?.name === undefined && named !== undefined && ts.isNamedImports(named) && named.elements.length > 0 &&
        named.elements.every((element) => element.isTypeOnly))
    const names = clause?.name === undefined && named !== undefined && ts.isNamedImports(named)
      ? named.elements.filter((element) => !element.isTypeOnly).map((element) =>
        (element.propertyName ?? element.name).text
      )
      : undefined
    return { specifier: node.moduleSpecifier, typesOnly, names }
  }
  if (ts.isExportDeclaration(node)) return { specifier: node.moduleSpecifier, typesOnly: node.isTypeOnly }
  if (ts.isImportTypeNode(node)) return { specifier: node.argument.literal, typesOnly: true }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return { specifier: node.arguments[0], typesOnly: false, onUse: true }
  }
  return undefined
}

/**
 * The path in `new URL(path, import.meta.url)`, by which a file names a program that it starts; "*" for each value that
 * is known only at run time.
 */
const urlOf = (node) => {
  if (!ts.isNewExpression(node) || node.expression.text !== "URL") return undefined
  const [path, base] = node.arguments ?? []
  if (base === undefined || !ts.isPropertyAccessExpression(base) || !ts.isMetaProperty(base.expression)) {
    return undefined
  }
  if (ts.isStringLiteralLike(path)) return path.text
  if (!ts.isTemplateExpression(path)) return undefined
  return path.head.text + path.templateSpans.map(({ literal }) => `*${literal.text}`).join("")
}

/** The imports of a file with their lines, and the paths of programs that it starts. `look` gets each node, its parent and the tree. */
export const readModule = (path, look = () => {}) => {
  const tree = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest)
  const imports = []
  const urls = []
  const visit = (node, parent) => {
    look(node, parent, tree)
    const { names, onUse = false, specifier, typesOnly } = importOf(node) ?? {}
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      const line = tree.getLineAndCharacterOfPosition(specifier.getStart(tree)).line + 1
      imports.push({ line, target: specifier.text, typesOnly, onUse, names })
    }
    const url = urlOf(node)
    if (url !== undefined) urls.push(url)
    ts.forEachChild(node, (child) => visit(child, node))
  }
  visit(tree)
  return { imports, urls }
}
