import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import { isStorageFailure } from "../chain/attempt.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "../chain/write/Follower.ts"
import type { NameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Repair } from "../storage/repair.ts"
import { batchOf, SettingNumbers, type StoredEffect } from "./nameChanges.ts"
import type { NameEntry } from "./NameEntry.ts"
import { NameEvent } from "./NameEvent.ts"
import type { NamesFile } from "./NamesFile.ts"
import { addNames, applyBatch, beginAt, readCursor, readTrail, rewindTo } from "./NameStore.ts"
import type { RecordCache } from "./RecordCache.ts"

/** Converts an effect to a record. Copies the bytes: those of an effect are views of a whole block. */
const recordOfEffect = ({ address, height, name, operation, transaction, value, vout }: StoredEffect): NameEntry => ({
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
  /** Caches of the file: records by name, and the last block, which changes with each write. */
  readonly records: RecordCache<unknown, NameKey>
  readonly position: RecordCache<unknown>
  /** Receives the committed changes; keeps the last `backlog` events for a slow listener. */
  readonly events: PubSub.PubSub<NameEvent>
  readonly backlog: number
}

/** Logs at level debug with its own subsystem: the follower runs in the chain's fibers, which have another one. */
const said = (message: string, facts: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logDebug(message, facts), "subsystem", "names")

/** Applies blocks to names.db, one transaction per batch or rewind, and publishes the events after the commit. */
export const makeNameFollower = ({ backlog, cursor, events, file, position, records }: NameFollowerParts): Follower => {
  /** Changes the file with the caches frozen: no cached answer is wrong after the commit. */
  const changing = (
    touched: Iterable<NameKey> | "all",
    write: Effect.Effect<void, StorageFailure>
  ): Effect.Effect<void, StorageFailure> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        records.freeze(touched)
        position.freeze("all")
      }),
      () => write,
      () =>
        Effect.sync(() => {
          records.thaw()
          position.thaw()
        })
    )

  /** Listeners have received the events up to this height. A rebuild of the file does not send them again. */
  let told = -1
  const news = (events: ReadonlyArray<NameEvent>, upTo: number): ReadonlyArray<NameEvent> => {
    const fresh = events.filter((event) =>
      event._tag === "Rewound" ? event.to.height < told : event.record.height > told
    )
    told = upTo
    return fresh
  }

  const apply = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
    Effect.suspend(() => {
      const [first, ...others] = blocks
      if (first === undefined) return Effect.void
      const last = others[others.length - 1] ?? first
      const batch = batchOf(blocks)
      const write = file.write((connection) =>
        Effect.flatMap(readCursor(connection), (at) => {
          const expected = (at?.height ?? -1) + 1
          return first.height === expected
            ? applyBatch(connection, batch, [first, ...others])
            : Effect.dieMessage(`names.db: block ${first.height} is out of order, block ${expected} is expected`)
        })
      )
      // Events beyond the backlog are not created: one block can change many more names than a listener can receive.
      const heard = batch.operations.slice(-backlog)
      const happened = heard.map(({ effect }) => NameEvent.Updated({ record: recordOfEffect(effect) }))
      return changing(batch.latest.keys(), write).pipe(
        Effect.zipRight(Effect.suspend(() => PubSub.publishAll(events, news(happened, Math.max(told, last.height))))),
        Effect.zipRight(said("names stored", { height: last.height, operations: batch.operations.length }))
      )
    }).pipe(Effect.withSpan("svcd.names.apply", { attributes: applied(blocks) }))

  const rewind = (to: Cursor): Effect.Effect<void, StorageFailure> => {
    const write = file.write((connection) =>
      Effect.flatMap(readCursor(connection), (at) =>
        at !== undefined && to.height <= at.height
          ? rewindTo(connection, to)
          : Effect.dieMessage(`names.db: cannot rewind to block ${to.height}, the last block is ${at?.height}`))
    )
    const happened = Effect.suspend(() =>
      PubSub.publishAll(events, news([NameEvent.Rewound({ to })], Math.min(told, to.height)))
    )
    return Effect.zipRight(changing("all", write), happened).pipe(
      Effect.zipRight(said("names rolled back", { height: to.height })),
      Effect.withSpan("svcd.names.rewind", { attributes: { height: to.height } })
    )
  }

  const adopt: NonNullable<Follower["adopt"]> = ({ at, visitNames }) => {
    const numbers = new SettingNumbers()
    const write = file.write((connection) =>
      beginAt(connection, at).pipe(
        Effect.zipRight(
          visitNames((names) => addNames(connection, names.flatMap((held) => numbers.operationOf(held))))
        ),
        // A read of the chain state that fails must not look like a fault of this file.
        Effect.catchIf(isStorageFailure, Effect.die)
      )
    )
    return changing("all", write).pipe(
      Effect.zipRight(Effect.sync(() => void (told = Math.max(told, at.height)))),
      Effect.zipRight(Effect.logInfo("names begin at the base of the snapshot", { height: at.height })),
      Effect.as(true),
      Effect.withSpan("svcd.names.adopt", { attributes: { height: at.height } })
    )
  }

  const repair: Repair = {
    ...file.repair,
    // The cached records are correct, but not in the file until the rebuild is complete.
    begin: changing("all", file.repair.begin)
  }
  return {
    name: "names.db",
    cursor: Effect.tap(cursor, (at) => Effect.sync(() => void (told = Math.max(told, at?.height ?? -1)))),
    trail: file.snapshot(readTrail),
    apply,
    rewind,
    adopt,
    repair
  }
}
