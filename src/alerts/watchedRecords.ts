import * as Effect from "effect/Effect"
import type { NameDb } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { byExpiry, type ExpiringRecord } from "./expiring.ts"
import type { WatchList } from "./WatchList.ts"

/** A watched name, and its record if ever registered. */
interface WatchedRecord {
  readonly name: Bytes
  readonly record: ExpiringRecord | undefined
}

export interface WatchedParts {
  readonly names: typeof NameDb.Service
  readonly watch: typeof WatchList.Service
  readonly commits: Effect.Effect.Success<(typeof NameDb.Service)["commits"]>
}

/** The record of a name; `undefined` if it was never registered. Mostly cached after the first time. */
export const expiringRecordOf = (
  names: typeof NameDb.Service,
  name: Bytes
): Effect.Effect<ExpiringRecord | undefined, StorageFailure> =>
  Effect.suspend(() => {
    const known = names.atOnce(nameKey(name))
    return known === undefined
      ? Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))
      : Effect.succeed(known.record)
  })

/** The records of the watched names, the first to expire first. After a block, only changed ones are read. */
export const makeWatchedRecords = (
  { commits, names, watch }: WatchedParts
): Effect.Effect<ReadonlyArray<ExpiringRecord>, StorageFailure> => {
  let watched: {
    readonly count: number
    readonly version: number
    readonly found: ReadonlyMap<NameKey, WatchedRecord>
    /** The first to expire first. */
    readonly records: ReadonlyArray<ExpiringRecord>
  } | undefined

  return Effect.gen(function*() {
    const before = watched
    const { count } = commits
    const version = watch.version()
    if (before?.count === count && before.version === version) return before.records
    const touched = before === undefined ? "all" : commits.touchedBehind(before.count)
    const isKnown = (key: NameKey): boolean => before?.found.has(key) === true && touched !== "all" && !touched.has(key)
    const wanted = before?.version === version && touched !== "all"
      ? [...touched].flatMap((key) => before.found.get(key) ?? [])
      : watch.names().filter(({ name }) => !isKnown(nameKey(name)))
    const fresh: Array<WatchedRecord> = []
    for (const { name } of wanted) fresh.push({ name, record: yield* expiringRecordOf(names, name) })
    const found = before?.version === version
      ? new Map(before.found)
      : new Map(
        watch.names().flatMap(({ name }) => {
          const known = before?.found.get(nameKey(name))
          return known === undefined ? [] : [[nameKey(name), known] as const]
        })
      )
    for (const each of fresh) found.set(nameKey(each.name), each)
    const kept = new Set([...found.values()].map(({ record }) => record))
    // A record read again may be the same object.
    for (const { record } of fresh) kept.delete(record)
    const records = fresh.length === 0 && before?.version === version
      ? before.records
      // Sorted except for the fresh ones, so sorting takes little.
      : [
        ...(before?.records ?? []).filter((record) => kept.has(record)),
        ...fresh.flatMap(({ record }) => record ?? [])
      ].sort(byExpiry)
    watched = { count, version, found, records }
    return records
  })
}
