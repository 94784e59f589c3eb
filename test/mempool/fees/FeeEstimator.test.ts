import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Layer, Logger, Scope } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import * as FeeEstimator from "../../../src/mempool/fees/FeeEstimator.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { output, pay, reward } from "../../support/mempool.ts"
import { MethodNode } from "../../support/methodNode.ts"
import { mine, spendableNode } from "../../support/spendableNode.ts"

type Estimator = typeof FeeEstimator.FeeEstimator.Service

/** Lets the fibers of the estimator handle what was published: each event takes them a few turns, and no waiting I/O. */
const handled = Effect.repeatN(turnOfEventLoop, 20)

/** The estimator's counts over the last blocks at all fee rates: mined, and waiting for a block or longer. */
const counted = ({ estimateRaw }: Estimator) => {
  const { fail, pass } = estimateRaw("short", { target: 1, threshold: 0 }) ?? assert.fail()
  return {
    confirmed: (pass?.confirmed ?? 0) + (fail?.confirmed ?? 0),
    waiting: (pass?.inPool ?? 0) + (fail?.inPool ?? 0)
  }
}

const messages: Array<string> = []

/** The estimator's own clock: the mempool beside it runs its timers by another one. */
class HandClock {
  private time = 0
  private readonly sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
  readonly service: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeNanos: () => BigInt(this.time) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(this.time) * 1_000_000n),
    unsafeCurrentTimeMillis: () => this.time,
    currentTimeMillis: Effect.sync(() => this.time),
    sleep: (duration) =>
      Effect.async((resume) => {
        const sleeper = { until: this.time + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        this.sleepers.add(sleeper)
        return Effect.sync(() => this.sleepers.delete(sleeper))
      })
  }

  set(time: number): void {
    this.time = time
    for (const sleeper of this.sleepers) {
      if (sleeper.until > time) continue
      this.sleepers.delete(sleeper)
      sleeper.wake()
    }
  }

  adjust(duration: Duration.DurationInput): void {
    this.set(this.time + Duration.toMillis(duration))
  }
}

const clock = new HandClock()

/** An estimator on the node's chain and mempool, with a file of its own, and the effect that stops it. */
const estimatorOn = (filename: string | undefined) =>
  Effect.gen(function*() {
    const { chain, pool, status } = yield* MethodNode
    const scope = yield* Scope.make()
    const services = Layer.mergeAll(
      Layer.succeed(Chain, chain),
      Layer.succeed(Mempool, pool),
      Layer.succeed(SyncStatus, status)
    )
    const log = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void messages.push(String(message))))
    const context = yield* Layer.buildWithScope(
      FeeEstimator.layer({ filename }).pipe(
        Layer.provide(services),
        Layer.provide(log),
        Layer.provide(Layer.setClock(clock.service))
      ),
      scope
    )
    // Its fibers subscribe in their first turn.
    yield* handled
    const estimator = yield* Effect.provide(FeeEstimator.FeeEstimator, context)
    return { estimator, close: Effect.withClock(Scope.close(scope, Exit.void), clock.service) }
  })

/** Sets the clock to the time of the tip. */
const atTipTime = Effect.gen(function*() {
  const { chain } = yield* MethodNode
  clock.set((yield* chain.tip).header.time * 1000)
})

const accept = (transaction: Transaction) =>
  Effect.flatMap(MethodNode, ({ pool }) => Effect.orDie(pool.accept(transaction)))

const RATE = 1_000_000
const at = (rate: number, transaction: (fee: number) => Transaction): Transaction =>
  transaction(Math.ceil((rate * transaction(100_000).virtualSize) / 1000))

/** Mines a transaction with many outputs to spend, one by one. */
const manyOutputs = Effect.gen(function*() {
  const fan = pay([reward(1)], { outputs: 100 })
  yield* mine(fan)
  yield* atTipTime
  return (vout: number, rate = RATE) => at(rate, (fee) => pay([output(fan, vout)], { fee }))
})

const onNode = <A, E>(work: Effect.Effect<A, E, MethodNode | Scope.Scope>) =>
  work.pipe(Effect.scoped, Effect.provide(Layer.merge(spendableNode, Logger.remove(Logger.defaultLogger))))

