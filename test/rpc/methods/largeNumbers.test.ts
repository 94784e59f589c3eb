import { assert } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import * as Dispatch from "../../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../../src/rpc/Lifecycle.ts"
import type { Method } from "../../../src/rpc/method/methodTable.ts"
import type { Param } from "../../../src/rpc/method/params.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { CALLER } from "../dispatching.ts"
import { filled, type Leaves } from "./filledParams.ts"

/**
 * Calls every method with numbers and lists that multiply work; every second caller leaves at once. No call may stop the event loop for
 * longer than an honest caller may wait, and none may go on without its caller.
 */

/** Milliseconds of one turn of the event loop. A machine with more to do than processors stops programs for longer than they compute. */
const LONGEST_TURN = 500

const HEX = "00".repeat(32)

const LARGE: ReadonlyArray<Leaves> = [
  { number: 2 ** 31 - 1, text: () => "d/name", hex: HEX, items: 1, key: "key" },
  { number: 1_000_000, text: () => "9".repeat(100_000), hex: "00".repeat(100_000), items: 1, key: "9".repeat(100_000) },
  { number: 1_000, text: (name) => name, hex: HEX, items: 20_000, key: "key" },
  { number: [0, 999_999], text: () => "wpkh(xpub)", hex: "", items: 20, key: "range" },
  {
    number: Number.MAX_SAFE_INTEGER,
    text: () => "(a|b)*".repeat(10_000),
    hex: "51".repeat(20_000),
    items: 2,
    key: "0"
  },
  { number: -(2 ** 31), text: () => "", hex: "0".repeat(99_999), items: 0, key: "" }
]

/** Methods that end the node, set its clock, or wait for what no other call of this test brings. */
const LEFT_OUT = new Set(["stop", "setmocktime", "mockscheduler"])

const valuesOf = (params: ReadonlyArray<readonly [string, Param<unknown>]>, leaves: Leaves): ReadonlyArray<unknown> =>
  params.map(([name, param]) => filled(name, param, leaves))

/** For each kind of large values: all parameters, and each alone behind those of the first example. */
const callsTo = ({ examples: [example = []], params }: Method): ReadonlyArray<ReadonlyArray<unknown>> => {
  const entries = Object.entries(params)
  return LARGE.flatMap((leaves) => {
    const all = valuesOf(entries, leaves)
    const alone = all.map((value, at) => [...all.slice(0, at).map((each, before) => example[before] ?? each), value])
    return entries.length < 2 ? [all] : [all, ...alone]
  })
}

/** Ends with the longest turn of the event loop while an effect ran, in milliseconds. */
const longestTurn = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    let longest = 0
    const watch = yield* Effect.fork(Effect.gen(function*() {
      for (let last = performance.now();;) {
        yield* turnOfEventLoop
        const now = performance.now()
        longest = Math.max(longest, now - last)
        last = now
      }
    }))
    yield* effect
    yield* Fiber.interrupt(watch)
    return longest
  })

layer(methodNode({ blocks: false, txIndex: true, wallets: true }))("calls with large numbers", (it) => {
  it.scoped(
    "end, by themselves or with their callers, and stop the node for no other caller",
    () =>
      Effect.gen(function*() {
        const { call, methods } = yield* MethodNode
        yield* call("generatetoaddress", 110, String((yield* call("getnewaddress")).value))
        const context = yield* Layer.build(
          Layer.provideMerge(Dispatch.layer({ methods: [...methods.values()], checksAnswers: true }), Lifecycle.layer)
        )
        yield* Effect.gen(function*() {
          const dispatch = yield* Dispatch.Dispatch
          yield* (yield* Lifecycle.Lifecycle).running
          const slow: Array<string> = []
          for (const method of methods.values()) {
            if (LEFT_OUT.has(method.name)) continue
            for (const [at, params] of callsTo(method).entries()) {
              const body = JSON.stringify({ method: method.name, params, id: 1 })
              const what = `${method.name} ${body.slice(0, 200)}`
              const leaves = at % 2 === 0 && !method.writes || method.waits
              const longest = yield* longestTurn(Effect.gen(function*() {
                const fiber = yield* Effect.fork(withCheapScrypt(dispatch.read(body).answer(CALLER)))
                if (leaves) yield* Effect.zipRight(turnOfEventLoop, Fiber.interrupt(fiber))
                const exit = yield* Fiber.await(fiber)
                if (Exit.isSuccess(exit)) {
                  assert.notMatch(String(exit.value.body), /^\{"result":null,"error":\{"code":-32603/, what)
                }
              }))
              if (longest > LONGEST_TURN) slow.push(`${Math.round(longest)} ms: ${what}`)
              assert.strictEqual(dispatch.inFlight(), 0, what)
            }
          }
          assert.deepStrictEqual(slow, [])
        }).pipe(Effect.provide(context))
      }),
    120_000
  )
})
