import { type Bytes, toHex } from "../bytes.ts"
import {
  afterType,
  andorType,
  type Binary,
  binaryTypes,
  has,
  leafTypes,
  type MiniscriptType,
  olderType,
  threshType,
  type,
  type Wrapper,
  wrapperTypes
} from "./types.ts"

/** -Infinity if impossible. */
interface Cost {
  readonly sat: number
  readonly dsat: number
}

/** The place of a miniscript: the witness script of a P2WSH output, or a leaf of a taproot output. */
export type MiniscriptContext = "P2WSH" | "tapscript"

export interface Expression {
  readonly type: MiniscriptType
  readonly text: string
  /** Whether the text begins with wrappers. Another one then needs no colon. */
  readonly wrapped: boolean
  /** Set if some parents have a short form for this expression. `text` is that of a checked key. */
  readonly sugar?: { readonly kind: "zero" | "one" } | { readonly kind: "key"; readonly text: string }
  /** Opcodes that are not pushes, executed or not. */
  readonly opcodes: number
  /** Keys in executed multisig checks, which count as opcodes. */
  readonly keys: Cost
  readonly elements: Cost
}

const NEVER = -Infinity

const plus = (one: Cost, other: Cost): Cost => ({ sat: one.sat + other.sat, dsat: one.dsat + other.dsat })

type Leaf = Pick<Expression, "text" | "opcodes" | "keys" | "elements"> & { readonly sugar?: Expression["sugar"] }

const leaf = (
  type: MiniscriptType,
  { elements, keys, opcodes, sugar, text }: Leaf
): Expression => ({
  type,
  text,
  wrapped: false,
  opcodes,
  keys,
  elements,
  ...(sugar === undefined ? {} : { sugar })
})

export const zero: Expression = leaf(leafTypes.zero, {
  text: "0",
  opcodes: 0,
  keys: { sat: NEVER, dsat: 0 },
  elements: { sat: NEVER, dsat: -1 },
  sugar: { kind: "zero" }
})

export const one: Expression = leaf(leafTypes.one, {
  text: "1",
  opcodes: 0,
  keys: { sat: 0, dsat: NEVER },
  elements: { sat: -1, dsat: NEVER },
  sugar: { kind: "one" }
})

export const key = (text: string): Expression =>
  leaf(leafTypes.key, {
    text: `pk_k(${text})`,
    opcodes: 0,
    keys: { sat: 0, dsat: 0 },
    elements: { sat: -1, dsat: -1 },
    sugar: { kind: "key", text: `pk(${text})` }
  })

export const keyHash = (text: string): Expression =>
  leaf(leafTypes.keyHash, {
    text: `pk_h(${text})`,
    opcodes: 3,
    keys: { sat: 0, dsat: 0 },
    elements: { sat: 0, dsat: 0 },
    sugar: { kind: "key", text: `pkh(${text})` }
  })

export const older = (lock: number): Expression =>
  leaf(olderType(lock), {
    text: `older(${lock})`,
    opcodes: 1,
    keys: { sat: 0, dsat: NEVER },
    elements: { sat: -1, dsat: NEVER }
  })

export const after = (lock: number): Expression =>
  leaf(afterType(lock), {
    text: `after(${lock})`,
    opcodes: 1,
    keys: { sat: 0, dsat: NEVER },
    elements: { sat: -1, dsat: NEVER }
  })

export type HashFunction = "sha256" | "hash256" | "ripemd160" | "hash160"

export const hashExpression = (name: HashFunction, digest: Bytes): Expression =>
  leaf(leafTypes.hash, {
    text: `${name}(${toHex(digest)})`,
    opcodes: 4,
    keys: { sat: 0, dsat: NEVER },
    elements: { sat: 0, dsat: NEVER }
  })

export const multi = (required: number, keys: ReadonlyArray<string>): Expression =>
  leaf(leafTypes.multi, {
    text: `multi(${[required, ...keys].join(",")})`,
    opcodes: 1,
    keys: { sat: keys.length, dsat: keys.length },
    elements: { sat: required, dsat: required }
  })

