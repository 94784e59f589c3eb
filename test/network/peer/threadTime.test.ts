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

  it("elapsed time counts while the thread is not preempted, including waits for a disk", () => {
    const { pass, time } = clocks()
    pass(0.5, 0.5)
    assert.closeTo(time(), 0.5, 1e-6)
    pass(40, 2)
    assert.closeTo(time(), 40.5, 1e-6)
  })

  it("processor time counts if another program preempted the thread", () => {
    const { pass, time } = clocks()
    pass(0.5, 0.5)
    time()
    pass(250, 3, 1)
    assert.closeTo(time(), 3.5, 1e-6)
    // Other threads of the process may use more time than has elapsed.
    pass(10, 30, 1)
    assert.closeTo(time(), 13.5, 1e-6)
  })
})
