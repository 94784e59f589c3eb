import { Op } from "../../protocol/script.ts"
import type { Machine, Operation, Operations } from "./Machine.ts"
import { isTrue } from "./scriptNumber.ts"

const needs = (count: number, act: (machine: Machine) => void): Operation => (machine) => {
  if (machine.stack.length < count) return "INVALID_STACK_OPERATION"
  act(machine)
  return undefined
}

/** The lowest of the copies is at `depth`. */
const copy = (depth: number, count = depth): Operation =>
  needs(depth, ({ stack }) => {
    const from = stack.length - depth
    stack.push(...stack.slice(from, from + count))
  })

/** The lowest element is at `depth`. */
const raise = (depth: number, { count }: { readonly count: number }): Operation =>
  needs(depth, ({ stack }) => {
    stack.push(...stack.splice(stack.length - depth, count))
  })

/** Pops the number of OP_PICK or OP_ROLL, and returns the index of its element in the stack. */
const takeDepth = (machine: Machine): number | "SCRIPTNUM" | "INVALID_STACK_OPERATION" => {
  const { stack } = machine
  const top = stack.pop()
  if (top === undefined || stack.length === 0) return "INVALID_STACK_OPERATION"
  const depth = machine.number(top)
  if (depth === undefined) return "SCRIPTNUM"
  return depth < 0 || depth >= stack.length ? "INVALID_STACK_OPERATION" : stack.length - 1 - depth
}

export const stackOperations: Operations = {
  [Op.OP_TOALTSTACK]: ({ altStack, stack }) => {
    const top = stack.pop()
    if (top === undefined) return "INVALID_STACK_OPERATION"
    altStack.push(top)
    return undefined
  },

  [Op.OP_FROMALTSTACK]: ({ altStack, stack }) => {
    const top = altStack.pop()
    if (top === undefined) return "INVALID_ALTSTACK_OPERATION"
    stack.push(top)
    return undefined
  },

  [Op.OP_DROP]: needs(1, (machine) => machine.drop(1)),
  [Op.OP_2DROP]: needs(2, (machine) => machine.drop(2)),
  [Op.OP_NIP]: needs(2, ({ stack }) => stack.splice(-2, 1)),

  [Op.OP_DUP]: ({ stack }) => {
    const top = stack[stack.length - 1]
    if (top === undefined) return "INVALID_STACK_OPERATION"
    stack.push(top)
    return undefined
  },

  [Op.OP_IFDUP]: ({ stack }) => {
    const top = stack[stack.length - 1]
    if (top === undefined) return "INVALID_STACK_OPERATION"
    if (isTrue(top)) stack.push(top)
    return undefined
  },

  [Op.OP_2DUP]: copy(2),
  [Op.OP_3DUP]: copy(3),
  [Op.OP_OVER]: copy(2, 1),
  [Op.OP_2OVER]: copy(4, 2),
  [Op.OP_SWAP]: raise(2, { count: 1 }),
  [Op.OP_2SWAP]: raise(4, { count: 2 }),
  [Op.OP_ROT]: raise(3, { count: 1 }),
  [Op.OP_2ROT]: raise(6, { count: 2 }),

  [Op.OP_TUCK]: ({ stack }) => {
    const top = stack[stack.length - 1]
    if (top === undefined || stack.length < 2) return "INVALID_STACK_OPERATION"
    stack.splice(-2, 0, top)
    return undefined
  },

  [Op.OP_PICK]: (machine) => {
    const place = takeDepth(machine)
    if (typeof place === "string") return place
    machine.stack.push(...machine.stack.slice(place, place + 1))
    return undefined
  },

  [Op.OP_ROLL]: (machine) => {
    const place = takeDepth(machine)
    if (typeof place === "string") return place
    machine.stack.push(...machine.stack.splice(place, 1))
    return undefined
  },

  [Op.OP_DEPTH]: (machine) => machine.pushNumber(machine.stack.length),

  [Op.OP_SIZE]: (machine) => {
    const top = machine.top(1)
    return top === undefined ? "INVALID_STACK_OPERATION" : machine.pushNumber(top.length)
  }
}