describe("FeeEstimator", () => {
  it.effect("learns from transactions that enter the mempool and are mined", () =>
    onNode(Effect.gen(function*() {
      const { chain } = yield* MethodNode
      const spend = yield* manyOutputs
      const { close, estimator } = yield* estimatorOn(undefined)
      // Before the first block it has no tip.
      yield* mine()
      yield* eventually("the first block", () => estimator.estimateSmart(2, "economical").blocks === 0)
      yield* handled
      for (let block = 0; block < 14; block++) {
        const transactions = [0, 1, 2].map((n) => spend(3 * block + n))
        for (const transaction of transactions) yield* accept(transaction)
        yield* mine(...transactions)
        // Every block adds three, and earlier counts decay.
        const most = 3 * (1 - 0.962 ** (block + 1)) / (1 - 0.962)
        yield* eventually(`block ${block}`, () => Math.abs(counted(estimator).confirmed - most) < 1e-9)
      }
      const { blocks, feeRate = 0 } = estimator.estimateSmart(6, "economical")
      assert.strictEqual(blocks, 6)
      assert.isAtLeast(feeRate, RATE)
      assert.isAtMost(feeRate, RATE * 1.01)
      assert.strictEqual((yield* chain.tip).height, 139 + 16)
      yield* close
    })), 20_000)

  it.effect(
    "does not follow transactions with parents, from a reorg, and during a download of blocks",
    () =>
      onNode(Effect.gen(function*() {
        const { chain } = yield* MethodNode
        const spend = yield* manyOutputs
        const { close, estimator } = yield* estimatorOn(undefined)
        yield* mine()
        yield* handled
        const parent = yield* Effect.map(accept(spend(0)), ({ transaction }) => transaction)
        yield* accept(at(RATE, (fee) => pay([output(parent)], { fee })))
        yield* handled
        yield* mine()
        yield* eventually("the parent waits, the child is not seen", () => counted(estimator).waiting === 1)
        // Mined, and returned by a reorganisation: it is not followed again.
        const block = yield* mine(parent)
        yield* eventually("the parent is mined", () => counted(estimator).confirmed === 1)
        yield* chain.control.invalidate(block.hash)
        yield* handled
        yield* mine()
        yield* mine()
        yield* eventually("the block after it", () => counted(estimator).confirmed < 0.99)
        assert.strictEqual(counted(estimator).waiting, 0)
        // A tip older than three hours: peers have newer blocks.
        clock.adjust("5 hours")
        yield* accept(spend(1))
        yield* handled
        yield* mine()
        yield* handled
        assert.strictEqual(counted(estimator).waiting, 0)
        yield* atTipTime
        yield* accept(spend(2))
        yield* handled
        yield* mine()
        yield* eventually("one that is followed", () => counted(estimator).waiting === 1)
        yield* close
      })),
    60_000
  )

  it.effect(
    "saves its history at the end, each hour, and on request",
    () =>
      onNode(Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const filename = join(directory, "fee_estimates.json")
        const spend = yield* manyOutputs
        const { close, estimator } = yield* estimatorOn(filename)
        yield* mine()
        yield* handled
        const transactions = [0, 1, 2, 3].map((vout) => spend(vout))
        for (const transaction of transactions) yield* accept(transaction)
        yield* handled
        yield* mine(...transactions.slice(1))
        yield* eventually("three are mined", () => counted(estimator).confirmed === 3)
        assert.isFalse(existsSync(filename))
        clock.adjust("59 minutes")
        yield* handled
        assert.isFalse(existsSync(filename))
        clock.adjust("1 minute")
        yield* eventually("the file", () => existsSync(filename))
        assert.deepStrictEqual(readdirSync(directory), ["fee_estimates.json"])
        assert.strictEqual(statSync(filename).mode & 0o777, 0o600)
        const hourly = readFileSync(filename, "utf8")
        yield* Effect.withClock(estimator.save, clock.service)
        assert.strictEqual(readFileSync(filename, "utf8"), hourly)
        yield* close
        // A transaction that waited for a block counts as a failure at the end.
        assert.notStrictEqual(readFileSync(filename, "utf8"), hourly)

        const again = yield* estimatorOn(filename)
        assert.strictEqual(counted(again.estimator).confirmed, 3)
        assert.strictEqual(again.estimator.estimateRaw("short", { target: 1, threshold: 0.5 })?.fail?.left, 1)
        yield* again.close
        // 60 hours are not too long, one second more is.
        clock.adjust("60 hours")
        const copy = readFileSync(filename, "utf8")
        const reread = yield* estimatorOn(filename)
        assert.strictEqual(counted(reread.estimator).confirmed, 3)
        yield* reread.close
        writeFileSync(filename, copy)
        clock.adjust("1 second")
        const old = yield* estimatorOn(filename)
        assert.strictEqual(counted(old.estimator).confirmed, 0)
        assert.include(messages.join("\n"), "fee estimates are too old: not used")
        yield* old.close
      })),
    60_000
  )

  it.effect(
    "starts empty if its file is damaged or unreadable, and logs that",
    () =>
      onNode(Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const filename = join(directory, "fee_estimates.json")
        const good = yield* estimatorOn(filename)
        yield* good.close
        const content = readFileSync(filename, "utf8")
        const damaged = [
          "",
          "null",
          "not JSON",
          content.slice(0, -3),
          content.replace("\"version\":1", "\"version\":2"),
          content.replace("\"first\":0", "\"first\":9"),
          // The content alone would be a valid history.
          content.replace(/"time":(\d)/, "\"time\":1$1"),
          " ".repeat(9 * 1024 * 1024)
        ]
        for (const text of damaged) {
          writeFileSync(filename, text)
          messages.length = 0
          const { close, estimator } = yield* estimatorOn(filename)
          assert.include(messages.join("\n"), "fee estimates are damaged: starting without them")
          assert.strictEqual(counted(estimator).confirmed, 0)
          yield* close
          assert.strictEqual(readFileSync(filename, "utf8"), content)
        }
        const folder = join(directory, "folder")
        mkdirSync(folder)
        messages.length = 0
        const unreadable = yield* estimatorOn(folder)
        assert.include(messages.join("\n"), "fee estimates cannot be read: starting without them")
        yield* unreadable.close
        assert.include(messages.join("\n"), "fee estimates could not be saved")
      })),
    60_000
  )
})
