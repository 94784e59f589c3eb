import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MAX_WATCHED } from "../config/alertSettings.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { CommitSignal } from "../names/CommitSignal.ts"
import { type Bytes, compare, fromHex, toHex } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import * as DataHealth from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { WatchRefused } from "./errors.ts"
import { readJsonFile, writeJsonFile } from "./jsonFile.ts"

export interface WatchedName {
  readonly name: Bytes
  /** Whether it is in the settings (`-watch`), so that callers cannot remove it. */
  readonly configured: boolean
}

/** The names that the operator watches: from the settings and added by callers, whoever owns them. */
export class WatchList extends Context.Tag("svcd/WatchList")<WatchList, {
  /** In byte order. */
  readonly names: () => ReadonlyArray<WatchedName>
  readonly has: (name: Bytes) => boolean
  readonly version: () => number
  /** Ends with the next change of the list. */
  readonly changed: () => Effect.Effect<void>
  /** Adds names, all or none, and skips listed ones. Durable when it returns. */
  readonly add: (names: ReadonlyArray<Bytes>) => Effect.Effect<void, WatchRefused | StorageFailure>
  /** Removes names that callers added. Fails for a name of the settings, but not for one that is not listed. */
  readonly remove: (names: ReadonlyArray<Bytes>) => Effect.Effect<void, WatchRefused | StorageFailure>
}>() {}

export interface WatchListOptions {
  /** The file of the added names; `undefined` keeps them in memory. */
  readonly filename: string | undefined
  readonly configured: ReadonlyArray<Bytes>
}

const NameHex = Schema.String.pipe(Schema.pattern(/^(?:[0-9a-f]{2})*$/), Schema.maxLength(2 * MAX_NAME_LENGTH))

const WatchFile = Schema.parseJson(
  Schema.Struct({
    version: Schema.Literal(1),
    /** Hex. */
    names: Schema.Array(NameHex).pipe(Schema.maxItems(MAX_WATCHED))
  }),
  { space: 2 }
)
type WatchFile = typeof WatchFile.Type

const EMPTY_FILE: WatchFile = { version: 1, names: [] }

const IN_SETTINGS =
  "the settings watch this name: remove its watch= line from svcd.conf, or the flag -watch, and restart"

const keyed = (names: ReadonlyArray<Bytes>): ReadonlyMap<NameKey, Bytes> =>
  new Map(names.map((name) => [nameKey(name), name]))

const REMEDY =
  "the names that name_watch added are no longer watched; add them again (the file has them as hexadecimal digits)"

const make = (
  { configured, filename }: WatchListOptions
): Effect.Effect<typeof WatchList.Service, StorageFailure, DataHealth.DataHealth> =>
  Effect.gen(function*() {
    const read = filename === undefined
      ? EMPTY_FILE
      : yield* readJsonFile({
        path: filename,
        schema: WatchFile,
        empty: EMPTY_FILE,
        remedy: REMEDY,
        // Without the list the node would watch nothing, and an operator may not see a notice.
        ifUnreadable: "fail"
      })
    const fixed = keyed(configured)
    const commits = new CommitSignal()
    const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
    let added = keyed(read.names.flatMap((hex) => fromHex(hex) ?? []))
    let sorted: ReadonlyArray<WatchedName> | undefined

    const names = (): ReadonlyArray<WatchedName> => {
      sorted ??= [
        ...[...fixed.values()].map((name) => ({ name, configured: true })),
        ...[...added].flatMap(([key, name]) => fixed.has(key) ? [] : [{ name, configured: false }])
      ].sort((a, b) => compare(a.name, b.name))
      return sorted
    }

    const become = (next: ReadonlyMap<NameKey, Bytes>): Effect.Effect<void, StorageFailure> => {
      const file: WatchFile = { version: 1, names: [...next.values()].map(toHex).sort() }
      const written = filename === undefined ? Effect.void : writeJsonFile(filename, WatchFile, file)
      return Effect.tap(written, () =>
        Effect.sync(() => {
          added = next
          sorted = undefined
          commits.tell()
        }))
    }

    return WatchList.of({
      names,
      has: (name) => fixed.has(nameKey(name)) || added.has(nameKey(name)),
      version: () => commits.count,
      changed: () => commits.next(),
      add: (more) =>
        oneAtATime(Effect.suspend((): Effect.Effect<void, WatchRefused | StorageFailure> => {
          if (more.some(({ length }) => length === 0 || length > MAX_NAME_LENGTH)) {
            return new WatchRefused({ reason: `a name has from 1 to ${MAX_NAME_LENGTH} bytes` })
          }
          const next = new Map([...added, ...keyed(more.filter((name) => !fixed.has(nameKey(name))))])
          if (next.size + fixed.size > MAX_WATCHED) {
            return new WatchRefused({ reason: `${MAX_WATCHED} names can be watched; remove some first` })
          }
          return next.size === added.size ? Effect.void : become(next)
        })),
      remove: (less) =>
        oneAtATime(Effect.suspend((): Effect.Effect<void, WatchRefused | StorageFailure> => {
          if (less.some((name) => fixed.has(nameKey(name)))) return new WatchRefused({ reason: IN_SETTINGS })
          const gone = new Set(less.map(nameKey))
          const next = new Map([...added].filter(([key]) => !gone.has(key)))
          return next.size === added.size ? Effect.void : become(next)
        }))
    })
  })

export const layer = (options: WatchListOptions): Layer.Layer<WatchList, StorageFailure, DataHealth.DataHealth> =>
  Layer.effect(WatchList, make(options))

/** An initially empty list in memory. */
export const layerMemory: Layer.Layer<WatchList> = Layer.orDie(layer({ filename: undefined, configured: [] })).pipe(
  Layer.provide(DataHealth.layer)
)
