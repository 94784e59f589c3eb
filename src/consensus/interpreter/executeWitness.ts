import { MAX_SCRIPT_ELEMENT_SIZE } from "../../protocol/script.ts"
import { evaluate } from "./evaluate.ts"
import type { Machine } from "./Machine.ts"
import type { ScriptError } from "./scriptError.ts"
import { isTrue } from "./scriptNumber.ts"

/** Must leave exactly one true element. Source: upstream `script/interpreter.cpp`, `ExecuteWitnessScript`. */
export const executeWitness = (machine: Machine): ScriptError | undefined => {
  const { stack } = machine
  for (const item of stack) if (item.length > MAX_SCRIPT_ELEMENT_SIZE) return "PUSH_SIZE"
  const error = evaluate(machine)
  if (error !== undefined) return error
  const [result] = stack
  if (result === undefined || stack.length !== 1) return "CLEANSTACK"
  return isTrue(result) ? undefined : "EVAL_FALSE"
}
