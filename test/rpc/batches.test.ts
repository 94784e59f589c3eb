import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import * as Param from "../../src/rpc/method/params.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { CALLER, setUp } from "./dispatching.ts"

it.scoped("answers a long batch as a short one, and knows all its methods before it runs", () =>
  Effect.gen(function*() {
    const { dispatch } = yield* setUp()
    const elements = ["7", "{}", "[[]]", `{"id":1e3,"method":"getblockcount"}`, `{"id":"ä","method":"no such"}`]
      .concat(
        `{"jsonrpc":"2.0","method":"getblockcount"}`,
        `{"id":"${"x".repeat(5_000)}","method":"other"}`
      )
    const few = `[${elements.join(", ")}]`
    const many = `[${Array.from({ length: 20 }, () => elements.join(", ")).join(",\n")}]`
    const call = yield* dispatch.readLong(Buffer.from(many))
    assert.isAbove(many.length, 65_536)
    assert.strictEqual(call.count, 20 * elements.length)
    assert.deepStrictEqual(call.demands(), [
      { method: "getblockcount", rights: ["admin"] },
      { method: "no such", rights: ["admin"] },
      { method: "other", rights: ["admin"] }
    ])
    const { body } = yield* dispatch.read(few).answer(CALLER)
    const replies = String(body).slice(1, -1)
    const long = yield* call.answer(CALLER)
    assert.strictEqual(String(long.body), `[${Array.from({ length: 20 }, () => replies).join(",")}]`)
  }))

it.scopedLive("executes a batch in order, one call after the other, including notifications", () =>
  Effect.gen(function*() {
    const done: Array<number> = []
    const note = fakeMethod(
      { name: "note", params: { n: Param.int32(""), turns: Param.int32("") } },
      ({ n, turns }) =>
        Effect.repeatN(turnOfEventLoop, turns).pipe(Effect.map(() => {
          done.push(n)
          return n
        }))
    )
    const { answer } = yield* setUp({ methods: [note] })
    const batch = [[1, 20], [2, 5], [3, 1]].map(([n, wait]) => ({
      jsonrpc: "2.0",
      method: "note",
      params: [n, wait],
      ...(n === 2 ? {} : { id: n })
    }))
    const { body } = yield* answer(JSON.stringify(batch))
    assert.deepStrictEqual(done, [1, 2, 3])
    assert.strictEqual(
      body,
      "[{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":1},{\"jsonrpc\":\"2.0\",\"result\":3,\"id\":3}]"
    )
  }))

it.scopedLive("lets timers run during a long batch", () =>
  Effect.gen(function*() {
    const { answer } = yield* setUp()
    const batch = `[${Array(50_000).fill("{\"method\":\"getblockcount\",\"id\":1}").join(",")}]`
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 1)
    const { body } = yield* answer(batch)
    clearInterval(timer)
    assert.isAbove(ticks, 2)
    assert.strictEqual(JSON.parse(body).length, 50_000)
  }))

it.scoped("refuses the remaining calls of a batch once the reply is too large, and runs none of them", () =>
  Effect.gen(function*() {
    const { answer, observed } = yield* setUp({ maxBatchReply: 50 })
    const batch = [1, 2, 3, 4].map((id) => ({ id, method: "getblockhash", params: [0] }))
    const { body, status } = yield* answer(JSON.stringify([...batch, { jsonrpc: "2.0", method: "getblockcount" }]))
    const replies: ReadonlyArray<{ id: number; error: unknown }> = JSON.parse(body)
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(replies.map(({ id }) => id), [1, 2, 3, 4])
    const error = { code: -32603, message: "The reply to the batch is too large" }
    assert.deepStrictEqual(replies.map((reply) => reply.error), [null, error, error, error])
    assert.strictEqual(observed.length, 1)
  }))
