import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { Worker } from "node:worker_threads"
import type { LinkCheck } from "../../src/consensus/nameLink.ts"
import * as LinkPool from "../../src/light/LinkPool.ts"
import { registered, updated } from "../support/lightNode.ts"
import { realThreads, withThreads } from "../support/threads.ts"

const OWNED = registered("d/name", "first")
const UPDATE = updated("d/name", "second", OWNED)

/** More checks than one message is worth: every third one spends another coin. */
const CHECKS = Array.from({ length: 60 }, (_, i): LinkCheck => ({
  tx: UPDATE.bytes,
  before: { tx: i % 3 === 2 ? registered("d/other", "x").bytes : OWNED.bytes, vout: 0 },
  flags: 0
}))

const TRUTH = CHECKS.map((_, i) => i % 3 !== 2)

const program = (source: string): () => Worker => () => new Worker(source, { eval: true })

const ANSWERS = `
  const { parentPort } = require("node:worker_threads")
  parentPort.on("message", (checks) => {
    if (checks === "close") return parentPort.close()
    parentPort.postMessage(new Uint8Array(checks.length).fill(1))
  })
`

const collected = () => {
  const lines: Array<unknown> = []
  return { lines, log: Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(message))) }
}

/** What a pool answers twice, and the number of warnings. */
const answersOf = (threads: number, launch: (() => Worker) | undefined) =>
  Effect.suspend(() => {
    const { lines, log } = collected()
    return Effect.scoped(Effect.gen(function*() {
      const pool = yield* LinkPool.make(threads).pipe(withThreads(() => launch))
      const [first, second] = [yield* pool.verify(CHECKS), yield* pool.verify(CHECKS)]
      return { first, second, warnings: lines.length }
    })).pipe(Effect.provide(log))
  })

describe("LinkPool", () => {
  it.live("checks on the main thread without threads", () =>
    Effect.map(
      answersOf(0, undefined),
      (found) => assert.deepStrictEqual(found, { first: TRUTH, second: TRUTH, warnings: 0 })
    ))

  it.live("the program of its threads finds the same", () =>
    Effect.gen(function*() {
      const started: Array<string> = []
      const pool = yield* LinkPool.make(2).pipe(withThreads(realThreads(started)))
      assert.deepStrictEqual(yield* pool.verify(CHECKS), TRUTH)
      assert.deepStrictEqual(started, ["linkWorker.js", "linkWorker.js"])
    }).pipe(Effect.scoped))

  it.live("shares the checks among threads", () =>
    Effect.map(answersOf(2, program(ANSWERS)), ({ first, warnings }) => {
      assert.deepStrictEqual(first, CHECKS.map(() => true))
      assert.strictEqual(warnings, 0)
    }))

  it.live("checks on the main thread if the system refuses a thread, and says it once", () => {
    let launched = 0
    const launch = (): Worker => {
      if (launched++ === 0) return program(ANSWERS)()
      throw new Error("ERR_WORKER_INIT_FAILED")
    }
    return Effect.map(
      answersOf(2, launch),
      (found) => assert.deepStrictEqual(found, { first: TRUTH, second: TRUTH, warnings: 1 })
    )
  })

  it.live("checks on the main thread if a thread ends before it answers", () =>
    Effect.map(
      answersOf(2, program("process.exit(3)")),
      (found) => assert.deepStrictEqual(found, { first: TRUTH, second: TRUTH, warnings: 1 })
    ))

  it.live("starts another thread for one that ended between two calls", () => {
    const launched: Array<Worker> = []
    const launch = (): Worker => {
      const worker = program(ANSWERS)()
      launched.push(worker)
      return worker
    }
    return Effect.scoped(Effect.gen(function*() {
      const pool = yield* LinkPool.make(1).pipe(withThreads(() => launch))
      yield* pool.verify(CHECKS)
      yield* Effect.promise(() => launched[0]?.terminate() ?? Promise.resolve(0))
      assert.deepStrictEqual(yield* pool.verify(CHECKS), CHECKS.map(() => true))
      assert.strictEqual(launched.length, 2)
    }))
  })

  it.live("starts threads again after a rest", () => {
    let launched = 0
    const launch = (): Worker => {
      if (launched++ === 0) throw new Error("ERR_WORKER_INIT_FAILED")
      return program(ANSWERS)()
    }
    return Effect.scoped(Effect.gen(function*() {
      const pool = yield* LinkPool.make(1).pipe(withThreads(() => launch))
      assert.deepStrictEqual(yield* pool.verify(CHECKS), TRUTH)
      yield* pool.rest
      assert.deepStrictEqual(yield* pool.verify(CHECKS), CHECKS.map(() => true))
    })).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
  })
})
