import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type { ConnectedBlock, Cursor, Follower } from "../chain/Follower.ts"
import type { NameEffect } from "../consensus/view.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { batchOf } from "./nameChanges.ts"
import { NameEvent } from "./NameEvent.ts"
import type { NameRecord } from "./NameRecord.ts"
import type { NamesFile } from "./NamesFile.ts"
import { applyBatch, readCursor, rewindTo } from "./NameStore.ts"
import type { RecordCache } from "./RecordCache.ts"

/** What an operation makes of its name. Copies: an effect's bytes are views of a whole block. */
const recordOfEffect = ({ address, height, name, operation, transaction, value, vout }: NameEffect): NameRecord => ({
  name: name.slice(),
  value: operation.value.slice(),
  height,
  txid: transaction.txid,
  vout,
  address: address.slice(),
  op: operation.op,
  amount: value
})

export interface NameFollowerParts {
  readonly file: NamesFile
  readonly cursor: Follower["cursor"]
  /** Holds records of the file. */
  readonly cache: RecordCache<unknown>
  /** Where to tell what was committed. */
  readonly events: PubSub.PubSub<NameEvent>
}

/** What keeps names.db up with the chain: one transaction a batch or rewind, told once it is committed. */
export const makeFollower = ({ cache, cursor, events, file }: NameFollowerParts): Follower => {
  /** Changes the file while the cache gives no answer that the commit will make wrong. */
  const changing = (
    touched: Iterable<string> | "all",
    write: Effect.Effect<void, StorageFailure>
  ): Effect.Effect<void, StorageFailure> =>
    Effect.acquireUseRelease(
      Effect.sync(() => cache.freeze(touched)),
      () => write,
      () => Effect.sync(() => cache.thaw())
    )

  const apply = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
    Effect.suspend(() => {
      const first = blocks[0]
      const last = blocks[blocks.length - 1]
      if (first === undefined || last === undefined) return Effect.void
      const batch = batchOf(blocks)
      const write = file.write((connection) =>
        Effect.flatMap(readCursor(connection), (at) => {
          const expected = (at?.height ?? -1) + 1
          return first.height === expected
            ? applyBatch(connection, batch, last)
            : Effect.dieMessage(`names.db was given block ${first.height}, and needs block ${expected}`)
        })
      )
      const happened = batch.operations.map(({ effect }) => NameEvent.Updated({ record: recordOfEffect(effect) }))
      return Effect.zipRight(changing(batch.latest.keys(), write), PubSub.publishAll(events, happened))
    }).pipe(Effect.asVoid, Effect.withSpan("NameDb.apply"))

  const rewind = (to: Cursor): Effect.Effect<void, StorageFailure> => {
    const write = file.write((connection) =>
      Effect.flatMap(readCursor(connection), (at) =>
        at !== undefined && to.height <= at.height
          ? rewindTo(connection, to)
          : Effect.dieMessage(`names.db was to go back to block ${to.height}, and stands at block ${at?.height}`))
    )
    return Effect.zipRight(changing("all", write), PubSub.publish(events, NameEvent.Rewound({ to }))).pipe(
      Effect.asVoid,
      Effect.withSpan("NameDb.rewind")
    )
  }

  return { name: "names.db", cursor, apply, rewind }
}
