import { assert, describe, it } from "@effect/vitest"
import { Trace, type TracedEvent } from "./trace.ts"

const event = (what: string): TracedEvent => ({ at: 1_000, who: "anna", what })

const traced = (root: string, textIn: (root: string) => string): Trace => {
  const trace = new Trace({ root })
  trace.note(event(textIn(root)))
  return trace
}

describe("the events of a run", () => {
  it("are the same in any directory", () => {
    const failed = (root: string): string => `writing ${root}/anna-0/blk00000.dat failed (${root})`
    const [one, other] = [traced("/tmp/svcd-world-a", failed), traced("/tmp/svcd-world-b", failed)]
    assert.deepStrictEqual(one.last, [event("writing /anna-0/blk00000.dat failed ()")])
    assert.deepStrictEqual(one.last, other.last)
    assert.strictEqual(one.hash, other.hash)
  })

  it("differ by their words", () => {
    assert.notStrictEqual(traced("/a", () => "stops").hash, traced("/a", () => "starts").hash)
  })
})
