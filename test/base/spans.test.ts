import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { spannedLayer, withLoneSpan, withoutSpan, withTracedSpan } from "../../src/base/spans.ts"
import { SpanLog } from "../support/spans.ts"

const inner = Effect.withSpan(Effect.void, "svcd.test.inner")

class Part extends Context.Tag("svcd/test/Part")<Part, { readonly number: number }>() {}

const traced = <A, E>(use: (log: SpanLog) => Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    const log = new SpanLog()
    return Effect.provide(use(log), log.layer)
  })

describe("spans of fibers that outlive their caller", () => {
  it.effect("work without a span begins traces of its own", () =>
    traced((log) =>
      Effect.gen(function*() {
        yield* Effect.withSpan(Effect.zipRight(inner, withoutSpan(inner)), "svcd.test.caller")
        assert.deepStrictEqual(log.paths, [
          "svcd.test.caller",
          "svcd.test.caller > svcd.test.inner",
          "svcd.test.inner"
        ])
      })
    ))

  it.effect("a lone span belongs to the trace of its caller, and is the parent of nothing", () =>
    traced((log) =>
      Effect.gen(function*() {
        yield* withLoneSpan("svcd.test.lone")(inner).pipe(Effect.withSpan("svcd.test.caller"))
        assert.deepStrictEqual(log.paths, ["svcd.test.caller", "svcd.test.caller > svcd.test.lone", "svcd.test.inner"])
      })
    ))

  it.effect("a span of short work is made for a tracer alone", () =>
    Effect.gen(function*() {
      const work = withTracedSpan("svcd.test.short", {})(Effect.option(Effect.currentSpan))
      assert.isTrue(Option.isNone(yield* work))
      yield* traced((log) =>
        Effect.gen(function*() {
          assert.isTrue(Option.isSome(yield* work))
          assert.deepStrictEqual(log.paths, ["svcd.test.short"])
        })
      )
    }))

  it.effect("the fibers of a layer inherit neither the span of its build nor that of the host", () =>
    traced((log) =>
      Effect.gen(function*() {
        const layer = Layer.scoped(
          Part,
          Effect.gen(function*() {
            const fiber = yield* Effect.forkScoped(inner)
            yield* fiber.await
            yield* Effect.addFinalizer(() => inner)
            return { number: 1 }
          })
        ).pipe(spannedLayer({ open: "svcd.test.open", close: "svcd.test.close" }))
        const host = Effect.provide(Effect.zipRight(Part, inner), layer)
        yield* Effect.withSpan(host, "svcd.test.host")
        assert.deepStrictEqual(log.paths, [
          "svcd.test.host",
          "svcd.test.host > svcd.test.open",
          "svcd.test.inner",
          "svcd.test.host > svcd.test.inner",
          "svcd.test.host > svcd.test.close",
          "svcd.test.inner"
        ])
      })
    ))

  it.effect("a layer that fails to build ends its span with the failure", () =>
    traced((log) =>
      Effect.gen(function*() {
        const layer = Layer.fail("no disk").pipe(spannedLayer({ open: "svcd.test.open", close: "svcd.test.close" }))
        assert.strictEqual(yield* Effect.flip(Effect.provide(Effect.void, layer)), "no disk")
        const [open] = log.named("svcd.test.open")
        assert.isTrue(open?.exit !== undefined && Exit.isFailure(open.exit))
      })
    ))

  it.effect("a part that two layers of a program share is built once", () =>
    Effect.gen(function*() {
      let built = 0
      const part = Layer.effect(Part, Effect.sync(() => ({ number: ++built })))
      const spanned = Layer.map(part, (context) => context).pipe(spannedLayer({ open: "svcd.test.open", close: "x" }))
      yield* Effect.provide(Part, Layer.merge(part, spanned))
      assert.strictEqual(built, 1)
    }))
})
