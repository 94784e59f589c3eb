import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { ChainSink, Delivery } from "../../chain/ChainSink.ts"
import type { HeaderTree } from "../../chain/index/HeaderTree.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { FiberTime } from "../peer/FiberTime.ts"
import type { BlockOrder, ReceivedBlock } from "./BlockOrder.ts"

/** From this many missing blocks on, blocks are stored in bulk. */
const BULK = 16

/** Milliseconds without blocks until an unfinished bulk download is stored and followers are notified. */
const PAUSE = 300

/** Milliseconds. */
const RECOVERY = 1_000

export interface Written {
  readonly batch: ReadonlyArray<ReceivedBlock>
  readonly delivery: Delivery
  readonly settled: boolean
  readonly milliseconds: number
}

export interface BlockWriterOptions {
  readonly sink: { readonly [K in "deliver"]: (typeof ChainSink.Service)[K] }
  readonly tree: Pick<HeaderTree, "best" | "height" | "tip">
  readonly blockOrder: BlockOrder
  readonly wakeUps: Queue.Dequeue<void>
  readonly time: Pick<FiberTime, "ran">
  readonly report: (written: Written) => Effect.Effect<void>
  /** Gets blocks that a defect kept from being stored or reported. */
  readonly lost: (batch: ReadonlyArray<ReceivedBlock>) => Effect.Effect<void>
}

/** Fails if the chain cannot be stored, which its owner learns too. A defect loses only the batch. */
export const writeBlocks = (options: BlockWriterOptions): Effect.Effect<never, StorageFailure> => {
  const { blockOrder, lost, report, sink, time, tree, wakeUps } = options
  const behind = (): number => tree.height(tree.best()) - tree.height(tree.tip())
  let unsettled = false

  const deliver = (batch: ReadonlyArray<ReceivedBlock>, bulk: boolean): Effect.Effect<void, StorageFailure> => {
    const started = time.ran
    return Effect.flatMap(sink.deliver(batch.map(({ block }) => block), bulk), (delivery) => {
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
