import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { type Checkable, DataHealth, type Doubt } from "../storage/DataHealth.ts"
import { RECENT_BLOCKS } from "./BlockLosses.ts"
import { Chain } from "./Chain.ts"

/** What the operator knows the block and undo files by. */
const WHAT = "blocks"

/** Work of one step of the background check. */
const STEP = { milliseconds: 10, bytes: 1024 * 1024 }

const WITHOUT_PEERS = "without peers start with -loadblock and a file that has them"

/** A doubt that is held for as long as something is so. */
class Held {
  private readonly doubt: Doubt
  private release: Effect.Effect<void> | undefined

  constructor(reason: string) {
    this.doubt = { what: WHAT, reason }
  }

  become(health: typeof DataHealth.Service, holds: boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { release } = this
      if (holds === (release !== undefined)) return Effect.void
      if (release !== undefined) {
        this.release = undefined
        return release
      }
      return Effect.map(health.doubt(this.doubt), (end) => void (this.release = end))
    })
  }
}

/**
 * Tells the operator of blocks that are missing: each damaged record once in the log and in the metric; a doubt while one
 * of the last blocks or its undo data are missing, or a reorganisation waits for a block. Hands the blocks to the background check.
 */
const make: Effect.Effect<void, never, Chain | DataHealth | Scope.Scope> = Effect.gen(function*() {
  const chain = yield* Chain
  const health = yield* DataHealth
  const { tree } = chain
  const { losses } = tree
  const recent = new Held(
    `some of the last ${RECENT_BLOCKS} blocks are missing; they are asked for from peers, ${WITHOUT_PEERS}`
  )
  const waiting = new Held(
    `a reorganisation waits for a block of the best chain that is missing; it is asked for from peers, ${WITHOUT_PEERS}`
  )
  const undo = new Held(
    `undo data of some of the last ${RECENT_BLOCKS} blocks are lost: what these blocks spent cannot be shown, nor can they ` +
      "be taken back; stop the node, delete the folder chainstate and start again: it is made anew from the stored blocks"
  )
  const changes = yield* Queue.sliding<void>(1)
  yield* Effect.acquireRelease(
    Effect.sync(() => losses.listen(() => void changes.unsafeOffer(undefined))),
    (end) => Effect.sync(end)
  )
  let missed = false

  const look = Effect.gen(function*() {
    for (const { family, height, reason } of losses.takeUntold()) {
      yield* health.damaged(WHAT)
      const what = family === "blk" ? "a stored block is damaged" : "the undo data of a block are damaged"
      yield* Effect.logError(what, { height, reason })
    }
    yield* recent.become(health, losses.recent)
    yield* waiting.become(health, losses.waitsFor !== undefined)
    yield* undo.become(health, losses.recentUndo)
    const { any } = losses
    if (any === missed) return
    missed = any
    yield* any
      ? Effect.logError(`blocks of the best chain are missing: they are asked for from peers, ${WITHOUT_PEERS}`, {
        blocks: losses.count
      })
      : Effect.logInfo("no block of the best chain is missing any more")
  })

  yield* look
  yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Queue.take(changes), look)))
  // The tip moves, and with it which blocks are the last ones.
  yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep("1 minute"), look)))
  const part: Checkable = {
    what: WHAT,
    unit: "blocks",
    total: Effect.sync(() => tree.count()),
    check: (from) => chain.checkStored(from, STEP)
  }
  yield* health.register(part)
}).pipe(Effect.annotateLogs("subsystem", "storage"))

export const layer: Layer.Layer<never, never, Chain | DataHealth> = Layer.scopedDiscard(make)
