import { assert, describe, it } from "@effect/vitest"
import { Patience } from "../../../src/mail/relay/Patience.ts"

const HOUR = 3_600_000
const DAYS = 24 * HOUR

describe("Patience", () => {
  it.each([
    { what: "an old message, after an hour", age: 5 * DAYS, runs: HOUR, over: true },
    { what: "an old message, just before", age: 5 * DAYS, runs: HOUR - 1, over: false },
    { what: "a message that is not old enough", age: 5 * DAYS - 1, runs: 9 * DAYS, over: false },
    { what: "a message of the future", age: -9 * DAYS, runs: 9 * DAYS, over: false }
  ])("$what: $over", ({ age, over, runs }) => {
    let time = 0
    const patience = new Patience(5 * DAYS, () => time)
    time = runs
    assert.strictEqual(patience.isOver({ arrivedAt: 100 * DAYS - age, now: 100 * DAYS }), over)
  })

  it("does not try for longer than configured", () => {
    let time = 0
    const patience = new Patience(1_000, () => time)
    time = 999
    assert.isFalse(patience.isOver({ arrivedAt: 0, now: 9_000 }))
    time = 1_000
    assert.isTrue(patience.isOver({ arrivedAt: 0, now: 9_000 }))
  })
})
