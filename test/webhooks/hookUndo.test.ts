import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { has, stateIs } from "./hooking.ts"
import { withHooks } from "./hooking.ts"
import { hookTo, named } from "./world.ts"

describe("Webhooks", () => {
  it.scoped("undo the blocks that left the chain; a block that is back has another id", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")], [named("d/a", "2")]])
        const first = world.blocks
        yield* has(receiver, 2)
        yield* world.grow("b", 2, [[named("d/a", "3")]])
        yield* has(receiver, 4)
        yield* world.go(first)
        yield* has(receiver, 6)
        assert.deepStrictEqual(receiver.kinds, [
          "1 updated",
          "2 updated",
          "2 undone",
          "2 updated",
          "2 undone",
          "2 updated"
        ])
        assert.strictEqual(new Set(receiver.ids).size, 6)
      })
    ))

  it.scoped("undo a block that was perhaps received", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        receiver.answers(500)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")]])
        yield* stateIs(hooks, id, "retrying")
        yield* world.grow("b", 1, [[]])
        receiver.answers(204)
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 2)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "1 undone"])
      })
    ))

  it.scoped("send a block again that is back after its end was perhaps received", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")]])
        const first = world.blocks
        yield* has(receiver, 1)
        receiver.answers(500)
        yield* world.grow("b", 1, [[]])
        yield* stateIs(hooks, id, "retrying")
        yield* world.go(first)
        receiver.answers(204)
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 3)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "1 undone", "1 updated"])
        assert.strictEqual(new Set(receiver.ids).size, 3)
      })
    ))

  it.scoped("send the undone message of a block again that is back, before that of the block below", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")], [named("d/a", "2")], [named("d/b", "3")]])
        const first = world.blocks
        yield* has(receiver, 3)
        receiver.answers(500)
        yield* world.grow("b", 2, [[], [], []])
        yield* stateIs(hooks, id, "retrying")
        yield* world.go(first)
        receiver.answers(204)
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 8)
        assert.deepStrictEqual(receiver.kinds.slice(3), [
          "3 undone",
          "3 undone",
          "2 undone",
          "2 updated",
          "3 updated"
        ])
        assert.strictEqual(receiver.ids[4], receiver.ids[3])
        assert.strictEqual(new Set(receiver.ids).size, 7)
      })
    ))

  it.scoped("undo blocks down to the place of a message that was perhaps received, though fewer are undone now", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")], [named("d/a", "2")], [named("d/b", "3")]])
        const kept = world.blocks.slice(0, 3)
        yield* has(receiver, 3)
        receiver.answers(500)
        yield* world.grow("b", 1, [[], [], [], []])
        yield* stateIs(hooks, id, "retrying")
        yield* world.go(kept)
        yield* world.grow("c", 3, [[], [], [], []])
        receiver.answers(204)
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 9)
        assert.deepStrictEqual(receiver.kinds.slice(3), [
          "3 undone",
          "3 undone",
          "2 undone",
          "1 undone",
          "1 updated",
          "2 updated"
        ])
        assert.strictEqual(receiver.ids[4], receiver.ids[3])
      })
    ))
})
