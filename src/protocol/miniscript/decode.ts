import type { Bytes } from "../bytes.ts"
import { Decoder, type MiniscriptReader } from "./Decoder.ts"
import type { Expression } from "./expressions.ts"
import { instructionsFromEnd } from "./instructions.ts"
import { has, type } from "./types.ts"

/**
 * Decodes a witness script as miniscript, the language of spending conditions. The last opcode of an expression
 * determines its kind, so a script is read from its end.
 */

/** Longer witness scripts are not relayed (policy), so they are not miniscripts either. */
const MAX_SCRIPT_SIZE = 3600

/** The limit of opcodes in a script, keys of multisig checks included (consensus). */
const MAX_OPCODES = 201

/** The limit of stack elements in a witness, its script not counted (policy). */
const MAX_WITNESS_ELEMENTS = 100

const TOP = type("B")

/** Needs a signature, is not malleable, does not mix locks. */
const SAFE = type("smk")

export interface DecodedMiniscript {
  readonly expression: Expression
  /** Every key in the script, in hex. */
  readonly keys: ReadonlyArray<string>
}

/** A reader of witness scripts that knows no keys. */
const STRANGER: MiniscriptReader = { context: "P2WSH", keyWithHash: () => undefined }

/**
 * Decodes a script as miniscript; `undefined` for any other script, and for one with the hash of an unknown key. Source:
 * upstream `script/miniscript.h`, `FromScript`.
 */
export const decodeMiniscript = (
  script: Bytes,
  reader: MiniscriptReader = STRANGER
): DecodedMiniscript | undefined => {
  if (reader.context === "P2WSH" && script.length > MAX_SCRIPT_SIZE) return undefined
  const items = instructionsFromEnd(script)
  if (items === undefined) return undefined
  const decoder = new Decoder(items, reader)
  const expression = decoder.decode()
  return expression === undefined || !has(expression.type, TOP) ? undefined : { expression, keys: decoder.keys }
}

/**
 * Whether a script is safe to use: each spend needs a signature, no third party can change its witness, its locks can
 * be met together, no key is in it twice, and no way to satisfy it exceeds the limits of scripts. Source: upstream
 * `script/miniscript.h`, `Node::IsSane`.
 */
const isSane = ({ expression, keys }: DecodedMiniscript): boolean =>
  has(expression.type, SAFE) &&
  new Set(keys).size === keys.length &&
  expression.opcodes + expression.keys.sat <= MAX_OPCODES &&
  expression.elements.sat + 1 <= MAX_WITNESS_ELEMENTS

/** Returns the miniscript of a witness script (P2WSH) as text; `undefined` if there is none, or it is not safe. */
export const miniscriptText = (script: Bytes): string | undefined => {
  const decoded = decodeMiniscript(script)
  return decoded !== undefined && isSane(decoded) ? decoded.expression.text : undefined
}
