// How docs/rpc.md shows the form of a result.

import { isDeepStrictEqual } from "node:util"
import { describedBy } from "../../build/src/rpc/method/results.js"
import { AUXPOW, HEADER } from "../../build/src/rpc/shapes/block.js"
import { NAME_INFO, NAME_OP } from "../../build/src/rpc/shapes/name.js"
import { SCRIPT } from "../../build/src/rpc/shapes/script.js"
import { TRANSACTION, TRANSACTION_WITH_COINS } from "../../build/src/rpc/shapes/transaction.js"

/** Shapes that several results share: shown once, and referred to by name elsewhere. The larger ones first. */
export const SHARED = [
  ["Header", describedBy(HEADER), "A block header and its place in the chain."],
  ["Auxpow", describedBy(AUXPOW), "A merged-mining proof."],
  [
    "TransactionWithCoins",
    describedBy(TRANSACTION_WITH_COINS),
    "A transaction whose inputs show the coins that they spend."
  ],
  ["Transaction", describedBy(TRANSACTION), "A transaction."],
  ["Script", describedBy(SCRIPT), "An output script."],
  ["NameOp", describedBy(NAME_OP), "The name operation in a script."],
  ["NameInfo", describedBy(NAME_INFO), "A record of a name."]
]

const WORDS = {
  string: "text",
  hex: "hex",
  number: "number",
  integer: "integer",
  amount: "amount",
  time: "time",
  boolean: "true or false",
  null: "null",
  any: "any"
}

const isAll = (shape, shared) =>
  Object.entries(shared.members).every(([name, member]) => isDeepStrictEqual(shape.members[name], member))

/** The shared shapes that an object consists of, except itself. */
const partsOf = (shape, itself) =>
  SHARED.filter(([, shared]) => shared !== itself && shared.kind === "object" && isAll(shape, shared)).slice(0, 1)

/** The lines that document a shape: text and explanation. */
const linesOf = (shape, indent, prefix, suffix, itself) => {
  const same = shape.kind === "object" &&
    SHARED.find(([, shared]) => shared !== itself && isDeepStrictEqual(shared.members, shape.members))
  const words = shape.description === "" ? "" : shape.description
  if (same) return [[`${indent}${prefix}${same[0]}${suffix}`, words]]
  const inner = `${indent}  `
  switch (shape.kind) {
    case "array": {
      const items = linesOf(shape.items, inner, "", "")
      const [only] = items
      if (items.length > 1) {
        return [[`${indent}${prefix}[`, words], ...items, [`${inner}…`, ""], [`${indent}]${suffix}`, ""]]
      }
      return [[`${indent}${prefix}[${only[0].trim()}, …]${suffix}`, words === "" ? only[1] : words]]
    }
    case "map":
      return [
        [`${indent}${prefix}{`, words],
        ...linesOf(shape.values, inner, `<${shape.key}>: `, ""),
        [`${inner}…`, ""],
        [`${indent}}${suffix}`, ""]
      ]
    case "object": {
      const parts = partsOf(shape, itself)
      const within = new Set(parts.flatMap(([, part]) => Object.keys(part.members)))
      const own = Object.entries(shape.members).filter(([name]) => !within.has(name))
      return [
        [`${indent}${prefix}{`, words],
        ...parts.map(([name]) => [`${inner}…${name}`, `All members of ${name}`]),
        ...own.flatMap(([name, member]) => linesOf(member, inner, `${name}${member.optional ? "?" : ""}: `, "")),
        [`${indent}}${suffix}`, ""]
      ]
    }
    default:
      return [[`${indent}${prefix}${WORDS[shape.kind]}${suffix}`, words]]
  }
}

export const block = (language, lines) => ["```" + language, ...lines, "```"]

export const shapeBlock = (shape, itself) => {
  const lines = linesOf(shape, "", "", "", itself)
  const width = Math.min(48, Math.max(...lines.map(([left]) => left.length))) + 2
  return block("", lines.map(([left, right]) => right === "" ? left : `${left.padEnd(width)}${right}`))
}
