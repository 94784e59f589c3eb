import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { ConditionStack } from "../../../src/consensus/interpreter/ConditionStack.ts"

describe("ConditionStack", () => {
  it.prop("ConditionStack answers as a list of conditions would", {
    steps: FastCheck.array(FastCheck.constantFrom("true", "false", "pop", "toggle"), { maxLength: 60 })
  }, ({ steps }) => {
    const stack = new ConditionStack()
    const list: Array<boolean> = []
    for (const step of steps) {
      const top = list.at(-1)
      if (step === "pop") assert.strictEqual(stack.pop(), list.pop() !== undefined)
      else if (step === "toggle") {
        assert.strictEqual(stack.toggle(), top !== undefined)
        if (top !== undefined) list[list.length - 1] = !top
      } else {
        stack.push(step === "true")
        list.push(step === "true")
      }
      assert.strictEqual(stack.isEmpty, list.length === 0)
      assert.strictEqual(stack.allTrue, list.every((condition) => condition))
    }
  }, { fastCheck: { numRuns: 300 } })
})
