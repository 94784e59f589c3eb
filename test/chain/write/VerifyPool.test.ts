import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger, Option, Scope, TestClock, TestServices } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Worker } from "node:worker_threads"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { verifyChecks } from "../../../src/chain/write/verifyChecks.ts"
import type { ToWorker } from "../../../src/chain/write/verifyMessage.ts"
import type { VerifyBatch } from "../../../src/chain/write/VerifyPool.ts"
import { blockFlags } from "../../../src/consensus/flags.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { ScriptCheck } from "../../../src/consensus/view.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { EMPTY, fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { NO_WITNESS, outpoint } from "../../../src/protocol/transaction.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { eventually } from "../../support/eventually.ts"
import { fixtureJson } from "../../support/fixtures.ts"
import { MemoryChain } from "../../support/MemoryChain.ts"
import { ANYONE, currency } from "../../support/regtest.ts"

/**
 * The pool with real threads. A thread runs compiled code only, so this is the pool of the build. Without a build,
 * these tests are skipped.
 */

const BUILT = new URL("../../../build/src/chain/write/VerifyPool.js", import.meta.url)
const isBuilt = existsSync(fileURLToPath(BUILT))

type Pool = typeof import("../../../src/chain/write/VerifyPool.ts")

const builtPool = Effect.promise(async (): Promise<Pool> => import(/* @vite-ignore */ BUILT.href))

const FLAGS = blockFlags(170, regtestParams)

interface Entry {
  readonly id: string
  readonly height: number
  readonly blockHex: string
  readonly coreResult: unknown
}

/** The script checks of each block of the chain, and of blocks after block 169 that break only these checks. */
const collect = () => {
  const all: Array<ReadonlyArray<ScriptCheck>> = []
  const found: Array<ScriptCheck> = []
  const chain = new MemoryChain(regtestParams, (check) => void found.push(check))
  const bad: Array<{ readonly error: string; readonly checks: ReadonlyArray<ScriptCheck> }> = []
  const entries = fixtureJson<ReadonlyArray<Entry>>("invalid-blocks/invalid-blocks.json").filter((
    { coreResult, height }
  ) => height === 170 && String(coreResult).startsWith("block-script-verify-flag-failed"))
  for (const block of fixtureBlocks("regtest-names/blocks.dat").slice(1)) {
    if (chain.height === 169) {
      for (const { blockHex, coreResult } of entries) {
        chain.judge(decodeBlock(fromHex(blockHex) ?? new Uint8Array(0)))
        const error = /\((.*)\)$/.exec(String(coreResult))?.[1]
        const checks = found.splice(0)
        if (error === undefined || checks.length === 0 || bad.some((other) => other.error === error)) continue
        bad.push({ error, checks })
      }
    }
    chain.connect(block)
    all.push(found.splice(0))
  }
  return { all, bad }
}

const { all, bad } = isBuilt ? collect() : { all: [], bad: [] }

/** Many checks that are valid. */
const good = all.flat().slice(0, 900)

/** A transaction of many inputs that need no key. */
const freeForAll: ScriptCheck = {
  transaction: currency(
    Array.from({ length: 24 }, (_, vout) => ({
      prevout: outpoint(new Uint8Array(32), vout),
      scriptSig: EMPTY,
      sequence: 0xffffffff,
      witness: NO_WITNESS
    })),
    [{ value: 0, script: ANYONE }]
  ),
  coins: Array.from({ length: 24 }, () => ({ value: 1, script: ANYONE, height: 1, coinbase: false }))
}

/** One check of a valid block. */
const one = good.slice(0, 1)

const nothing = Logger.replace(Logger.defaultLogger, Logger.none)

/** Makes a pool, and returns its threads. */
const openPool = (threads: number) =>
  Effect.gen(function*() {
    const { make } = yield* builtPool
    const workers: Array<Worker> = []
    const note = (worker: Worker): void => void workers.push(worker)
    const started = Effect.gen(function*() {
      const pool = yield* make(threads)
      // No thread starts before there is work. The process reports new threads in its next turn.
      yield* turnOfEventLoop
      assert.strictEqual(workers.length, 0)
      yield* fill(pool.begin(), [good.slice(0, 60)]).finish
      yield* TestServices.provideLive(eventually("the threads are reported", () => workers.length === pool.threads))
      return pool
    })
    const pool = yield* Effect.acquireUseRelease(
      Effect.sync(() => process.on("worker", note)),
      () => started,
      () => Effect.sync(() => process.off("worker", note))
    )
    return { pool, workers }
  })

const fill = (batch: VerifyBatch, blocks: ReadonlyArray<ReadonlyArray<ScriptCheck>>): VerifyBatch => {
  for (const [block, checks] of blocks.entries()) batch.add(block, checks, FLAGS)
  return batch
}

/** The claims of the chunks that these threads get from now on; zero until a thread takes the chunk. */
const claimsOf = (workers: ReadonlyArray<Worker>): () => ReadonlyArray<number> => {
  let table: Int32Array = new Int32Array(0)
  const chunks: Array<number> = []
  for (const worker of workers) {
    const post = worker.postMessage.bind(worker)
    worker.postMessage = (message: ToWorker, transfer) => {
      if (message.type === "begin") {
        table = message.claims
        chunks.length = 0
      } else if (message.type === "chunk") chunks.push(message.index)
      return Array.isArray(transfer) ? post(message, transfer) : post(message)
    }
  }
  return () => chunks.map((index) => Atomics.load(table, index))
}

const brokenCheck = (): { readonly error: string; readonly checks: ReadonlyArray<ScriptCheck> } => {
  const [first] = bad
  if (first === undefined) throw new Error("no block that breaks scripts")
  return first
}

/** A check that ends a thread, because the thread cannot read it. In this thread it is valid. */
const poison = (): ReadonlyArray<ScriptCheck> =>
  good.slice(0, 30).map(({ coins, transaction }) => {
    const bytes = transaction.bytes.subarray(0, 20)
    return {
      coins,
      transaction: new Proxy(transaction, {
        get: (target, key) => key === "bytes" ? bytes : Reflect.get(target, key, target)
      })
    }
  })

describe.skipIf(!isBuilt)("VerifyPool with threads", () => {
  it.scopedLive("the verification of a large block yields to other work, even without threads", () =>
    Effect.gen(function*() {
      const { pool } = yield* openPool(0)
      let turns = 0
      let timer = setImmediate(function turn() {
        turns++
        timer = setImmediate(turn)
      })
      const failed = yield* Effect.ensuring(
        fill(pool.begin(), [good]).finish,
        Effect.sync(() => clearImmediate(timer))
      )
      assert.isUndefined(failed)
      assert.isAtLeast(turns, 3)
    }))

  it.scopedLive("VerifyPool finds all scripts of the chain valid, in batches of any size", () =>
    Effect.gen(function*() {
      const { pool, workers } = yield* openPool(2)
      assert.strictEqual(pool.threads, 2)
      assert.strictEqual(workers.length, 2)
      for (let at = 0; at < all.length; at += 100) {
        assert.isUndefined(yield* fill(pool.begin(), all.slice(at, at + 100)).finish)
      }
    }))

  it.scopedLive("VerifyPool returns the same results as a single thread", () =>
    Effect.gen(function*() {
      const { pool } = yield* openPool(2)
      assert.isAbove(bad.length, 20)
      for (const { checks, error } of bad) {
        const alone = verifyChecks(checks, { block: 3, flags: FLAGS })
        assert.strictEqual(alone?.error, error)
        const batch = fill(pool.begin(), [good.slice(0, 60), [], good.slice(60, 90)])
        batch.add(3, checks, FLAGS)
        batch.add(4, good.slice(90, 150), FLAGS)
        const found = yield* batch.finish
        assert.deepStrictEqual(
          found && { ...found, txid: toHex(found.txid) },
          alone && { ...alone, txid: toHex(alone.txid) }
        )
      }
    }))

  it.scopedLive("VerifyPool reports the failure in the earliest block, whichever thread finds it", () =>
    Effect.gen(function*() {
      const { pool, workers } = yield* openPool(2)
      const { checks } = brokenCheck()
      const claims = claimsOf(workers)
      const isTaken = () => claims().length > 20 && claims().every((claim) => claim !== 0)
      // The threads take nothing, or everything, before this thread does.
      const waits = [Effect.void, eventually("the threads take all chunks", isTaken)]
      for (const early of [0, 1, 7, 13, 18]) {
        for (const wait of waits) {
          const blocks = Array.from(
            { length: 20 },
            (_, i) => i === early || i === 19 || i === early + 1 ? checks : good.slice(40 * i, 40 * i + 40)
          )
          const batch = fill(pool.begin(), blocks)
          yield* wait
          assert.strictEqual((yield* batch.finish)?.block, early)
        }
      }
      // The results of one batch do not affect the next.
      assert.isUndefined(yield* fill(pool.begin(), [good]).finish)
    }))

  it.scopedLive("VerifyPool accepts more chunks than its table of claims has entries", () =>
    Effect.gen(function*() {
      const { pool } = yield* openPool(1)
      const batch = pool.begin()
      // Very little work: only the number of chunks matters, and two blocks fill one.
      const blocksToFill = 8_600
      for (let block = 0; block < blocksToFill; block++) batch.add(block, [freeForAll], FLAGS)
      batch.add(blocksToFill, brokenCheck().checks, FLAGS)
      assert.strictEqual((yield* batch.finish)?.block, blocksToFill)
    }), 60_000)

  it.scopedLive("VerifyPool checks a small batch in the calling thread", () =>
    Effect.gen(function*() {
      const { pool, workers } = yield* openPool(1)
      let messages = 0
      for (const worker of workers) {
        const post = worker.postMessage.bind(worker)
        worker.postMessage = (message, transfer) => {
          messages++
          return Array.isArray(transfer) ? post(message, transfer) : post(message)
        }
      }
      assert.isUndefined(yield* fill(pool.begin(), [one, one]).finish)
      assert.strictEqual((yield* fill(pool.begin(), [one, brokenCheck().checks.slice(-1)]).finish)?.block, 1)
      assert.isUndefined(yield* pool.begin().finish)
      assert.strictEqual(messages, 0)
      assert.isUndefined(yield* fill(pool.begin(), [good.slice(0, 60)]).finish)
      assert.isAbove(messages, 2)
    }))

  it.scopedLive("VerifyPool ends its threads when the scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { workers } = yield* Scope.extend(openPool(2), scope)
      const ended = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)))
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => Promise.all(ended)).pipe(Effect.timeout("5 seconds"))
      assert.deepStrictEqual(workers.map(({ threadId }) => threadId), [-1, -1])
    }))

  it.scoped("VerifyPool waits for a thread that just rests when the scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { pool, workers: [worker = assert.fail("no thread")] } = yield* Scope.extend(openPool(1), scope)
      yield* fill(pool.begin(), [good]).finish
      // The thread does not hear that it has to end until the test lets it.
      const held: Array<() => void> = []
      const post = worker.postMessage.bind(worker)
      worker.postMessage = (message) => void held.push(() => post(message))
      for (let look = 0; look < 2; look++) yield* TestClock.adjust("15 seconds")
      assert.lengthOf(held, 1)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      for (let turn = 0; turn < 3; turn++) yield* turnOfEventLoop
      assert.isTrue(Option.isNone(yield* Fiber.poll(closing)))
      for (const end of held) end()
      yield* Fiber.join(closing)
      assert.strictEqual(worker.threadId, -1)
    }))

  it.scoped("VerifyPool ends threads without work, and starts others for the next batch", () =>
    Effect.gen(function*() {
      const { make } = yield* builtPool
      const workers: Array<Worker> = []
      const note = (worker: Worker): void => void workers.push(worker)
      yield* Effect.acquireRelease(Effect.sync(() => process.on("worker", note)), () =>
        Effect.sync(() => process.off("worker", note)))
      const pool = yield* make(1)
      yield* fill(pool.begin(), [good]).finish
      const [first] = workers
      assert.strictEqual(workers.length, 1)
      yield* TestClock.adjust("15 seconds")
      yield* turnOfEventLoop
      assert.notStrictEqual(first?.threadId, -1, "the thread had work since the last look")
      yield* TestClock.adjust("15 seconds")
      yield* TestServices.provideLive(eventually("the thread ends", () =>
        first?.threadId === -1))
      assert.strictEqual(pool.threads, 1)
      assert.strictEqual((yield* fill(pool.begin(), [good, brokenCheck().checks]).finish)?.block, 1)
      assert.strictEqual(workers.length, 2)
      assert.strictEqual(pool.threads, 1)
    }))

  it.scoped("VerifyPool ends no thread in the middle of a batch, however long it takes", () =>
    Effect.gen(function*() {
      const { pool, workers } = yield* openPool(1)
      const claims = claimsOf(workers)
      const batch = fill(pool.begin(), [brokenCheck().checks, good])
      yield* TestServices.provideLive(
        eventually("the thread takes the first chunk", () => claims()[0] === 1)
      )
      for (let minute = 0; minute < 3; minute++) {
        yield* TestClock.adjust("1 minute")
        yield* turnOfEventLoop
      }
      assert.notStrictEqual(workers[0]?.threadId, -1)
      assert.strictEqual((yield* batch.finish)?.block, 0)
    }))

  const isDefect = (exit: Exit.Exit<unknown, unknown>, message: RegExp): void => {
    assert.isTrue(Exit.isFailure(exit))
    if (!Exit.isFailure(exit)) return
    assert.isTrue(Cause.isDie(exit.cause))
    assert.match(Cause.pretty(exit.cause), message)
  }

  it.scopedLive("a batch fails if a thread breaks, and the pool continues without that thread", () =>
    Effect.gen(function*() {
      const { pool } = yield* openPool(2)
      const batch = fill(pool.begin(), [poison(), good])
      yield* eventually("a thread ends", () => pool.threads < 2)
      isDefect(yield* Effect.exit(Effect.timeout(batch.finish, "10 seconds")), /DecodeError|bytes/)
      assert.isBelow(pool.threads, 2)
      assert.isUndefined(yield* fill(pool.begin(), [good]).finish)
      assert.strictEqual((yield* fill(pool.begin(), [good, brokenCheck().checks]).finish)?.block, 1)
    }).pipe(Effect.provide(nothing)))

  it.scopedLive("a batch fails if its threads end early, and later batches run in the calling thread", () =>
    Effect.gen(function*() {
      const { pool, workers } = yield* openPool(2)
      const batch = fill(pool.begin(), [good, good])
      yield* Effect.promise(() => Promise.all(workers.map((worker) => worker.terminate())))
      isDefect(yield* Effect.exit(Effect.timeout(batch.finish, "10 seconds")), /a verify worker ended/)
      assert.strictEqual(pool.threads, 0)
      assert.isUndefined(yield* fill(pool.begin(), [good]).finish)
      assert.strictEqual((yield* fill(pool.begin(), [good, brokenCheck().checks]).finish)?.block, 1)
    }).pipe(Effect.provide(nothing)))

  it.scopedLive("batches add no listeners", () =>
    Effect.gen(function*() {
      const { pool, workers } = yield* openPool(1)
      const count = () => workers[0]?.eventNames().map((name) => workers[0]?.listenerCount(name))
      const before = count()
      for (let i = 0; i < 20; i++) yield* fill(pool.begin(), [good.slice(0, 50)]).finish
      assert.deepStrictEqual(count(), before)
    }))
})

describe("VerifyPool without threads", () => {
  it.scopedLive("without compiled code the pool has no threads", () =>
    Effect.gen(function*() {
      const { make } = yield* Effect.promise(() => import("../../../src/chain/write/VerifyPool.ts"))
      const pool = yield* make(4)
      assert.strictEqual(pool.threads, 0)
      assert.isUndefined(yield* pool.begin().finish)
    }))
})
