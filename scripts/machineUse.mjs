// Finds code that takes time, timers, chance or consumption from the machine itself, where a simulated world cannot replace
// it. Used by check-imports.mjs; seams.mjs has the modules.

import ts from "typescript"

const CLOCK = "base/clock.ts"
const TURNS = "base/turns.ts"
const ENTROPY = "base/entropy.ts"
const CONSUMPTION = "base/consumption.ts"

/** Files that may: the seams, what runs before the program, and what only measures. */
const MAY = [
  CLOCK,
  TURNS,
  ENTROPY,
  CONSUMPTION,
  "base/boundHeap.ts",
  "bin/cachedStart.ts",
  "bin/svcdStart.ts",
  "metrics/processMetrics.ts",
  "verify/host.ts"
]

const chance = (...names) => Object.fromEntries(names.map((name) => [name, `randomBytes of ${ENTROPY}`]))

/** V8 collects garbage at different times in each run. */
const ENDS = "a scope, or an end that the code decides"

/** Globals, and what to use instead. */
const GLOBALS = {
  setTimeout: `afterDelay of ${TURNS}`,
  setInterval: `afterDelay of ${TURNS}, or Effect.repeat`,
  setImmediate: `nextTurn of ${TURNS}`,
  clearTimeout: `cancelTimer of ${TURNS}`,
  clearInterval: `cancelTimer of ${TURNS}`,
  clearImmediate: `cancelTimer of ${TURNS}`,
  performance: `monotonic of ${CLOCK}, or loopShare of ${CONSUMPTION}`,
  WeakRef: ENDS,
  FinalizationRegistry: ENDS
}

/** Members of globals. */
const MEMBERS = {
  Date: { now: `wallTime of ${CLOCK}` },
  Math: { random: `secureRandom of ${ENTROPY}` },
  crypto: chance("getRandomValues", "randomUUID", "subtle"),
  process: {
    hrtime: `monotonic of ${CLOCK}`,
    cpuUsage: `resourceUsage of ${CONSUMPTION}`,
    threadCpuUsage: `resourceUsage of ${CONSUMPTION}`,
    resourceUsage: `resourceUsage of ${CONSUMPTION}`,
    memoryUsage: `heapUsed of ${CONSUMPTION}`
  }
}

/** What modules from outside export, and members of what they make, that draw by themselves. */
const DRAWING = {
  ...chance("randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID", "getRandomValues", "webcrypto"),
  ...chance("generateKey", "generateKeySync", "generateKeyPair", "generateKeyPairSync", "generateKeys"),
  ...chance("generateMnemonic", "randomSecretKey", "randomPrivateKey", "keygen")
}

/** A member of this name is also what code gets passed, such as a test's. */
const PASSED = ["randomBytes"]

const has = (table, name) => Object.hasOwn(table, name)

const isGlobalThis = (node) => ts.isIdentifier(node) && node.text === "globalThis"

/** The name of a global, with or without `globalThis`. */
const globalOf = (node) =>
  ts.isIdentifier(node)
    ? node.text
    : ts.isPropertyAccessExpression(node) && isGlobalThis(node.expression)
    ? node.name.text
    : undefined

/** Whether an identifier is only the name of something: of a member, a key, a parameter or an import. */
const isOnlyName = (node, parent) =>
  parent.name === node || parent.propertyName === node || ts.isQualifiedName(parent) || ts.isTypeReferenceNode(parent)

const ofMember = (node) => {
  const name = node.name.text
  const owner = globalOf(node.expression) ?? ""
  if (isGlobalThis(node.expression)) return has(GLOBALS, name) ? { what: name, use: GLOBALS[name] } : undefined
  const use = has(MEMBERS, owner) && has(MEMBERS[owner], name) ? MEMBERS[owner][name] : undefined
  if (use !== undefined) return { what: `${owner}.${name}`, use }
  const isPassed = PASSED.includes(name) && !ts.isCallExpression(node.expression)
  return has(DRAWING, name) && !isPassed ? { what: name, use: DRAWING[name] } : undefined
}

const ofImport = (node) => {
  const from = node.moduleSpecifier.text
  const named = node.importClause?.namedBindings
  if (from.startsWith(".") || named === undefined || !ts.isNamedImports(named)) return undefined
  const drawing = named.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
    .find((name) => has(DRAWING, name))
  return drawing === undefined ? undefined : { what: drawing, use: DRAWING[drawing] }
}

const useOf = (node, parent) => {
  if (ts.isImportDeclaration(node)) return ofImport(node)
  if (ts.isPropertyAccessExpression(node)) return ofMember(node)
  if (ts.isNewExpression(node) && globalOf(node.expression) === "Date" && !node.arguments?.length) {
    return { what: "new Date()", use: `wallTime of ${CLOCK}` }
  }
  if (!ts.isIdentifier(node) || !has(GLOBALS, node.text) || isOnlyName(node, parent)) return undefined
  return { what: node.text, use: GLOBALS[node.text] }
}

/** Collects the uses in a file of src as problems. The result takes each node of its syntax tree. */
export const machineUses = (file, problems) => (node, parent, tree) => {
  const found = parent === undefined || MAY.includes(file) ? undefined : useOf(node, parent)
  if (found === undefined) return
  const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
  problems.push(`src/${file}:${line}: ${found.what} goes round a seam: use ${found.use}`)
}
