import type { Bytes } from "./bytes.ts"
import { MAX_SCRIPT_ELEMENT_SIZE, Op, ScriptCursor } from "./script.ts"

/** Single instructions, for printing and classifying scripts. The rules are in consensus/. */

const NUMBER_BYTES = 4

/** The highest opcode with a meaning in legacy scripts (upstream `script/script.h`, `MAX_OPCODE`). */
const MAX_OPCODE = Op.OP_NOP10

/** The little-endian number in at most four pushed bytes, with a sign bit on top, in any form. */
export const pushedNumber = (data: Bytes): number => {
  const { length } = data
  if (length === 0) return 0
  let magnitude = 0
  for (let i = length - 1; i >= 0; i--) magnitude = magnitude * 256 + (data[i] ?? 0)
  const sign = 2 ** (8 * length - 1)
  return magnitude >= sign ? 0 - (magnitude - sign) : magnitude
}

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

/** `undefined` for OP_1NEGATE, as no template has a negative number. */
export const minimalNumber = (opcode: number, data: Bytes): number | undefined => {
  if (opcode >= Op.OP_1 && opcode <= Op.OP_16) return opcode - Op.OP_1 + 1
  if (opcode > Op.OP_PUSHDATA4 || data.length > NUMBER_BYTES) return undefined
  return isMinimalPush(opcode, data) && isMinimalNumber(data) ? pushedNumber(data) : undefined
}

/** Readable, known opcodes, no overlong element. Source: upstream `script/script.cpp`, `HasValidOps`. */
export const hasValidOperations = (script: Bytes): boolean => {
  const cursor = new ScriptCursor(script)
  while (cursor.next()) {
    if (cursor.opcode > MAX_OPCODE || cursor.offset - cursor.dataStart > MAX_SCRIPT_ELEMENT_SIZE) return false
  }
  return !cursor.failed
}

/** Whether the first byte of a key matches its length. Does not check the key itself. */
export const isKeySized = (key: Bytes): boolean => {
  const first = key[0]
  if (first === 0x02 || first === 0x03) return key.length === 33
  return (first === 0x04 || first === 0x06 || first === 0x07) && key.length === 65
}

export const isCompressedKey = (key: Bytes): boolean => isKeySized(key) && key.length === 33
