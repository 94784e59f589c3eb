import { type Bytes, EMPTY } from "../../protocol/bytes.ts"
import { MAX_SCRIPT_ELEMENT_SIZE, MAX_SCRIPT_SIZE, Op } from "../../protocol/script.ts"
import { Flag } from "../flags.ts"
import { controlOperations } from "./controlOperations.ts"
import { MAX_OPS_PER_SCRIPT, MAX_STACK_SIZE } from "./limits.ts"
import type { Machine, Operation } from "./Machine.ts"
import { numberOperations } from "./numberOperations.ts"
import type { ScriptError } from "./scriptError.ts"
import { encodeNumber } from "./scriptNumber.ts"
import { signatureOperations } from "./signatureOperations.ts"
import { stackOperations } from "./stackOperations.ts"

const pushes = (element: Bytes): Operation => ({ stack }) => {
  stack.push(element)
  return undefined
}

const OPCODES = Array.from({ length: 256 }, (_, opcode) => opcode)

const operations: ReadonlyArray<Operation | undefined> = OPCODES.map((opcode) => {
  if (opcode === Op.OP_1NEGATE || (opcode >= Op.OP_1 && opcode <= Op.OP_16)) {
    return pushes(encodeNumber(opcode - Op.OP_1 + 1))
  }
  return stackOperations[opcode] ?? numberOperations[opcode] ?? controlOperations[opcode] ?? signatureOperations[opcode]
})

const DISABLED: ReadonlySet<number> = new Set([
  ...[Op.OP_CAT, Op.OP_SUBSTR, Op.OP_LEFT, Op.OP_RIGHT],
  ...[Op.OP_INVERT, Op.OP_AND, Op.OP_OR, Op.OP_XOR],
  ...[Op.OP_2MUL, Op.OP_2DIV, Op.OP_MUL, Op.OP_DIV, Op.OP_MOD, Op.OP_LSHIFT, Op.OP_RSHIFT]
])

/** Opcodes that fail a script even where they are not executed (CVE-2010-5137). */
const isDisabled: ReadonlyArray<boolean> = OPCODES.map((opcode) => DISABLED.has(opcode))

/** Whether a push is the shortest one for its element, also considering opcodes that push a number. */
const isMinimalPush = (opcode: number, data: Bytes): boolean => {
  const size = data.length
  if (size === 0) return opcode === Op.OP_0
  if (size === 1) {
    const byte = data[0] ?? 0
    if ((byte >= 1 && byte <= 16) || byte === 0x81) return false
  }
  if (size < Op.OP_PUSHDATA1) return opcode === size
  if (size <= 0xff) return opcode === Op.OP_PUSHDATA1
  return size > 0xffff || opcode === Op.OP_PUSHDATA2
}

/** The caller checks the resulting stack. Source: upstream `script/interpreter.cpp`, `EvalScript`. */
export const evaluate = (machine: Machine): ScriptError | undefined => {
  const { altStack, conditions, cursor, script, stack, version } = machine
  // Tapscript is limited by the weight of its witness and a budget for signatures instead (BIP 342).
  const isLimited = version !== "tapscript"
  if (isLimited && script.length > MAX_SCRIPT_SIZE) return "SCRIPT_SIZE"
  const constantCode = version === "base" && machine.has(Flag.CONST_SCRIPTCODE)
  const minimalData = machine.has(Flag.MINIMALDATA)
  for (; cursor.next(); machine.position++) {
    const { opcode } = cursor
    if (cursor.offset - cursor.dataStart > MAX_SCRIPT_ELEMENT_SIZE) return "PUSH_SIZE"
    if (isLimited && opcode > Op.OP_16 && ++machine.operations > MAX_OPS_PER_SCRIPT) return "OP_COUNT"
    if (isDisabled[opcode] === true) return "DISABLED_OPCODE"
    if (constantCode && opcode === Op.OP_CODESEPARATOR) return "OP_CODESEPARATOR"
    if (opcode <= Op.OP_PUSHDATA4) {
      if (conditions.allTrue) {
        const data = opcode === Op.OP_0 ? EMPTY : cursor.data
        if (minimalData && !isMinimalPush(opcode, data)) return "MINIMALDATA"
        stack.push(data)
      }
    } else if (conditions.allTrue || (opcode >= Op.OP_IF && opcode <= Op.OP_ENDIF)) {
      const operation = operations[opcode]
      const error = operation === undefined ? "BAD_OPCODE" : operation(machine)
      if (error !== undefined) return error
    }
    if (stack.length + altStack.length > MAX_STACK_SIZE) return "STACK_SIZE"
  }
  if (cursor.failed) return "BAD_OPCODE"
  return conditions.isEmpty ? undefined : "UNBALANCED_CONDITIONAL"
}
