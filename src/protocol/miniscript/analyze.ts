import { EMPTY, fromHex } from "../bytes.ts"
import {
  after,
  andor,
  binary,
  type Expression,
  hashExpression,
  type HashFunction,
  key,
  keyHash,
  type MiniscriptContext,
  multi,
  multiA,
  older,
  one,
  thresh,
  wrap,
  zero
} from "./expressions.ts"
import type { MiniscriptNode } from "./parse.ts"
import { miniscriptScript } from "./script.ts"
import { type Binary, has, isTyped, type, type Wrapper } from "./types.ts"

/** Checks miniscript trees for safety, as upstream `script/miniscript.h`, `Node::IsSane`. */

interface Analysis {
  readonly expression: Expression
  readonly of: ReadonlyArray<Analysis>
  readonly keys: ReadonlyArray<string>
}

export interface AnalyzedMiniscript {
  /** In shortest form, with the keys as the parser gave them. */
  readonly text: string
  /** Why the expression must not be used; `undefined` if it may. */
  readonly problem: string | undefined
}

/** Longest witness script that is relayed (policy). */
const MAX_WITNESS_SCRIPT = 3600

/** Longest leaf that fits into a standard transaction with its largest witness (policy). */
const MAX_LEAF_SCRIPT = 329_482

/** Maximum opcodes of a witness script, including keys of multisig checks (consensus). */
const MAX_OPCODES = 201

/** Maximum stack elements: of a witness without its script (policy), and of a tapscript (consensus). */
const MAX_ELEMENTS: Readonly<Record<MiniscriptContext, number>> = { P2WSH: 100, tapscript: 1000 }

/** Sequence numbers with this bit count time (BIP 68). */
const SEQUENCE_TIME_FLAG = 0x400000

const B = type("B")
const BKW = type("BKW")
const K = type("k")
const M = type("m")
const S = type("s")

const WRAPPERS: ReadonlySet<string> = new Set<Wrapper>(["a", "s", "c", "d", "v", "j", "n"])
const BINARIES: ReadonlySet<string> = new Set<Binary>(["and_v", "and_b", "or_b", "or_c", "or_d", "or_i"])
const HASHES: ReadonlySet<string> = new Set<HashFunction>(["sha256", "hash256", "ripemd160", "hash160"])

const isWrapper = (name: string): name is Wrapper => WRAPPERS.has(name)
const isBinary = (name: string): name is Binary => BINARIES.has(name)
const isHash = (name: string): name is HashFunction => HASHES.has(name)

const leafExpression = ({ name, values }: MiniscriptNode): Expression => {
  const [first = "", ...others] = values
  if (isHash(name)) return hashExpression(name, fromHex(first) ?? EMPTY)
  switch (name) {
    case "0":
      return zero
    case "1":
      return one
    case "pk_k":
      return key(first)
    case "pk_h":
      return keyHash(first)
    case "older":
      return older(Number(first))
    case "after":
      return after(Number(first))
    case "multi":
      return multi(Number(first), others)
    case "multi_a":
      return multiA(Number(first), others)
    default:
      throw new TypeError(`unknown miniscript fragment ${name}`)
  }
}

const composed = (
  { name, values }: MiniscriptNode,
  of: ReadonlyArray<Expression>,
  context: MiniscriptContext
): Expression => {
  const [x, y, z] = of
  if (name === "thresh") return thresh(Number(values[0]), of)
  if (x !== undefined && isWrapper(name)) return wrap(name, x, context)
  if (x !== undefined && y !== undefined && isBinary(name)) return binary(name, x, y)
  if (x !== undefined && y !== undefined && z !== undefined) return andor(x, y, z)
  throw new TypeError(`unknown miniscript fragment ${name}`)
}

const keysIn = ({ name, values }: MiniscriptNode): ReadonlyArray<string> => {
  if (name === "pk_k" || name === "pk_h") return values
  return name === "multi" || name === "multi_a" ? values.slice(1) : []
}

