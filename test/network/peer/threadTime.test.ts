import { assert, describe, it } from "@effect/vitest"
import { threadTime } from "../../../src/network/peer/threadTime.ts"

describe("threadTime", () => {
  const clocks = () => {
    let [wall, cpu, switches] = [5_000, 700, 3]
    const time = threadTime(
      () => wall,
      () => ({ userCPUTime: 900 * cpu, systemCPUTime: 100 * cpu, involuntaryContextSwitches: switches })
    )
    return {
      time,
      pass: (passed: number, used: number, pushed = 0) => {
        wall += passed
        cpu += used
        switches += pushed
      }
    }
  }

  it("counts what passes while no other program takes the processor, waits for a disk included", () => {
    const { pass, time } = clocks()
    pass(0.5, 0.5)
    assert.closeTo(time(), 0.5, 1e-6)
    pass(40, 2)
    assert.closeTo(time(), 40.5, 1e-6)
  })

  it("counts what the processor did where another program took it in between", () => {
    const { pass, time } = clocks()
    pass(0.5, 0.5)
    time()
    pass(250, 3, 1)
    assert.closeTo(time(), 3.5, 1e-6)
    // Other threads of the process may have used more than passed.
    pass(10, 30, 1)
    assert.closeTo(time(), 13.5, 1e-6)
  })
})
