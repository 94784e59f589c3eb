import type { Bytes } from "../bytes.ts"
import { Decoder } from "./Decoder.ts"
import type { Expression } from "./expressions.ts"
import { instructionsFromEnd } from "./instructions.ts"
import { has, type } from "./types.ts"

/**
 * Reading a witness script as miniscript, the language of spending conditions. Expressions end in the opcode that
 * tells what they are, so a script is read from its end.
 */

/** Longer witness scripts are not relayed (policy), so no miniscript is either. */
const MAX_SCRIPT_SIZE = 3600

/** Opcodes that a script may have, keys of multisig checks included (consensus). */
const MAX_OPCODES = 201

/** Stack elements of a witness, its script not counted (policy). */
const MAX_WITNESS_ELEMENTS = 100

/** What the whole script has to be. */
const TOP = type("B")

/** Needs a signature, is not malleable, mixes no locks. */
const SAFE = type("smk")

/** A witness script that was understood, whether or not it is a good one. */
export interface Decoded {
  readonly expression: Expression
  /** Every key in the script, in hex. */
  readonly keys: ReadonlyArray<string>
}

/**
 * Reads a witness script as miniscript; `undefined` for a script that is none. Key hashes are not understood, since the
 * keys behind them are not known. Source: upstream `script/miniscript.h`, `FromScript`.
 */
export const decodeMiniscript = (script: Bytes): Decoded | undefined => {
  if (script.length > MAX_SCRIPT_SIZE) return undefined
  const items = instructionsFromEnd(script)
  if (items === undefined) return undefined
  const decoder = new Decoder(items)
  const expression = decoder.decode()
  return expression === undefined || !has(expression.type, TOP) ? undefined : { expression, keys: decoder.keys }
}

/**
 * Whether a script is safe to use: it cannot be spent without a signature, nobody else can change its witness, its locks
 * can be met together, no key is in it twice, and no way to satisfy it goes beyond the limits of scripts. Source:
 * upstream `script/miniscript.h`, `Node::IsSane`.
 */
const isSane = ({ expression, keys }: Decoded): boolean =>
  has(expression.type, SAFE) &&
  new Set(keys).size === keys.length &&
  expression.opcodes + expression.keys.sat <= MAX_OPCODES &&
  expression.elements.sat + 1 <= MAX_WITNESS_ELEMENTS

/** Returns the miniscript that a witness script (P2WSH) stands for, as text; `undefined` if it is none, or not a safe one. */
export const miniscriptText = (script: Bytes): string | undefined => {
  const decoded = decodeMiniscript(script)
  return decoded !== undefined && isSane(decoded) ? decoded.expression.text : undefined
}
