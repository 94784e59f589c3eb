import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { displayHash } from "../../protocol/bytes.ts"
import { type HeaderId, headerId } from "../../protocol/keys.ts"
import { type Checkable, DataHealth, type Doubt } from "../../storage/DataHealth.ts"
import { Chain } from "../Chain.ts"
import { ChainControl } from "../ChainControl.ts"
import type { HeaderTree } from "../index/HeaderTree.ts"
import { RECENT_BLOCKS } from "./BlockLosses.ts"

const WHAT = "blocks"

const STEP = { milliseconds: 10, bytes: 1024 * 1024 }

const WITHOUT_PEERS = "without peers, start with -loadblock and a file that has them"

const OR_REBUILD =
  "start with -loadblock and a file that has it, or stop the node, delete the folder chainstate and start " +
  "again to rebuild the chain state from the stored blocks, which takes as long as an import"

/** The limits for a reorg that waits for a missing block: milliseconds, and replies of peers without it. */
export const GIVE_UP = { milliseconds: 600_000, refusals: 8 }

/** Milliseconds until the operator is notified of a block that does not arrive. */
const STANDSTILL_MS = 600_000

/** How many blocks a branch that was given up may be ahead. Beyond that, this node answers from a stale chain. */
const MOST_BEHIND = 6

type Note = (doubt: Doubt) => Effect.Effect<Effect.Effect<void>>

class Held {
  private readonly note: Note
  private held: { readonly reason: string; readonly end: Effect.Effect<void> } | undefined

  constructor(note: Note) {
    this.note = note
  }

  become(reason: string | undefined): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const { held } = this
      if (held?.reason === reason) return
      this.held = undefined
      if (held !== undefined) yield* held.end
      if (reason !== undefined) this.held = { reason, end: yield* this.note({ what: WHAT, reason }) }
    })
  }
}

/** The duration of a state, as some are reported only after a while. */
class Since<A> {
  private known: { readonly what: A; readonly since: number } | undefined

  /** Milliseconds since the state became `what`; 0 for `undefined`. */
  look(what: A | undefined, now: number): number {
    if (what === undefined) this.known = undefined
    else if (this.known?.what !== what) this.known = { what, since: now }
    return this.known === undefined ? 0 : now - this.known.since
  }
}

/** The first missing block on the way to the best header, which the chain cannot pass. */
const nextMissing = (tree: HeaderTree): HeaderId | undefined => {
  const [best, tip] = [tree.best(), tree.tip()]
  if (tree.compareWork(best, tip) <= 0) return undefined
  for (let height = tree.height(tree.forkPoint(best, tip)) + 1; height <= tree.height(best); height++) {
    const id = tree.ancestor(best, height)
    if (!tree.hasBlock(id)) return id
  }
  return undefined
}

const blockText = (tree: HeaderTree, id: HeaderId): string =>
  `block ${displayHash(tree.hash(id))} at height ${tree.height(id)}`

/**
 * Reports missing blocks to the operator, with a remedy. Logs and counts each damaged record once. A missing recent
 * block and a reorg that waits for a block are doubts; lost undo data are only a notice, as answers stay correct. Gives
 * up the branch of a reorg that waits in vain. Registers the blocks for the background check.
 */