/** The form of `multi` in tapscript (BIP 387). */
export const multiA = (required: number, keys: ReadonlyArray<string>): Expression =>
  leaf(leafTypes.multiA, {
    text: `multi_a(${[required, ...keys].join(",")})`,
    opcodes: keys.length + 1,
    keys: { sat: 0, dsat: 0 },
    elements: { sat: keys.length - 1, dsat: keys.length - 1 }
  })

const behindWrapper = ({ text, wrapped }: Expression): string => wrapped ? text : `:${text}`

/** Whether the last opcode has a VERIFY form, which saves an opcode. */
const hasVerifyForm = (of: Expression): boolean => !has(of.type, type("x"))

interface WrapperCosts {
  readonly opcodes: (of: Expression) => number
  readonly keys: (of: Cost) => Cost
  readonly elements: (of: Cost) => Cost
}

const same = (of: Cost): Cost => of
const satisfiedOnly = (of: Cost): Cost => ({ sat: of.sat, dsat: NEVER })
/** The wrapper's zero dissatisfies the expression. */
const skipped = (of: Cost): Cost => ({ sat: of.sat, dsat: 0 })

const wrapperCosts: Readonly<Record<Wrapper, WrapperCosts>> = {
  a: { opcodes: () => 2, keys: same, elements: same },
  s: { opcodes: () => 1, keys: same, elements: same },
  c: { opcodes: () => 1, keys: same, elements: (of) => plus(of, { sat: 1, dsat: 1 }) },
  d: { opcodes: () => 3, keys: skipped, elements: skipped },
  v: {
    opcodes: (of) => hasVerifyForm(of) ? 0 : 1,
    keys: satisfiedOnly,
    elements: (of) => ({ sat: of.sat + 1, dsat: NEVER })
  },
  j: { opcodes: () => 4, keys: skipped, elements: skipped },
  n: { opcodes: () => 1, keys: same, elements: same }
}

export const wrap = (wrapper: Wrapper, of: Expression, context: MiniscriptContext = "P2WSH"): Expression => {
  const costs = wrapperCosts[wrapper]
  const checked = wrapper === "c" && of.sugar?.kind === "key" ? of.sugar.text : undefined
  // Only in tapscript is a condition of exactly 1 consensus.
  const unit = wrapper === "d" && context === "tapscript" ? type("u") : 0
  return {
    type: wrapperTypes[wrapper](of.type) | unit,
    text: checked ?? wrapper + behindWrapper(of),
    wrapped: checked === undefined,
    opcodes: of.opcodes + costs.opcodes(of),
    keys: costs.keys(of.keys),
    elements: costs.elements(of.elements)
  }
}

type Combine = (a: Cost, b: Cost) => Cost

const both: Combine = (a, b) => ({ sat: a.sat + b.sat, dsat: a.dsat + b.dsat })
const oneOfBoth: Combine = (a, b) => ({ sat: Math.max(a.sat + b.dsat, a.dsat + b.sat), dsat: a.dsat + b.dsat })
const secondIfNotFirst: Combine = (a, b) => ({ sat: Math.max(a.sat, a.dsat + b.sat), dsat: a.dsat + b.dsat })
const branches: Combine = (a, b) => ({ sat: Math.max(a.sat, b.sat), dsat: Math.max(a.dsat, b.dsat) })

interface BinaryCosts {
  readonly opcodes: number
  readonly keys: Combine
  readonly elements: Combine
}

