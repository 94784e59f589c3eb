import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
import type { TransactionRate } from "../consensus/params.ts"
import type { HeaderId, Height, UnixTime } from "../protocol/keys.ts"
import type { Chain } from "./Chain.ts"
import { GENESIS } from "./index/BlockIndex.ts"
import type { HeaderTree } from "./index/HeaderTree.ts"

/** How much of the whole chain a node has checked, by transactions, because early blocks have few. */

export interface CheckedBlock {
  /** Transactions of the chain up to this block. */
  readonly transactions: number
  readonly height: Height
  readonly time: UnixTime
  /** Height of the best header. */
  readonly headers: Height
}

/** Seconds from the clock within which a block is so recent that the headers after it tell more than its time. */
const YOUNG = 2 * 3600

/** The checked share of all transactions, 0 to 1. Source: upstream `validation.cpp`, `GuessVerificationProgress`. */
export const verifiedPart = (
  { headers, height, time, transactions }: CheckedBlock,
  { rate, spacing }: { readonly rate: TransactionRate; readonly spacing: number },
  now: UnixTime
): number => {
  const since = Math.abs(now - time) <= YOUNG ? now - Math.max(0, headers - height) * spacing : time
  const total = transactions <= rate.count
    ? rate.count + (now - rate.time) * rate.perSecond
    : transactions + (now - since) * rate.perSecond
  return Math.min(1, transactions / total)
}

type Counted = Pick<HeaderTree, "forkPoint" | "parent" | "transactions">

/** Headers visited per turn of the event loop. */
const STEP = 20_000

/**
 * Counts the transactions up to a block. Later calls continue from there. `mean` is for blocks that were never stored
 * because the chain began with a snapshot.
 */
export const countTransactions = (tree: Counted, mean: number): (tip: HeaderId) => Effect.Effect<number> => {
  let known = { tip: GENESIS, transactions: tree.transactions(GENESIS) || 1 }
  const between = (from: HeaderId, until: HeaderId): Effect.Effect<number> =>
    Effect.gen(function*() {
      let total = 0
      let steps = 0
      for (let id = from; id !== until; id = tree.parent(id)) {
        total += tree.transactions(id) || mean
        if (++steps % STEP === 0) yield* turnOfEventLoop
      }
      return total
    })
  return (tip) =>
    Effect.gen(function*() {
      const before = known
      const fork = tree.forkPoint(before.tip, tip)
      const added = yield* between(tip, fork)
      const removed = yield* between(before.tip, fork)
      known = { tip, transactions: before.transactions + added - removed }
      return known.transactions
    })
}

/** The checked share of a chain. With blocks on demand there is no rate, and only known headers count. */
export const makeVerified = ({ params, progress, tree }: typeof Chain.Service): Effect.Effect<number> => {
  const { targetSpacing: spacing, transactionRate: rate } = params
  if (rate === undefined) {
    return Effect.map(progress, ({ headers, tip }) => headers === 0 ? 1 : Math.min(1, tip.height / headers))
  }
  const count = countTransactions(tree, rate.perSecond * spacing)
  return Effect.gen(function*() {
    const tip = tree.tip()
    const { headers } = yield* progress
    const block = { transactions: yield* count(tip), height: tree.height(tip), time: tree.time(tip), headers }
    return verifiedPart(block, { rate, spacing }, (yield* Clock.currentTimeMillis) / 1000)
  })
}
