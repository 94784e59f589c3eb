import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { displayHash } from "../../protocol/bytes.ts"
import { type Checkable, DataHealth, type Doubt } from "../../storage/DataHealth.ts"
import { Chain } from "../Chain.ts"
import type { HeaderTree } from "../index/HeaderTree.ts"
import { RECENT_BLOCKS } from "./BlockLosses.ts"

/** What the operator knows the block and undo files by. */
const WHAT = "blocks"

/** Work of one step of the background check. */
const STEP = { milliseconds: 10, bytes: 1024 * 1024 }

const WITHOUT_PEERS = "without peers start with -loadblock and a file that has them"

const OR_REBUILD =
  "start with -loadblock and a file that has it, or stop the node, delete the folder chainstate and start " +
  "again: chain state damaged: rebuilding it from the stored blocks, which takes as long as an import"

/** How long a reorganisation waits for a missing block, in milliseconds, and how many peers may say that they lack it. */
export const GIVE_UP = { milliseconds: 600_000, refusals: 8 }

/** Milliseconds after which the operator hears of a block that does not come. */
const STANDSTILL_MS = 600_000

/** Blocks that a branch which was given up may be ahead by: further, the answers of this node are those of a left chain. */
const MOST_BEHIND = 6

type Note = (doubt: Doubt) => Effect.Effect<Effect.Effect<void>>

/** A doubt or a notice that stands as long as there is a reason for it. */
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

/** How long a state has lasted: some are reported only after a while. */
class Since<A> {
  private known: { readonly what: A; readonly since: number } | undefined

  /** Milliseconds for which it has been this; 0 for `undefined`. */
  look(what: A | undefined, now: number): number {
    if (what === undefined) this.known = undefined
    else if (this.known?.what !== what) this.known = { what, since: now }
    return this.known === undefined ? 0 : now - this.known.since
  }
}

/** The first block on the way to the best header that is not stored, so that the chain goes no further. */
const nextMissing = (tree: HeaderTree): number | undefined => {
  const [best, tip] = [tree.best(), tree.tip()]
  if (tree.compareWork(best, tip) <= 0) return undefined
  for (let height = tree.height(tree.forkPoint(best, tip)) + 1; height <= tree.height(best); height++) {
    const id = tree.ancestor(best, height)
    if (!tree.hasBlock(id)) return id
  }
  return undefined
}

const blockText = (tree: HeaderTree, id: number): string =>
  `block ${displayHash(tree.hash(id))} at height ${tree.height(id)}`

/**
 * Tells the operator of blocks that are missing: each damaged record once in the log and in the metric; a doubt while one
 * of the last blocks is missing, or a reorganisation waits for a block. Lost undo data are no doubt: no answer is wrong
 * without them. Gives up the branch of a reorganisation that waits in vain, and says what would help. Hands the blocks to
 * the background check.
 */
const make: Effect.Effect<void, never, Chain | DataHealth | Scope.Scope> = Effect.gen(function*() {
  const chain = yield* Chain
  const health = yield* DataHealth
  const { tree } = chain
  const { losses } = tree
  const [recent, waiting, left] = [new Held(health.doubt), new Held(health.doubt), new Held(health.doubt)]
  const [givenUp, standstill, undo] = [new Held(health.notice), new Held(health.notice), new Held(health.notice)]
  const waited = new Since<number>()
  const stood = new Since<number>()
  /** A block that was waited for in vain, where the chain may not stay as it is. */
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
    const missing = `a reorganisation has to take back ${blockText(tree, waitsFor)}, which is missing`
    return waitsFor === vain
      ? `${missing}, and no peer gives it: take invalidateblock back with reconsiderblock, ${OR_REBUILD}`
      : `${missing}; it is asked for from peers, ${WITHOUT_PEERS}`
  }

  /** What keeps the chain from the branch with the most work, where that was given up. */
  const inTheWay = (): string | undefined => {
    const missing = tree.mostWork() === tree.best() ? undefined : losses.inTheWay
    return missing === undefined ? undefined : blockText(tree, missing)
  }

  const branchReason = (block: string): string =>
    `the chain with the most work is on another branch, and the way there leads back over ${block}, which is missing and ` +
    "which no peer gives: the node stays on the best chain that it has whole, and goes on asking; " + OR_REBUILD

  const isLeft = (): boolean => tree.height(tree.mostWork()) - tree.height(tree.tip()) > MOST_BEHIND

  const leftReason = (block: string): string =>
    `the chain with the most work is more than ${MOST_BEHIND} blocks ahead, and ${block}, which is in the way, is missing: ` +
    "the names and coins of this node are those of a chain that was left; " + OR_REBUILD

  /** Gives up what was waited for long enough. */
  const giveUp = Effect.gen(function*() {
    const { refusals, waitsFor } = losses
    if (waitsFor === undefined) vain = undefined
    const now = Number(yield* Clock.currentTimeNanos) / 1e6
    const enough = waited.look(waitsFor, now) >= GIVE_UP.milliseconds || refusals >= GIVE_UP.refusals
    if (waitsFor === undefined || !enough || vain === waitsFor) return
    if (!(yield* chain.giveUpBranch)) vain = losses.waitsFor
  }).pipe(
    // The chain says the same on `failure`, which ends the node.
    Effect.ignore
  )

  const standstillReason = Effect.gen(function*() {
    const { importing } = yield* chain.progress
    const missing = importing === undefined ? nextMissing(tree) : undefined
    const now = Number(yield* Clock.currentTimeNanos) / 1e6
    if (stood.look(missing, now) < STANDSTILL_MS || missing === undefined) return undefined
    const [tip, block] = [tree.height(tree.tip()), blockText(tree, missing)]
    return `the chain stands at height ${tip}: ${block} is missing, and no peer has given it for ten minutes; connect to a ` +
      "peer that has it (-addpeer), or start with -loadblock and a file that has it"
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
        ? `some of the last ${RECENT_BLOCKS} blocks are missing; they are asked for from peers, ${WITHOUT_PEERS}`
        : undefined
    )
    yield* waiting.become(waitingReason())
    yield* undo.become(
      losses.recentUndo
        ? `undo data of some of the last ${RECENT_BLOCKS} blocks are lost: what these blocks spent cannot be shown, and a ` +
          "reorganisation over one of them makes the chain state anew from the stored blocks first; delete the folder " +
          "chainstate before a start to have that done when it suits"
        : undefined
    )
    const { any } = losses
    if (any === missed) return
    missed = any
    yield* any
      ? Effect.logError(`blocks of the best chain are missing: requested from peers, ${WITHOUT_PEERS}`, {
        blocks: losses.count
      })
      : Effect.logInfo("no block of the best chain is missing any more")
  })

  yield* look
  // The tip moves, and with it which blocks are the last ones; and time passes for what waits.
  const next = Effect.timeoutOption(Queue.take(changes), "1 minute")
  yield* Effect.forkScoped(Effect.forever(Effect.zipRight(next, look)))
  const part: Checkable = {
    what: WHAT,
    unit: "blocks",
    total: Effect.sync(() => tree.count()),
    check: (from) => chain.checkStored(from, STEP)
  }
  yield* health.register(part)
}).pipe(Effect.annotateLogs("subsystem", "storage"))

export const layer: Layer.Layer<never, never, Chain | DataHealth> = Layer.scopedDiscard(make)
