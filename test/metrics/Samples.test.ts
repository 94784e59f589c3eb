import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { Slot } from "../../src/base/Slot.ts"
import * as Samples from "../../src/metrics/Samples.ts"

/** A node's samples that count what they are asked for. */
const node = Effect.gen(function*() {
  // Another file of this process counts the looks at the event loop.
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const samples = Context.get(yield* Layer.buildWithScope(Samples.layer, scope), Samples.Samples)
  const taken = { gauges: 0, totals: 0 }
  yield* samples.add(Effect.sync(() => void taken.gauges++)).pipe(Scope.extend(scope))
  yield* samples.addTotals(Effect.sync(() => void taken.totals++)).pipe(Scope.extend(scope))
  return { taken, take: samples.take, close: Scope.close(scope, Exit.void) }
})

describe("the samples of nodes in one process", () => {
  it.scoped("are the gauges of the first, until it ends, and the totals of all", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* node, yield* node]
      yield* second.take
      yield* first.take
      assert.isAbove(first.taken.gauges, 0)
      assert.strictEqual(second.taken.gauges, 0)
      assert.isAbove(Math.min(first.taken.totals, second.taken.totals), 0)
      yield* first.close
      yield* second.take
      assert.isAbove(second.taken.gauges, 0)
      yield* second.close
      const before = { ...second.taken }
      yield* second.take
      assert.deepStrictEqual(second.taken, before, "nothing is sampled behind its end")
      const third = yield* node
      yield* third.take
      assert.isAbove(third.taken.gauges, 0)
    }))

  it.scoped("are the gauges of each where a node stands for a process", () =>
    Effect.gen(function*() {
      const alone = Effect.suspend(() => Effect.provideService(node, Samples.Sampled, { node: undefined }))
      const [first, second] = [yield* alone, yield* alone]
      yield* second.take
      yield* first.take
      assert.isAbove(Math.min(first.taken.gauges, second.taken.gauges), 0)
    }))
})

describe("Slot", () => {
  it.effect("holds its first value before and after it is filled", () =>
    Effect.gen(function*() {
      const slot = new Slot("first")
      yield* Effect.scoped(Effect.gen(function*() {
        yield* slot.fill("second")
        assert.strictEqual(slot.current, "second")
        yield* Effect.scoped(
          Effect.zipRight(slot.fill("third"), Effect.sync(() => assert.strictEqual(slot.current, "third")))
        )
      }))
      assert.strictEqual(slot.current, "first")
    }))
})