const analyze = (tree: MiniscriptNode, context: MiniscriptContext): Analysis => {
  const of = tree.of.map((each) => analyze(each, context))
  const expression = of.length === 0
    ? leafExpression(tree)
    : composed(tree, of.map((each) => each.expression), context)
  // Without a base type, the other letters mean nothing.
  const typed = isTyped(expression.type) ? expression : { ...expression, type: 0 }
  return { expression: typed, of, keys: [...keysIn(tree), ...of.flatMap(({ keys }) => keys)] }
}

class Judge {
  private readonly context: MiniscriptContext
  private readonly identity: (key: string) => string

  constructor(context: MiniscriptContext, identity: (key: string) => string) {
    this.context = context
    this.identity = identity
  }

  private fits({ elements, keys, opcodes, type: letters }: Expression): boolean {
    if (letters === 0) return false
    const size = elements.sat + ((letters & BKW) === 0 ? 0 : 1)
    return size <= MAX_ELEMENTS[this.context] && (this.context === "tapscript" || opcodes + keys.sat <= MAX_OPCODES)
  }

  private repeats({ keys }: Analysis): boolean {
    return new Set(keys.map(this.identity)).size < keys.length
  }

  private isSanePart(part: Analysis): boolean {
    const { expression } = part
    return this.fits(expression) && has(expression.type, M) && has(expression.type, K) && !this.repeats(part)
  }

  /** The first part that is not sane although all its own parts are. */
  private firstInsane(part: Analysis): Analysis | undefined {
    for (const each of part.of) {
      const found = this.firstInsane(each)
      if (found !== undefined) return found
    }
    return this.isSanePart(part) ? undefined : part
  }

  problem(top: Analysis): string | undefined {
    const { expression } = top
    const isSane = this.isSanePart(top) && has(expression.type, B) && has(expression.type, S)
    const isSatisfiable = Number.isFinite(expression.elements.sat)
    if (isSane && isSatisfiable) return undefined
    const worst = this.firstInsane(top) ?? top
    const { text, type: letters } = worst.expression
    if (letters === 0) return `${text} is invalid`
    if (this.isSanePart(worst) && has(letters, B | S)) return `${text} is not satisfiable`
    if (!has(letters, M)) return `${text} is not sane: malleable witnesses exist`
    if (worst === top && !has(letters, S)) return `${text} is not sane: witnesses without signature exist`
    if (!has(letters, K)) {
      return `${text} is not sane: contains mixes of timelocks expressed in blocks and seconds`
    }
    if (this.repeats(worst)) return `${text} is not sane: contains duplicate public keys`
    return this.fits(worst.expression)
      ? `${text} is not sane`
      : `${text} is not sane: needs witnesses that may exceed resource limits`
  }
}

/**
 * `undefined` if too long for miniscript. `identity` returns equal texts for equal keys. The words are upstream's
 * (`script/descriptor.cpp`, `ParseScript`).
 */
export const analyzeMiniscript = (
  tree: MiniscriptNode,
  { context, identity }: { readonly context: MiniscriptContext; readonly identity: (key: string) => string }
): AnalyzedMiniscript | undefined => {
  const bytes = new Uint8Array(context === "tapscript" ? 32 : 33)
  const { length } = miniscriptScript(tree, () => bytes)
  if (length > (context === "tapscript" ? MAX_LEAF_SCRIPT : MAX_WITNESS_SCRIPT)) return undefined
  const analysis = analyze(tree, context)
  return { text: analysis.expression.text, problem: new Judge(context, identity).problem(analysis) }
}

/** The locks of `older` that BIP 68 shortens by ignoring their upper bits, with upstream's warnings. */
export const unsafeLocks = (tree: MiniscriptNode): ReadonlyArray<string> => {
  const inner = tree.of.flatMap(unsafeLocks)
  const lock = tree.name === "older" ? Number(tree.values[0]) : 0
  const isTime = (lock & SEQUENCE_TIME_FLAG) !== 0
  if ((lock & ~SEQUENCE_TIME_FLAG) <= 0xffff) return inner
  return [
    ...inner,
    isTime
      ? `time-based relative locktime: older(${lock}) > (65535 * 512) seconds is unsafe`
      : `height-based relative locktime: older(${lock}) > 65535 blocks is unsafe`
  ]
}
