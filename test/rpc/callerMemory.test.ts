import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { lazily, LazyArray } from "../../src/rpc/json/encodeJson.ts"
import { int32 } from "../../src/rpc/method/params.ts"
import { eventually } from "../support/eventually.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { FAKE_METHODS, GENESIS, postText, testServer } from "../support/rpcServer.ts"

/**
 * The memory that callers can make a listener hold: counted, with a limit for each caller and in total; the largest
 * caller is evicted first.
 */

const pieces = fakeMethod({
  name: "pieces",
  summary: "Answers with so many texts of 1,000 characters.",
  params: { count: int32("How many.") }
}, ({ count }) => Effect.succeed(new LazyArray(lazily(Array.from({ length: count }), () => "x".repeat(1_000)))))

const text = fakeMethod({
  name: "text",
  summary: "Answers with one text of so many characters.",
  params: { length: int32("How many.") }
}, ({ length }) => Effect.succeed("y".repeat(length)))

const short = fakeMethod({
  name: "short",
  summary: "Answers with so many texts of 10,000 characters: up to 256 are encoded at once.",
  params: { count: int32("How many.") }
}, ({ count }) => Effect.succeed(Array.from({ length: count }, () => "z".repeat(10_000))))

/** 2 MB for bodies and 2.5 MB for answers, of which one caller may hold half. */
const small = () => new MemoryBudget(10_000_000)

const METHODS = [...FAKE_METHODS, pieces, short, text]

const call = (name: string, ...params: ReadonlyArray<unknown>) => ({ id: 1, method: name, params })

const HASH = call("getblockhash", 0)

/** A client that sends a request and reads nothing. */
const deaf = (port: number, request: unknown) =>
  Effect.acquireRelease(
    Effect.async<Socket>((resume) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.pause()
        socket.write(postText(JSON.stringify(request)))
        resume(Effect.succeed(socket))
      })
      socket.on("error", () => {})
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

for (const fastLane of [true, false]) {
  describe(`the memory of callers, ${fastLane ? "in" : "without"} the fast lane`, () => {
    it.scopedLive("counts a long answer until it is read", () =>
      Effect.gen(function*() {
        const budget = small()
        const { post } = yield* testServer({ methods: METHODS, budget, fastLane })
        const { headers, text } = yield* post(call("pieces", 500))
        assert.strictEqual(JSON.parse(text).result.length, 500)
        assert.strictEqual(headers["content-length"], String(text.length))
        assert.isTrue(text.endsWith("}\n"))
        yield* eventually("no answer is held", () => budget.held("rpc_answers") === 0)
        // More than the system buffers for a connection, so that some of it stays in the node.
        const large = new MemoryBudget(400_000_000)
        const other = yield* testServer({ methods: METHODS, budget: large, fastLane })
        const socket = yield* deaf(other.port, call("pieces", 20_000))
        yield* eventually("the answer is held", () => large.held("rpc_answers") > 5_000_000)
        assert.include((yield* other.post(HASH)).text, GENESIS)
        socket.destroy()
        yield* eventually("the answer is dropped", () => large.held("rpc_answers") === 0)
      }))

    it.scopedLive("answers with an error without memory for the answer, in pieces and in one", () =>
      Effect.gen(function*() {
        const budget = small()
        const refused: Array<number> = []
        const { post } = yield* testServer({
          methods: METHODS,
          budget,
          fastLane,
          onRefused: (status) => void refused.push(status)
        })
        const long = yield* post(call("pieces", 5_000))
        assert.deepStrictEqual(JSON.parse(long.text).error.code, -7)
        const longText = yield* post(call("text", 2_000_000))
        assert.deepStrictEqual(JSON.parse(longText.text).error.code, -7)
        assert.deepStrictEqual(refused, [])
        assert.include((yield* post(call("text", 500_000))).text, "yyy")
        yield* eventually("no answer is held", () => budget.held("rpc_answers") === 0)
        const whole = yield* post(call("short", 200))
        assert.strictEqual(whole.status, 503)
        assert.match(whole.text, /^The memory for answers is full/)
        assert.deepStrictEqual(refused, [503])
      }))

    it.scopedLive("evicts the caller that holds the most when another caller needs the memory", () =>
      Effect.gen(function*() {
        const budget = new MemoryBudget(400_000_000)
        const evicted: Array<string> = []
        budget.listen(({ action, kind }) => void evicted.push(`${action} ${kind}`))
        let encoded = 0
        const { port, post } = yield* testServer({ methods: METHODS, budget, fastLane, observe: () => void encoded++ })
        yield* deaf(port, call("pieces", 20_000))
        yield* eventually("the answer is encoded", () => encoded === 1)
        assert.isAbove(budget.held("rpc_answers"), 5_000_000)
        const rest = budget.open({ owner: "rest", share: 1, evictable: false, evict: () => {} })
        assert.isTrue(rest.take("rpc_answers", budget.limit("rpc_answers") - budget.held("rpc_answers")))
        const { text } = yield* post(call("pieces", 1_000))
        assert.strictEqual(JSON.parse(text).result.length, 1_000)
        assert.deepStrictEqual(evicted, ["evicted rpc_answers"])
        assert.include((yield* post(HASH)).text, GENESIS)
      }))

    it.scopedLive("refuses a body that exceeds the free memory, and accepts a small one", () =>
      Effect.gen(function*() {
        const budget = small()
        const { post } = yield* testServer({ methods: METHODS, budget, fastLane })
        const { status, text } = yield* post(call("getblockhash", 0, "x".repeat(1_500_000)))
        assert.strictEqual(status, 503)
        assert.match(text, /^The memory for requests is full/)
        const many = yield* post(`[${"1,".repeat(9_000)}1]`)
        assert.strictEqual(many.status, 503, "what is made of a body counts too")
        assert.include((yield* post(HASH)).text, GENESIS)
        yield* eventually("no body is held", () => budget.held("rpc_bodies") === 0)
      }))

    it.scopedLive("limits the reply to a batch, and reports each later request as not executed", () =>
      Effect.gen(function*() {
        const budget = small()
        const observed: Array<string> = []
        const { post } = yield* testServer({
          methods: METHODS,
          budget,
          fastLane,
          observe: ({ method }) => void observed.push(method)
        })
        const { status, text } = yield* post(Array.from({ length: 500 }, () => call("text", 10_000)))
        assert.strictEqual(status, 200)
        const replies: ReadonlyArray<{ error: { message: string } | null }> = JSON.parse(text)
        assert.strictEqual(replies.length, 500)
        const answered = replies.filter(({ error }) => error === null).length
        assert.strictEqual(observed.length, answered)
        assert.isAbove(answered, 60)
        assert.isBelow(answered, 100)
        assert.strictEqual(replies.at(-1)?.error?.message, "The reply to the batch is too large")
        yield* eventually("no answer is held", () => budget.held("rpc_answers") === 0)
      }))
  })
}

describe("a batch", () => {
  it.scopedLive("of rpc.discover takes the memory of one document, and of the reply", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const { text } = yield* post(Array.from({ length: 2_000 }, () => call("rpc.discover")))
      assert.isBelow(text.length, 40_000_000)
      const replies: ReadonlyArray<{ result: unknown }> = JSON.parse(text)
      assert.strictEqual(replies.length, 2_000)
      assert.isNotNull(replies[0]?.result)
    }))

  it.scopedLive("with too many requests is refused as a whole", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const { status, text } = yield* post(`[${"1,".repeat(100_000)}1]`)
      assert.strictEqual(status, 400)
      assert.include(text, "A batch holds at most 100000 requests, not 100001")
    }))
})