const make: Effect.Effect<void, never, Chain | ChainControl | DataHealth | Scope.Scope> = Effect.gen(function*() {
  const chain = yield* Chain
  const control = yield* ChainControl
  const health = yield* DataHealth
  const { tree } = chain
  const { losses } = tree
  const [recent, waiting, left] = [new Held(health.doubt), new Held(health.doubt), new Held(health.doubt)]
  const [givenUp, standstill, undo] = [new Held(health.notice), new Held(health.notice), new Held(health.notice)]
  const waited = new Since<number>()
  const stood = new Since<number>()
  /** A block awaited in vain while the chain cannot stay as it is. */
  let vain: number | undefined
  const changes = yield* Queue.sliding<void>(1)
  yield* Effect.acquireRelease(
    Effect.sync(() => losses.listen(() => void changes.unsafeOffer(undefined))),
    (end) => Effect.sync(end)
  )
  let missed = false

  const waitingReason = (): string | undefined => {
    const { waitsFor } = losses
    if (waitsFor === undefined) return undefined
    const missing = `a reorg has to disconnect ${blockText(tree, waitsFor)}, which is missing`
    return waitsFor === vain
      ? `${missing} and which no peer sends; reverse invalidateblock with reconsiderblock, ${OR_REBUILD}`
      : `${missing}; svcd requests it from peers; ${WITHOUT_PEERS}`
  }

  /** The missing block between the chain and the given-up branch with the most work. */
  const inTheWay = (): string | undefined => {
    const missing = tree.mostWork() === tree.best() ? undefined : losses.inTheWay
    return missing === undefined ? undefined : blockText(tree, missing)
  }

  const branchReason = (block: string): string =>
    `the chain with the most work is on another branch, and the reorg has to disconnect ${block}, which is missing ` +
    "and which no peer has; the node stays on its best complete chain and keeps requesting the block; " +
    OR_REBUILD

  const isLeft = (): boolean => tree.height(tree.mostWork()) - tree.height(tree.tip()) > MOST_BEHIND

  const leftReason = (block: string): string =>
    `the chain with the most work is more than ${MOST_BEHIND} blocks ahead, and the reorg needs ${block}, which is ` +
    "missing; this node answers with the names and coins of a stale chain; " + OR_REBUILD

  const giveUp = Effect.gen(function*() {
    const { refusals, waitsFor } = losses
    if (waitsFor === undefined) vain = undefined
    const now = Number(yield* Clock.currentTimeNanos) / 1e6
    const enough = waited.look(waitsFor, now) >= GIVE_UP.milliseconds || refusals >= GIVE_UP.refusals
    if (waitsFor === undefined || !enough || vain === waitsFor) return
    if (!(yield* control.giveUpBranch)) vain = losses.waitsFor
  }).pipe(
    // The chain reports the same error on `failure`, which ends the node.
    Effect.ignore
  )

  const standstillReason = Effect.gen(function*() {
    const { importing } = yield* chain.progress
    const missing = importing === undefined ? nextMissing(tree) : undefined
    const now = Number(yield* Clock.currentTimeNanos) / 1e6
    if (stood.look(missing, now) < STANDSTILL_MS || missing === undefined) return undefined
    const [tip, block] = [tree.height(tree.tip()), blockText(tree, missing)]
    return `the chain is stuck at height ${tip}: ${block} is missing, and no peer has sent it for ten minutes; ` +
      "connect to a peer that has it (-addpeer), or start with -loadblock and a file that has it"
  })

  const look = Effect.gen(function*() {
    for (const { family, height, reason } of losses.takeUntold()) {
      yield* health.damaged(WHAT)
      const what = family === "blk" ? "a stored block is damaged" : "the undo data of a block are damaged"
      yield* Effect.logError(what, { height, reason })
    }
    yield* giveUp
    const block = inTheWay()
    yield* givenUp.become(block === undefined ? undefined : branchReason(block))
    yield* left.become(block !== undefined && isLeft() ? leftReason(block) : undefined)
    yield* standstill.become(yield* standstillReason)
    yield* recent.become(
      losses.recentAwaited
        ? `some of the last ${RECENT_BLOCKS} blocks are missing; svcd requests them from peers; ${WITHOUT_PEERS}`
        : undefined
    )
    yield* waiting.become(waitingReason())
    yield* undo.become(
      losses.recentUndo
        ? `undo data of some of the last ${RECENT_BLOCKS} blocks are lost; the coins that these blocks spent cannot ` +
          "be shown, and a reorg that disconnects one of them first rebuilds the chain state from the stored blocks; " +
          "to rebuild it at a better time, stop the node, delete the folder chainstate and start again"
        : undefined
    )
    const { any } = losses
    if (any === missed) return
    missed = any
    if (any && !losses.anyLost) {
      yield* Effect.logInfo("blocks below the base of the snapshot are missing: requested from peers", {
        blocks: losses.count
      })
      return
    }
    yield* any
      ? Effect.logError(`blocks of the best chain are missing: requested from peers, ${WITHOUT_PEERS}`, {
        blocks: losses.count
      })
      : Effect.logInfo("the best chain is complete again")
  })

  yield* look
  // Also runs without changes, as the tip moves and waiting times end.
  const next = Effect.timeoutOption(Queue.take(changes), "1 minute")
  yield* Effect.forkScoped(Effect.forever(Effect.zipRight(next, look)))
  const part: Checkable = {
    what: WHAT,
    unit: "blocks",
    total: Effect.sync(() => tree.count()),
    check: (from) => control.checkStored(headerId(from), STEP)
  }
  yield* health.register(part)
}).pipe(Effect.annotateLogs("subsystem", "storage"))

export const layer: Layer.Layer<never, never, Chain | ChainControl | DataHealth> = Layer.scopedDiscard(make)
