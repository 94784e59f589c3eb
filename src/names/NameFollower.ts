import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type { ConnectedBlock, Cursor, Follower } from "../chain/write/Follower.ts"
import type { NameEffect } from "../consensus/view.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Repair } from "../storage/repair.ts"
import { batchOf } from "./nameChanges.ts"
import { NameEvent } from "./NameEvent.ts"
import type { NameRecord } from "./NameRecord.ts"
import type { NamesFile } from "./NamesFile.ts"
import { applyBatch, readCursor, readTrail, rewindTo } from "./NameStore.ts"
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
  /** Hold parts of the file, by name; the last block changes with each write. */
  readonly records: RecordCache<unknown>
  readonly position: RecordCache<unknown>
  /** Where to tell what was committed; keeps the last `backlog` events for a slow listener. */
  readonly events: PubSub.PubSub<NameEvent>
  readonly backlog: number
}

/** A debug entry. The follower runs in the chain's fibers, which have their own subsystem. */
const said = (message: string, facts: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logDebug(message, facts), "subsystem", "names")

/** What keeps names.db up with the chain: one transaction a batch or rewind, told once it is committed. */
export const makeFollower = ({ backlog, cursor, events, file, position, records }: NameFollowerParts): Follower => {
  /** Changes the file while the caches give no answer that the commit will make wrong. */
  const changing = (
    touched: Iterable<string> | "all",
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

  /** The height up to which listeners have heard of all, so that they do not hear it again when the file is made anew. */
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
            : Effect.dieMessage(`names.db was given block ${first.height}, and needs block ${expected}`)
        })
      )
      // What a listener would miss anyway is not made: a block can change many times more names than it can hear of.
      const heard = batch.operations.slice(-backlog)
      const happened = heard.map(({ effect }) => NameEvent.Updated({ record: recordOfEffect(effect) }))
      return changing(batch.latest.keys(), write).pipe(
        Effect.zipRight(Effect.suspend(() => PubSub.publishAll(events, news(happened, Math.max(told, last.height))))),
        Effect.zipRight(said("names stored", { height: last.height, operations: batch.operations.length }))
      )
    }).pipe(Effect.withSpan("NameDb.apply"))

  const rewind = (to: Cursor): Effect.Effect<void, StorageFailure> => {
    const write = file.write((connection) =>
      Effect.flatMap(readCursor(connection), (at) =>
        at !== undefined && to.height <= at.height
          ? rewindTo(connection, to)
          : Effect.dieMessage(`names.db was to go back to block ${to.height}, and stands at block ${at?.height}`))
    )
    const happened = Effect.suspend(() =>
      PubSub.publishAll(events, news([NameEvent.Rewound({ to })], Math.min(told, to.height)))
    )
    return Effect.zipRight(changing("all", write), happened).pipe(
      Effect.zipRight(said("names taken back", { height: to.height })),
      Effect.withSpan("NameDb.rewind")
    )
  }

  const repair: Repair = {
    ...file.repair,
    // What the caches hold was right, and is not in the file for a while.
    begin: changing("all", file.repair.begin)
  }
  return {
    name: "names.db",
    cursor: Effect.tap(cursor, (at) => Effect.sync(() => void (told = Math.max(told, at?.height ?? -1)))),
    trail: file.snapshot(readTrail),
    apply,
    rewind,
    repair
  }
}
