import { assert, describe, it } from "@effect/vitest"
import { readCommandLine } from "./commandLine.ts"

describe("the command line of the simulator", () => {
  it("has defaults", () => {
    const { from, hours, planted, seed, step, world } = readCommandLine(["--seed", "7"])
    assert.deepStrictEqual([seed, from, step, hours, world, planted], [7, 1, 1, undefined, undefined, false])
    assert.strictEqual(readCommandLine(["--world", "2", "--hours", "0.5"]).hours, 0.5)
  })

  it.each([
    [["--runs", "many"], "--runs takes a whole number, not many"],
    [["--seed", "1.5"], "--seed takes a whole number, not 1.5"],
    [["--seed", "-1"], "argument is ambiguous"],
    [["--hours", "0"], "--hours takes a number above 0, not 0"],
    [["--world", "3"], "--world takes 1 or 2, not 3"],
    [["--plan", "sim-1.ndjson", "--hours", "1"], "leave out --hours"],
    [["--sed", "1"], "Unknown option '--sed'"]
  ])("refuses %j", (given, reason) => {
    assert.throws(() => readCommandLine(given), reason)
  })
})
