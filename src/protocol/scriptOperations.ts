import type { Bytes } from "./bytes.ts"
import { MAX_SCRIPT_ELEMENT_SIZE, Op, ScriptCursor } from "./script.ts"

/** The meaning of single instructions, for code that prints or classifies scripts. The rules are in consensus/. */

/** The longest number in a script, in bytes. */
const NUMBER_BYTES = 4

/** The highest opcode with a meaning in legacy scripts (upstream `script/script.h`, `MAX_OPCODE`). */
const MAX_OPCODE = Op.OP_NOP10

/** The number in at most four pushed bytes: little-endian, with a sign bit on top; any form. */
export const pushedNumber = (data: Bytes): number => {
  const { length } = data
  if (length === 0) return 0
  let magnitude = 0
  for (let i = length - 1; i >= 0; i--) magnitude = magnitude * 256 + (data[i] ?? 0)
  const sign = 2 ** (8 * length - 1)
  return magnitude >= sign ? 0 - (magnitude - sign) : magnitude
}

/** Whether a number of at most four bytes is in its shortest form. */
const isMinimalNumber = (data: Bytes): boolean => {
  const last = data[data.length - 1] ?? 1
  return (last & 0x7f) !== 0 || (data.length > 1 && (data[data.length - 2] ?? 0) >= 0x80)
}

/** Whether an instruction is the shortest push of its bytes (upstream `CheckMinimalPush`). */
export const isMinimalPush = (opcode: number, data: Bytes): boolean => {
  const { length } = data
  if (length === 0) return opcode === Op.OP_0
  const [first = 0] = data
  if (length === 1 && ((first >= 1 && first <= 16) || first === 0x81)) return false
  if (length < Op.OP_PUSHDATA1) return opcode === length
  if (length <= 0xff) return opcode === Op.OP_PUSHDATA1
  return length > 0xffff || opcode === Op.OP_PUSHDATA2
}

/**
 * Returns the number that an instruction pushes, as OP_1 to OP_16 or as bytes. `undefined` if it pushes no number, or
 * not in the shortest form. OP_1NEGATE does not count: no template has a negative number.
 */
export const minimalNumber = (opcode: number, data: Bytes): number | undefined => {
  if (opcode >= Op.OP_1 && opcode <= Op.OP_16) return opcode - Op.OP_1 + 1
  if (opcode > Op.OP_PUSHDATA4 || data.length > NUMBER_BYTES) return undefined
  return isMinimalPush(opcode, data) && isMinimalNumber(data) ? pushedNumber(data) : undefined
}

/**
 * Whether a script can be read to its end, has no opcode without a meaning, and pushes nothing longer than the limit of
 * a stack element. Source: upstream `script/script.cpp`, `HasValidOps`.
 */
export const hasValidOperations = (script: Bytes): boolean => {
  const cursor = new ScriptCursor(script)
  while (cursor.next()) {
    if (cursor.opcode > MAX_OPCODE || cursor.offset - cursor.dataStart > MAX_SCRIPT_ELEMENT_SIZE) return false
  }
  return !cursor.failed
}

/** Whether bytes have the length of the public key form in their first byte. The key itself is not checked. */
export const isKeySized = (key: Bytes): boolean => {
  const first = key[0]
  if (first === 0x02 || first === 0x03) return key.length === 33
  return (first === 0x04 || first === 0x06 || first === 0x07) && key.length === 65
}

export const isCompressedKey = (key: Bytes): boolean => isKeySized(key) && key.length === 33
