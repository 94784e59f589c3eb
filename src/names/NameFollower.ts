import * as Effect from "effect/Effect"
import { isStorageFailure } from "../chain/attempt.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "../chain/write/Follower.ts"
import type { NameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Repair } from "../storage/repair.ts"
import type { CommitSignal, Touched } from "./CommitSignal.ts"
import { HeldBlocks } from "./HeldBlocks.ts"
import { batchOf, type NameBatch, SettingNumbers } from "./nameChanges.ts"
import { WrongRow } from "./NameEntry.ts"
import type { NamesFile } from "./NamesFile.ts"
import { addNames, applyBatch, beginAt, readBeginning, readCursor, readTrail, rewindTo } from "./NameStore.ts"
import type { RecordCache } from "./RecordCache.ts"
import type { SearchBuilder } from "./search/SearchBuilder.ts"
import { keepUp } from "./search/SearchWriter.ts"

export interface NameFollowerParts {
  readonly file: NamesFile
  readonly cursor: Follower["cursor"]
  /** Caches of the file: records by name, and the last block, which changes with each write. */
  readonly records: Pick<RecordCache<unknown, NameKey>, "freeze" | "thaw">
  readonly position: Pick<RecordCache<unknown>, "freeze" | "thaw">
  readonly commits: CommitSignal
  /** Notified of each write. */
  readonly search: SearchBuilder
}

/** Logs at level debug with its own subsystem, as the follower runs in the chain's fibers. */
const said = (message: string, facts: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logDebug(message, facts), "subsystem", "names")

/**
 * Applies blocks to names.db, one transaction per batch or rewind, and wakes the readers of `commits`. While many
 * blocks arrive, a batch has the operations of thousands.
 */
export const makeNameFollower = (
  { commits, cursor, file, position, records, search }: NameFollowerParts
): Follower => {
  /** Changes the file with frozen caches, so that no cached answer is wrong after the commit. */
  const changing = (
    touched: Touched,
    write: Effect.Effect<void, StorageFailure>
  ): Effect.Effect<void, StorageFailure> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        records.freeze(touched === "all" ? touched : touched.keys())
        position.freeze("all")
      }),
      () => write,
      () =>
        Effect.sync(() => {
          records.thaw()
          position.thaw()
          commits.tell(touched)
        })
    )

  const held = new HeldBlocks()

  const store = (batch: NameBatch, blocks: ReadonlyArray<Cursor>): Effect.Effect<void, StorageFailure> => {
    const [first, ...others] = blocks
    if (first === undefined) return Effect.void
    const last = others[others.length - 1] ?? first
    const write = file.write((connection) =>
      Effect.flatMap(readCursor(connection), (at) => {
        const expected = (at?.height ?? -1) + 1
        return first.height === expected
          ? Effect.zipRight(applyBatch(connection, batch, [first, ...others]), keepUp(connection, blocks.length))
          : Effect.dieMessage(`names.db: block ${first.height} is out of order, block ${expected} is expected`)
      }), batch.operations.length)
    return changing(batch.latest, Effect.map(write, (complete) => search.changed(blocks.length, complete))).pipe(
      Effect.zipRight(said("names stored", { height: last.height, operations: batch.operations.length }))
    )
  }

  const settle = Effect.suspend(() =>
    held.blocks.length === 0
      ? Effect.void
      : store(held.batch, held.blocks).pipe(
        Effect.zipRight(Effect.sync(() => held.clear())),
        Effect.uninterruptible,
        Effect.withSpan("svcd.names.settle", { attributes: applied(held.blocks) })
      )
  )

  const apply = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
    Effect.zipRight(settle, Effect.suspend(() => store(batchOf(blocks), blocks))).pipe(
      Effect.withSpan("svcd.names.apply", { attributes: applied(blocks) })
    )

  const hold = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
    Effect.suspend(() => {
      held.add(blocks)
      return held.isFull ? settle : Effect.void
    })

  /** Names that began with a snapshot cannot go back below it, as their earlier state is only in the blocks. */
  const aboveBeginning = (to: Cursor): Effect.Effect<void, StorageFailure> =>
    Effect.flatMap(
      file.snapshot(readBeginning),
      (beginning) =>
        beginning === undefined || to.height >= beginning ? Effect.void : file.failed(
          new WrongRow(`the names begin at height ${beginning}, and the chain goes back to height ${to.height}`)
        )
    )

  const rewind = (to: Cursor): Effect.Effect<void, StorageFailure> => {
    const write = file.write((connection) =>
      Effect.flatMap(readCursor(connection), (at) =>
        at !== undefined && to.height <= at.height
          ? rewindTo(connection, to)
          : Effect.dieMessage(`names.db: cannot rewind to block ${to.height}, the last block is ${at?.height}`))
    )
    return Effect.zipRight(settle, aboveBeginning(to)).pipe(
      Effect.zipRight(changing("all", write)),
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
        // A failing read of the chain state must not look like a fault of this file.
        Effect.catchIf(isStorageFailure, Effect.die)
      )
    )
    return Effect.suspend(() => {
      held.clear()
      return changing("all", Effect.map(write, () => search.changed(Infinity, false)))
    }).pipe(
      Effect.zipRight(Effect.logInfo("names begin at the base of the snapshot", { height: at.height })),
      Effect.as(true),
      Effect.withSpan("svcd.names.adopt", { attributes: { height: at.height } })
    )
  }

  const repair: Repair = {
    ...file.repair,
    // The cached records are correct, but not in the file until the rebuild is complete.
    begin: Effect.suspend(() => {
      held.clear()
      return changing("all", file.repair.begin)
    })
  }
  return {
    name: "names.db",
    cursor,
    trail: file.snapshot(readTrail),
    apply,
    rewind,
    bulk: { hold, settle },
    adopt,
    repair
  }
}
