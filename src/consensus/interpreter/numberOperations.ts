import { equal } from "../../protocol/bytes.ts"
import { Op } from "../../protocol/script.ts"
import type { Machine, Operation, Operations } from "./Machine.ts"
import type { ScriptError } from "./scriptError.ts"
import { fromBoolean, isTrue } from "./scriptNumber.ts"

/** `undefined` if elements are missing. */
const takeEqual = ({ stack }: Machine): boolean | undefined => {
  const b = stack.pop()
  const a = stack.pop()
  return a === undefined || b === undefined ? undefined : equal(a, b)
}

const unary = (compute: (a: number) => number): Operation => (machine) => {
  const top = machine.stack.pop()
  if (top === undefined) return "INVALID_STACK_OPERATION"
  const a = machine.number(top)
  return a === undefined ? "SCRIPTNUM" : machine.pushNumber(compute(a))
}

const binary = (compute: (a: number, b: number) => number): Operation => (machine) => {
  const { stack } = machine
  const second = stack.pop()
  const first = stack.pop()
  if (first === undefined || second === undefined) return "INVALID_STACK_OPERATION"
  const a = machine.number(first)
  const b = machine.number(second)
  return a === undefined || b === undefined ? "SCRIPTNUM" : machine.pushNumber(compute(a, b))
}

const compares = (holds: (a: number, b: number) => boolean): Operation => binary((a, b) => holds(a, b) ? 1 : 0)

const equalNumbers = compares((a, b) => a === b)

const within = (machine: Machine): ScriptError | undefined => {
  const { stack } = machine
  const above = stack.pop()
  const least = stack.pop()
  const value = stack.pop()
  if (value === undefined || least === undefined || above === undefined) return "INVALID_STACK_OPERATION"
  const x = machine.number(value)
  const min = machine.number(least)
  const max = machine.number(above)
  if (x === undefined || min === undefined || max === undefined) return "SCRIPTNUM"
  stack.push(fromBoolean(min <= x && x < max))
  return undefined
}

export const numberOperations: Operations = {
  [Op.OP_EQUAL]: (machine) => {
    const same = takeEqual(machine)
    if (same === undefined) return "INVALID_STACK_OPERATION"
    machine.stack.push(fromBoolean(same))
    return undefined
  },

  [Op.OP_EQUALVERIFY]: (machine) => {
    const same = takeEqual(machine)
    if (same === undefined) return "INVALID_STACK_OPERATION"
    return same ? undefined : "EQUALVERIFY"
  },

  [Op.OP_1ADD]: unary((a) => a + 1),
  [Op.OP_1SUB]: unary((a) => a - 1),
  [Op.OP_NEGATE]: unary((a) => -a),
  [Op.OP_ABS]: unary(Math.abs),
  [Op.OP_NOT]: unary((a) => a === 0 ? 1 : 0),
  [Op.OP_0NOTEQUAL]: unary((a) => a === 0 ? 0 : 1),
  [Op.OP_ADD]: binary((a, b) => a + b),
  [Op.OP_SUB]: binary((a, b) => a - b),
  [Op.OP_BOOLAND]: compares((a, b) => a !== 0 && b !== 0),
  [Op.OP_BOOLOR]: compares((a, b) => a !== 0 || b !== 0),
  [Op.OP_NUMEQUAL]: equalNumbers,
  [Op.OP_NUMEQUALVERIFY]: (machine) => {
    const error = equalNumbers(machine)
    if (error !== undefined) return error
    const result = machine.stack.pop()
    return result !== undefined && isTrue(result) ? undefined : "NUMEQUALVERIFY"
  },
  [Op.OP_NUMNOTEQUAL]: compares((a, b) => a !== b),
  [Op.OP_LESSTHAN]: compares((a, b) => a < b),
  [Op.OP_GREATERTHAN]: compares((a, b) => a > b),
  [Op.OP_LESSTHANOREQUAL]: compares((a, b) => a <= b),
  [Op.OP_GREATERTHANOREQUAL]: compares((a, b) => a >= b),
  [Op.OP_MIN]: binary((a, b) => Math.min(a, b)),
  [Op.OP_MAX]: binary((a, b) => Math.max(a, b)),
  [Op.OP_WITHIN]: within
}
