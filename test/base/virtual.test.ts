import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { monotonic, wallTime } from "../../src/base/clock.ts"
import { heapUsed, loopShare, resourceUsage } from "../../src/base/consumption.ts"
import { systemDisk } from "../../src/base/disk.ts"
import { randomBytes, randomHex, randomWords, secureRandom } from "../../src/base/entropy.ts"
import { afterDelay, cancelTimer, nextTurn, slice, turnOfEventLoop } from "../../src/base/turns.ts"
import { useVirtual, type VirtualMachine } from "../../src/base/virtual.ts"

/** Time passes by 1 ms a reading, tasks run when the test says so, and all bytes are 7. */
const machine = () => {
  const tasks = new Map<object, { readonly when: number; readonly task: () => void }>()
  const timerOf = (when: number, task: () => void) => {
    const timer = { unref: () => timer, [Symbol.dispose]: () => void tasks.delete(timer) }
    tasks.set(timer, { when, task })
    return timer
  }
  let now = 0
  const loopTime = { active: 0, idle: 0 }
  const turn = { began: undefined }
  const virtual: VirtualMachine = {
    time: { monotonic: () => now++, wallTime: () => 1_000_000 },
    loop: {
      nextTurn: (task) => timerOf(0, task),
      afterDelay: (delay, task) => timerOf(delay, task),
      turn: () => turn
    },
    entropy: (bytes) => void bytes.fill(7),
    consumption: {
      usage: () => ({ userCPUTime: 1, systemCPUTime: 2, involuntaryContextSwitches: 3 }),
      loopTime: () => ({ ...loopTime }),
      heapUsed: () => Number.POSITIVE_INFINITY
    },
    disk: { ...systemDisk, aside: async ({ now }) => now() }
  }
  const run = (when: number): void => {
    for (const [timer, waiting] of tasks) {
      if (waiting.when !== when) continue
      tasks.delete(timer)
      waiting.task()
    }
  }
  return { loopTime, run, tasks, virtual }
}

/** Runs plain code on a simulated machine. */
const within = (use: (world: ReturnType<typeof machine>) => void): void => {
  const world = machine()
  const restore = useVirtual(world.virtual)
  try {
    use(world)
  } finally {
    restore()
  }
}

describe("useVirtual", () => {
  it("useVirtual replaces time, chance and consumption until it is undone", () => {
    const before = monotonic()
    within(({ loopTime }) => {
      assert.deepStrictEqual([monotonic(), monotonic(), wallTime()], [0, 1, 1_000_000])
      assert.deepStrictEqual([...randomBytes(3)], [7, 7, 7])
      assert.strictEqual(randomHex(2), "0707")
      assert.deepStrictEqual([...randomWords(2)], [0x07070707, 0x07070707])
      const random = secureRandom()
      assert.strictEqual(random(), random())
      assert.strictEqual(heapUsed(), Number.POSITIVE_INFINITY)
      assert.strictEqual(resourceUsage().systemCPUTime, 2)
      const share = loopShare()
      loopTime.active = 30
      loopTime.idle = 10
      assert.deepStrictEqual([share(), share()], [0.75, 0])
    })
    assert.isAtLeast(monotonic(), before)
    assert.closeTo(wallTime(), Date.now(), 10_000)
    assert.notDeepEqual(randomBytes(16), randomBytes(16))
    assert.isBelow(heapUsed(), Number.POSITIVE_INFINITY)
  })

  it("useVirtual leaves the parts that it gets no other for", () => {
    const restore = useVirtual({ entropy: (bytes) => void bytes.fill(9) })
    try {
      assert.deepStrictEqual([...randomBytes(2)], [9, 9])
      assert.isBelow(heapUsed(), Number.POSITIVE_INFINITY)
    } finally {
      restore()
    }
    assert.notDeepEqual(randomBytes(16), new Uint8Array(16).fill(9))
  })

  it("useVirtual runs tasks and slices of work on its event loop", () => {
    within(({ run, tasks }) => {
      const seen: Array<string> = []
      nextTurn(() => seen.push("turn"))
      afterDelay(50, () => seen.push("delay"))
      cancelTimer(afterDelay(50, () => seen.push("cancelled")))
      cancelTimer(undefined)
      run(50)
      run(0)
      assert.deepStrictEqual(seen, ["delay", "turn"])
      // A reading of the clock takes 1 ms of the 5, and all slices of a turn share them.
      let steps = 0
      assert.isTrue(slice(() => ++steps < 100))
      assert.strictEqual(steps, 5)
      assert.isTrue(slice(() => ++steps < 100))
      assert.strictEqual(steps, 6)
      run(0)
      assert.isFalse(slice(() => false))
      run(0)
      assert.strictEqual(tasks.size, 0)
    })
  })

  it("slices of work share nothing with another event loop, whose turn may never end", () => {
    const stepsOf = (): number => {
      let steps = 0
      within(() => void slice(() => ++steps < 100))
      return steps
    }
    assert.deepStrictEqual([stepsOf(), stepsOf()], [5, 5])
  })
})

describe("the real machine", () => {
  it.live("tasks run in later turns unless they are cancelled", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      cancelTimer(nextTurn(() => seen.push("cancelled")))
      nextTurn(() => seen.push("turn"))
      yield* turnOfEventLoop
      yield* turnOfEventLoop
      assert.deepStrictEqual(seen, ["turn"])
      cancelTimer(afterDelay(1, () => seen.push("cancelled")))
      yield* Effect.async<void>((resume) => void afterDelay(2, () => resume(Effect.void)))
      assert.deepStrictEqual(seen, ["turn"])
    }))

  it("the share of the event loop's time is between 0 and 1", () => {
    const share = loopShare()
    const until = performance.now() + 20
    while (performance.now() < until);
    const busy = share()
    assert.isAbove(busy, 0)
    assert.isAtMost(busy, 1)
  })
})
