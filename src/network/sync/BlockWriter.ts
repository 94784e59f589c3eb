import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { Chain, Delivery } from "../../chain/Chain.ts"
import type { HeaderTree } from "../../chain/index/HeaderTree.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { FiberTime } from "../peer/FiberTime.ts"
import type { BlockOrder, Received } from "./BlockOrder.ts"

/** Blocks that are known to be missing from which on they are stored in bulk. */
const BULK = 16

/** Milliseconds without blocks after which a bulk download that has not ended is stored, and told of, as far as it got. */
const PAUSE = 300

/** Milliseconds before the next try after a defect. */
const RECOVERY = 1_000

/** What came of blocks that were handed to the chain. */
export interface Written {
  readonly batch: ReadonlyArray<Received>
  readonly delivery: Delivery
  /** Whether everything is stored, and followers have heard of it. */
  readonly settled: boolean
  /** What it took of this thread, as measured. */
  readonly milliseconds: number
}

export interface BlockWriterOptions {
  readonly chain: { readonly [K in "deliver"]: (typeof Chain.Service)[K] }
  readonly tree: Pick<HeaderTree, "best" | "height" | "tip">
  readonly blockOrder: BlockOrder
  /** Gets an element when there may be blocks to take. */
  readonly wakeUps: Queue.Dequeue<void>
  /** Measures the fiber that runs this. */
  readonly time: Pick<FiberTime, "ran">
  readonly report: (written: Written) => Effect.Effect<void>
  /** Is told of blocks that a defect kept from being stored, or told of. */
  readonly lost: (batch: ReadonlyArray<Received>) => Effect.Effect<void>
}

/**
 * The one fiber that hands blocks to the chain: as many as there are at once, so that a block costs no more than its
 * checks. Fails where the chain cannot be stored; the chain says so to whoever runs the node. A defect costs the blocks
 * that it met.
 */
export const writeBlocks = (options: BlockWriterOptions): Effect.Effect<never, StorageFailure> => {
  const { chain, blockOrder, lost, report, time, tree, wakeUps } = options
  const behind = (): number => tree.height(tree.best()) - tree.height(tree.tip())
  let unsettled = false

  const deliver = (batch: ReadonlyArray<Received>, bulk: boolean): Effect.Effect<void, StorageFailure> => {
    const started = time.ran
    return Effect.flatMap(chain.deliver(batch.map(({ block }) => block), bulk), (delivery) => {
      unsettled = bulk
      return report({ batch, delivery, settled: !bulk, milliseconds: time.ran - started })
    }).pipe(Effect.catchAllCause((cause) => {
      if (!Cause.isDie(cause)) return Effect.failCause(cause)
      return Effect.logError("block writer failed unexpectedly", cause).pipe(
        Effect.zipRight(lost(batch)),
        Effect.zipRight(Effect.sleep(RECOVERY))
      )
    }))
  }

  const wait = Effect.suspend(() => {
    if (!unsettled) return Queue.take(wakeUps)
    if (behind() <= 0) return deliver([], false)
    return Queue.take(wakeUps).pipe(
      Effect.timeoutTo({ duration: PAUSE, onSuccess: () => Effect.void, onTimeout: () => deliver([], false) }),
      Effect.flatten
    )
  })

  return Effect.forever(Effect.suspend(() => {
    const batch = blockOrder.take()
    return batch.length === 0 ? wait : deliver(batch, behind() > BULK)
  }))
}
