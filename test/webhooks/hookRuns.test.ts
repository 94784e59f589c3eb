import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Exit, FastCheck, Redacted, Scope, Stream, TestClock } from "effect"
import { binaryString, EMPTY } from "../../src/protocol/bytes.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { inTime, pause } from "../support/eventually.ts"
import { Consumer } from "./consumer.ts"
import { openReceiver } from "./receiver.ts"
import { hookTo, named, SECRET, withWorld } from "./world.ts"

/** What happens to the chain, the receiver and the node. */
const move = FastCheck.oneof(
  {
    weight: 4,
    arbitrary: FastCheck.record({
      does: FastCheck.constant("grow" as const),
      depth: FastCheck.integer({ min: 0, max: 3 }),
      blocks: FastCheck.array(
        FastCheck.array(FastCheck.constantFrom("d/a", "d/b", "d/c"), { maxLength: 3 }),
        { minLength: 4, maxLength: 6 }
      )
    })
  },
  { weight: 1, arbitrary: FastCheck.record({ does: FastCheck.constant("back" as const), to: FastCheck.nat(20) }) },
  { weight: 1, arbitrary: FastCheck.record({ does: FastCheck.constant("restart" as const) }) },
  { weight: 2, arbitrary: FastCheck.record({ does: FastCheck.constant("wait" as const), turns: FastCheck.nat(3) }) }
)

/** What the receiver does with a message: it may take it, and it may say so. */
const behaviour = FastCheck.constantFrom("accepts", "accepts", "takes, and answers 500", "answers 500", "hangs up")

describe("webhooks", () => {
  it.effect.prop("bring a receiver that fails at any moment to the state of names.db, after any reorganization", {
    moves: FastCheck.array(move, { minLength: 3, maxLength: 10 }),
    behaviours: FastCheck.array(behaviour, { minLength: 1, maxLength: 30 })
  }, ({ behaviours, moves }) =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const receiver = yield* openReceiver()
        const consumer = new Consumer()
        let message = 0
        receiver.answer = (response, { body, headers }) => {
          const does = behaviours[message++] ?? "accepts"
          if (does !== "answers 500") consumer.take(String(headers["webhook-id"]), body)
          if (does === "hangs up") response.destroy()
          else response.writeHead(does === "accepts" ? 204 : 500).end()
        }
        let opened = yield* world.open({ directory })
        yield* opened.hooks.start
        const { id } = yield* opened.hooks.add(hookTo(receiver.url, { from: "0", secret: Redacted.make(SECRET) }))
        const states = [world.blocks]
        for (const [at, each] of moves.entries()) {
          if (each.does === "grow") {
            const from = Math.max(1, world.blocks.length - each.depth)
            const lists = each.blocks.map((names, i) => names.map((name, n) => named(name, `${at}.${i}.${n}`)))
            yield* world.grow(String(at), from, lists)
            states.push(world.blocks)
          } else if (each.does === "back") {
            const to = states[each.to % states.length] ?? world.blocks
            if (to.length >= world.blocks.length) yield* world.go(to)
          } else if (each.does === "restart") {
            yield* Scope.close(opened.scope, Exit.void)
            opened = yield* world.open({ directory })
            yield* opened.hooks.start
          } else {
            for (let turn = 0; turn < each.turns; turn++) yield* pause
            yield* TestClock.adjust("4 seconds")
          }
        }
        const isDone = Effect.map(opened.hooks.list, ([view]) => view?.lag === 0 && view.failures === 0)
        yield* inTime(
          Effect.iterate(false, {
            while: (done) => !done,
            body: () => Effect.zipRight(Effect.zipRight(TestClock.adjust("20 minutes"), pause), isDone)
          }),
          "the receiver has everything"
        )
        const records = Chunk.toReadonlyArray(yield* Stream.runCollect(world.db.scanByPrefix({ prefix: EMPTY })))
        assert.deepStrictEqual(
          [...consumer.values].sort(),
          records.map(({ name, value }) => [binaryString(name), binaryString(value)] as [string, string]).sort()
        )
        assert.deepStrictEqual(consumer.faults, [])
        assert.strictEqual((yield* opened.hooks.list)[0]?.id, id)
      })
    ), { fastCheck: { numRuns: 8 } })
})
