import type { Bytes } from "../bytes.ts"
import { Decoder, type MiniscriptReader } from "./Decoder.ts"
import type { Expression } from "./expressions.ts"
import { instructionsFromEnd } from "./instructions.ts"
import { has, type } from "./types.ts"

// Decodes a witness script as miniscript, the language of spending conditions. Reads from the end, because the last
// opcode of an expression determines its kind.

/** Longer witness scripts are not relayed (policy), so they do not count as miniscript. */
const MAX_SCRIPT_SIZE = 3600

/** Maximum opcodes of a script, including keys of multisig checks (consensus). */
const MAX_OPCODES = 201

/** Maximum stack elements in a witness without its script (policy). */
const MAX_WITNESS_ELEMENTS = 100

const TOP = type("B")

/** Needs a signature, is not malleable, does not mix locks. */
const SAFE = type("smk")

export interface DecodedMiniscript {
  readonly expression: Expression
  readonly keys: ReadonlyArray<string>
}

const STRANGER: MiniscriptReader = { context: "P2WSH", keyWithHash: () => undefined }

/**
 * `undefined` for other scripts and for hashes of unknown keys. Source: upstream `script/miniscript.h`, `FromScript`.
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
 * Whether a script is safe to use: each spend needs a signature, no third party can change its witness, its locks fit
 * together, no key repeats, and every way to satisfy it stays within the limits of scripts. Source: upstream
 * `script/miniscript.h`, `Node::IsSane`.
 */
const isSane = ({ expression, keys }: DecodedMiniscript): boolean =>
  has(expression.type, SAFE) &&
  new Set(keys).size === keys.length &&
  expression.opcodes + expression.keys.sat <= MAX_OPCODES &&
  expression.elements.sat + 1 <= MAX_WITNESS_ELEMENTS

/** `undefined` if there is none or it is not safe. */
export const miniscriptText = (script: Bytes): string | undefined => {
  const decoded = decodeMiniscript(script)
  return decoded !== undefined && isSane(decoded) ? decoded.expression.text : undefined
}
