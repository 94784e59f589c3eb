import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import {
  Budget,
  BUDGET_KINDS,
  type BudgetAction,
  type BudgetListener,
  layer as budgetLayer
} from "../base/MemoryBudget.ts"
import { memoryBudget, memoryEvicted, memoryRefused } from "../metrics/metrics.ts"

/** The budget of a node with its metrics, and a log that a flood cannot fill. */

/** Milliseconds between two log entries of the same action. */
const LOG_INTERVAL = 10_000

const MESSAGES: Readonly<Record<BudgetAction, string>> = {
  refused: "memory budget exceeded: a peer or caller was refused",
  evicted: "memory budget full: the peer or caller that held the most was dropped"
}

type BudgetEvent = Parameters<BudgetListener>[0]

/** Logs the first event of an action at once, then one every `LOG_INTERVAL` with the number of omitted ones. */
export const limitedLog = (
  log: (message: string, facts: Readonly<Record<string, unknown>>) => void,
  now: () => number
): BudgetListener => {
  const last = new Map<BudgetAction, { at: number; omitted: number }>()
  return ({ action, held, kind, owner }: BudgetEvent): void => {
    const state = last.get(action)
    if (state !== undefined && now() - state.at < LOG_INTERVAL) {
      state.omitted += 1
      return
    }
    last.set(action, { at: now(), omitted: 0 })
    log(MESSAGES[action], { owner, kind, bytes: held, omitted: state?.omitted ?? 0 })
  }
}

const observed = Effect.gen(function*() {
  const budget = yield* Budget
  const runFork = Runtime.runFork(yield* Effect.runtime())
  const clock = yield* Effect.clock
  const log = limitedLog(
    (message, facts) => void runFork(Effect.annotateLogs(Effect.logWarning(message, facts), "subsystem", "network")),
    () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
  )
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      budget.listen((event) => {
        const counter = event.action === "refused" ? memoryRefused : memoryEvicted
        counter.of(event.kind).increase()
        log(event)
      })
    ),
    (stop) => Effect.sync(stop)
  )
})

export const sampleMemory: Effect.Effect<Effect.Effect<void>, never, Budget> = Effect.map(
  Budget,
  (budget) =>
    Effect.sync(() => {
      for (const kind of BUDGET_KINDS) memoryBudget.of(kind).set(budget.held(kind))
    })
)

export const layer: Layer.Layer<Budget> = Layer.provideMerge(Layer.scopedDiscard(observed), budgetLayer)