const binaryCosts: Readonly<Record<Binary, BinaryCosts>> = {
  and_v: { opcodes: 0, keys: (a, b) => satisfiedOnly(both(a, b)), elements: (a, b) => satisfiedOnly(both(a, b)) },
  and_b: { opcodes: 1, keys: both, elements: (a, b) => plus(both(a, b), { sat: 1, dsat: 1 }) },
  or_b: { opcodes: 1, keys: oneOfBoth, elements: (a, b) => plus(oneOfBoth(a, b), { sat: 1, dsat: 1 }) },
  or_c: {
    opcodes: 2,
    keys: (a, b) => satisfiedOnly(secondIfNotFirst(a, b)),
    elements: (a, b) => satisfiedOnly(plus(secondIfNotFirst(a, b), { sat: 1, dsat: 0 }))
  },
  // OP_IFDUP adds an element if the first expression is satisfied. OP_NOTIF consumes one.
  or_d: { opcodes: 3, keys: secondIfNotFirst, elements: (a, b) => secondIfNotFirst(a, plus(b, { sat: 1, dsat: 1 })) },
  or_i: { opcodes: 3, keys: branches, elements: (a, b) => plus(branches(a, b), { sat: 1, dsat: 1 }) }
}

/** Forms with 0 or 1 are written as wrappers. */
const binaryText = (name: Binary, a: Expression, b: Expression): Pick<Expression, "text" | "wrapped"> => {
  if (name === "and_v" && b.sugar?.kind === "one") return { text: `t${behindWrapper(a)}`, wrapped: true }
  if (name === "or_i" && a.sugar?.kind === "zero") return { text: `l${behindWrapper(b)}`, wrapped: true }
  if (name === "or_i" && b.sugar?.kind === "zero") return { text: `u${behindWrapper(a)}`, wrapped: true }
  return { text: `${name}(${a.text},${b.text})`, wrapped: false }
}

export const binary = (name: Binary, a: Expression, b: Expression): Expression => {
  const costs = binaryCosts[name]
  return {
    type: binaryTypes[name](a.type, b.type),
    ...binaryText(name, a, b),
    opcodes: a.opcodes + b.opcodes + costs.opcodes,
    keys: costs.keys(a.keys, b.keys),
    elements: costs.elements(a.elements, b.elements)
  }
}

const andorCost = (a: Cost, b: Cost, c: Cost): Cost => ({
  sat: Math.max(a.sat + b.sat, a.dsat + c.sat),
  dsat: a.dsat + c.dsat
})

export const andor = (a: Expression, b: Expression, c: Expression): Expression => ({
  type: andorType(a.type, b.type, c.type),
  text: c.sugar?.kind === "zero" ? `and_n(${a.text},${b.text})` : `andor(${a.text},${b.text},${c.text})`,
  wrapped: false,
  opcodes: a.opcodes + b.opcodes + c.opcodes + 3,
  keys: andorCost(a.keys, b.keys, c.keys),
  elements: plus(andorCost(a.elements, b.elements, c.elements), { sat: 1, dsat: 1 })
})

/** The cost of satisfying exactly `count` of the expressions, and of dissatisfying all. */
const threshCost = (count: number, costs: ReadonlyArray<Cost>): Cost => {
  // The index is the number of satisfied expressions so far.
  let totals: ReadonlyArray<number> = [0]
  for (const { dsat, sat } of costs) {
    totals = Array.from(
      { length: totals.length + 1 },
      (_, at) => Math.max((totals[at] ?? NEVER) + dsat, (totals[at - 1] ?? NEVER) + sat)
    )
  }
  return { sat: totals[count] ?? NEVER, dsat: totals[0] ?? NEVER }
}

export const thresh = (count: number, subs: ReadonlyArray<Expression>): Expression => {
  const additions = subs.length - 1
  return {
    type: threshType(count, subs.map((sub) => sub.type)),
    text: `thresh(${[count, ...subs.map((sub) => sub.text)].join(",")})`,
    wrapped: false,
    opcodes: subs.reduce((sum, sub) => sum + sub.opcodes, subs.length),
    keys: threshCost(count, subs.map((sub) => sub.keys)),
    elements: plus(threshCost(count, subs.map((sub) => sub.elements)), { sat: additions, dsat: additions })
  }
}
