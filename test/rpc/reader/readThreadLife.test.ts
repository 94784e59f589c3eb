import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Worker } from "node:worker_threads"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import * as Reader from "../../../src/rpc/reader/ReadThread.ts"
import { eventually, inTime } from "../../support/eventually.ts"
import { threadsLayer } from "../../support/threads.ts"
import { logged, SCAN } from "./threads.ts"

/** A thread with a program of its own, which gets each message after the first statement. */
const program = (onMessage: string, workerData?: unknown): () => Worker => () =>
  new Worker(
    `const { parentPort, workerData } = require("node:worker_threads")
     parentPort.on("message", (message) => {
       if (message === "close") return parentPort.close()
       ${onMessage}
     })`,
    { eval: true, workerData }
  )

describe("a read thread", () => {
  interface Given extends Partial<Reader.ReadThreadOptions> {
    readonly launch: () => Worker
  }

  const layerOf = ({ launch, ...options }: Given) =>
    Layer.provide(Reader.layer({ namesFile: "names.db", ...options }), threadsLayer(launch))

  const withReader = <A, E>(
    options: Given,
    use: (reader: typeof Reader.ReadThread.Service) => Effect.Effect<A, E, Scope.Scope>
  ) =>
    Effect.scoped(Effect.flatMap(Reader.ReadThread, use)).pipe(
      Effect.provide(layerOf(options))
    )

  const BEGINS = "parentPort.postMessage({ type: 'begun', id: message.id });"
  const FINDS = "parentPort.postMessage({ type: 'found', id: message.id, reading: { pieces: [], count: 7 } })"

  it.live("that dies fails its jobs, and is replaced after a pause", () =>
    Effect.gen(function*() {
      let launched = 0
      const launch = () => program(launched++ === 0 ? "process.exit(3)" : BEGINS + FINDS)()
      const lost = (reader: typeof Reader.ReadThread.Service) =>
        Effect.all([Effect.flip(reader.read(SCAN)), Effect.flip(reader.read(SCAN))], { concurrency: 2 }).pipe(
          Effect.tap((both) => assert.deepStrictEqual(both.map(({ _tag }) => _tag), ["NotRead", "NotRead"]))
        )
      const lines = yield* logged(Effect.gen(function*() {
        yield* withReader({ launch, pause: 3_600_000 }, (reader) =>
          Effect.gen(function*() {
            yield* lost(reader)
            assert.strictEqual((yield* Effect.flip(reader.read(SCAN)))._tag, "NotRead")
            assert.strictEqual(launched, 1)
          }))
        launched = 0
        yield* withReader({ launch, pause: 1 }, (reader) =>
          Effect.gen(function*() {
            yield* lost(reader)
            yield* eventually("another thread answers", Effect.isSuccess(reader.read(SCAN)))
            assert.strictEqual(launched, 2)
          }))
      }))
      assert.isTrue(lines.every((line) => line.startsWith("the read thread did not do a job")), lines.join())
    }))

  it.live("that is refused by the system fails a job", () =>
    withReader({
      launch: () => {
        throw new Error("no more threads")
      }
    }, (reader) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(reader.read(SCAN)))._tag, "NotRead")
      })))

  it.live("drops the job of a caller that left", () =>
    Effect.gen(function*() {
      const told = new Int32Array(new SharedArrayBuffer(4))
      const launch = program(
        `if (message.type === "cancel") new Int32Array(workerData)[0] = 1; else { ${BEGINS} }`,
        told.buffer
      )
      yield* withReader({ launch }, (reader) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          yield* Scope.extend(reader.begin(SCAN), scope)
          assert.strictEqual(Atomics.load(told, 0), 0)
          yield* Scope.close(scope, Exit.void)
          yield* eventually("the thread is told", () => Atomics.load(told, 0) === 1)
        }))
    }))

  it.live("ends when it has had no job for a while, and starts again for the next one", () =>
    Effect.gen(function*() {
      let launched = 0
      let ended = 0
      const launch = () => {
        launched++
        return program(BEGINS + FINDS)().on("exit", () => void ended++)
      }
      yield* withReader({ launch, idle: 1 }, (reader) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* reader.read(SCAN)).count, 7)
          yield* eventually("the thread ends", () => ended === 1)
          assert.strictEqual((yield* reader.read(SCAN)).count, 7)
          assert.strictEqual(launched, 2)
        }))
      assert.strictEqual(ended, 2)
    }))

  it.live("is gone when the node has ended, even if it rested", () =>
    Effect.gen(function*() {
      /** Whether the thread was told to end, and whether it may. */
      const state = new Int32Array(new SharedArrayBuffer(8))
      let ended = 0
      const launch = () =>
        new Worker(
          `const { parentPort, workerData } = require("node:worker_threads")
           const state = new Int32Array(workerData)
           parentPort.on("message", (message) => {
             if (message === "close") {
               Atomics.store(state, 0, 1)
               Atomics.wait(state, 1, 0)
               return parentPort.close()
             }
             ${BEGINS}
             ${FINDS}
           })`,
          { eval: true, workerData: state.buffer }
        ).on("exit", () => void ended++)
      const scope = yield* Scope.make()
      const context = yield* Scope.extend(Layer.build(layerOf({ launch, idle: 1 })), scope)
      const reader = yield* Effect.provide(Reader.ReadThread, context)
      assert.strictEqual((yield* reader.read(SCAN)).count, 7)
      yield* eventually("the thread is told to end", () => Atomics.load(state, 0) === 1)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* turnOfEventLoop
      const isClosed = closing.unsafePoll() !== null
      Atomics.store(state, 1, 1)
      Atomics.notify(state, 1)
      yield* inTime(Fiber.join(closing), "the thread ends")
      assert.deepStrictEqual([isClosed, ended], [false, 1])
    }))

  it.live("ends with the node: a running job fails as other calls do", () =>
    Effect.gen(function*() {
      let ended = 0
      const launch = () => program(BEGINS)().on("exit", () => void ended++)
      const scope = yield* Scope.make()
      const context = yield* Scope.extend(Layer.build(layerOf({ launch })), scope)
      const reader = yield* Effect.provide(Reader.ReadThread, context)
      const running = yield* Effect.fork(Effect.flip(reader.read(SCAN)))
      yield* Effect.scoped(reader.begin(SCAN))
      yield* inTime(Scope.close(scope, Exit.void), "the thread ends")
      const error = yield* Fiber.join(running)
      assert.deepStrictEqual([error._tag, error.message, ended], ["RpcError", "Shutting down", 1])
      assert.strictEqual((yield* Effect.flip(reader.read(SCAN))).message, "Shutting down")
    }))

  it.live("takes a bounded number of jobs", () =>
    withReader({ launch: program(BEGINS) }, (reader) =>
      Effect.gen(function*() {
        for (let job = 0; job < 32; job++) yield* reader.begin(SCAN)
        assert.strictEqual((yield* Effect.flip(reader.begin(SCAN)))._tag, "NotRead")
      })))
})
