import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { Chain } from "../chain/Chain.ts"
import { blockNamesOf } from "../client/blockNames.ts"
import { NotSynced, type ReadFailure, type ResolveFailure } from "../client/errors.ts"
import type {
  ChangeFilter,
  Freshness,
  ListFilter,
  NameChange,
  NameRecord,
  ResolveOptions
} from "../client/NameClient.ts"
import { type ChainRecord, type FixedPart, fixedPart, recordAt, tooOld } from "../client/record.ts"
import { limitOf, nameBytes, namespaceBytes } from "../client/text.ts"
import { isExpired } from "../consensus/expiry.ts"
import type { CompleteNames } from "../names/completeNames.ts"
import { NameExpired, NameNotFound } from "../names/errors.ts"
import { NameDb, type NameEntry } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { printable } from "../protocol/nameText.ts"
import type { StorageFailure } from "../storage/errors.ts"

/** Reads names of the node in this process. */

/** Milliseconds for which the sync state is reused: it changes only with blocks and peers. */
const SYNC_AGE = 50

const NO_OPTIONS: ResolveOptions = {}

/** The reading part of a client over the node in this process. */
export const make = ({ ask, complete }: CompleteNames) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const { params } = chain

    let lately: { readonly synced: boolean; readonly until: number } | undefined
    let said: Freshness = { height: 0, synced: false, proof: "full" }

    /** The freshness at a height; one object as long as nothing changes. */
    const asOfHeight = (height: Height, synced: boolean): Freshness => {
      if (said.height !== height || said.synced !== synced) said = { height, synced, proof: "full" }
      return said
    }

    const freshness: Effect.Effect<Freshness, StorageFailure> = Effect.gen(function*() {
      const synced = yield* complete
      const cursor = yield* names.cursor
      lately = { synced, until: performance.now() + SYNC_AGE }
      return asOfHeight(cursor?.height ?? 0, synced)
    })

    /** The text of a record costs more than its lookup: it is made once a record. */
    const texts = new WeakMap<NameEntry, FixedPart>()

    const textOf = (record: NameEntry): FixedPart | undefined => {
      const known = texts.get(record)
      if (known !== undefined) return known
      const made = fixedPart(record, params)
      if (made !== undefined) texts.set(record, made)
      return made
    }

    // positional: an answer from memory runs it, 100,000 times a second
    const answer = (
      bytes: Bytes,
      stored: NameEntry | undefined,
      asOf: Freshness,
      options: ResolveOptions
    ): Effect.Effect<NameRecord, ResolveFailure> => {
      const old = tooOld(asOf, options)
      if (old !== undefined) return old
      // A name that was requested as text is text.
      const fixed = stored === undefined ? undefined : textOf(stored)
      const record = fixed === undefined ? undefined : recordAt(fixed, asOf, params)
      if (record !== undefined && !record.expired) return Effect.succeed(record)
      // While blocks are missing, the name may be in one of them.
      if (!asOf.synced) return new NotSynced({ height: asOf.height })
      return record === undefined
        ? new NameNotFound({ requested: printable(bytes) })
        : new NameExpired({ requested: printable(bytes), updateHeight: record.height })
    }

    const isGone = (stored: NameEntry | undefined, { height }: Freshness): boolean =>
      stored === undefined || isExpired(stored, height, params)

    const looked = (bytes: Bytes, options: ResolveOptions): Effect.Effect<NameRecord, ResolveFailure> =>
      Effect.gen(function*() {
        const stored = Effect.catchTag(names.resolve(bytes), "NameNotFound", () => Effect.succeed(undefined))
        const question = Effect.all({ record: stored, asOf: freshness })
        const { asOf, record } = yield* ask(question, ({ asOf, record }) => isGone(record, asOf)).pipe(
          Effect.catchTag("NamesIncomplete", () =>
            Effect.map(freshness, ({ height }) => ({ record: undefined, asOf: asOfHeight(height, false) })))
        )
        return yield* answer(bytes, record, asOf, options)
      })

    /** Synchronous if record, height and sync state are in memory; that path has no generator and no span. */
    const resolveName = (name: string, options = NO_OPTIONS): Effect.Effect<NameRecord, ResolveFailure> => {
      const encoded = nameBytes(name)
      if (Either.isLeft(encoded)) {
        return encoded.left
      }
      const bytes = encoded.right
      const recent = names.recent(bytes)
      return recent === undefined || lately === undefined || performance.now() > lately.until
        ? looked(bytes, options)
        : answer(bytes, recent.record, asOfHeight(recent.tipHeight, lately.synced), options)
    }

    const listNames = ({ limit, namespace }: ListFilter = {}): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
      Effect.gen(function*() {
        const [prefix, most] = [yield* namespaceBytes(namespace), yield* limitOf(limit)]
        if (most === 0) {
          return []
        }
        const asOf = yield* freshness
        const found = yield* names.scan({ prefix }).pipe(
          Stream.mapConcat((record) => {
            const fixed = textOf(record)
            const shown = fixed === undefined ? undefined : recordAt(fixed, asOf, params)
            return shown === undefined || shown.expired ? [] : [shown]
          }),
          Stream.take(most),
          Stream.runCollect
        )
        // An empty list means "there are none", which is unknown while blocks are missing.
        if (found.length === 0 && !asOf.synced) {
          return yield* new NotSynced({ height: asOf.height })
        }
        return Array.from(found)
      })

    /** The current record of a name, expired or not; `undefined` for an unregistered one. */
    const current = (name: Bytes, asOf: Freshness): Effect.Effect<NameRecord | undefined, StorageFailure> =>
      names.resolve(name).pipe(
        Effect.map((record) => {
          const fixed = textOf(record)
          return fixed === undefined ? undefined : recordAt(fixed, asOf, params)
        }),
        Effect.catchTag("NameNotFound", () =>
          Effect.succeed(undefined))
      )

    /** The names that a block sets; none if the block is gone meanwhile. */
    const inBlock = (hash: Bytes, height: Height): Effect.Effect<ReadonlyArray<ChainRecord>, StorageFailure> =>
      chain.block(hash).pipe(
        Effect.map((block) => blockNamesOf(block, height)),
        Effect.catchTags({ BlockNotFound: () => Effect.succeed([]), BlockUnavailable: () => Effect.succeed([]) })
      )

    const changes = ({ namespace = "" }: ChangeFilter = {}): Stream.Stream<NameChange, StorageFailure> =>
      chain.events.pipe(
        Stream.mapConcatEffect((event) =>
          Effect.gen(function*() {
            const { hash, height } = event.block
            const asOf = yield* freshness
            const told: Array<NameChange> = []
            for (const record of yield* inBlock(hash, height)) {
              const fixed = fixedPart(record, params)
              if (fixed === undefined || !fixed.name.startsWith(namespace)) continue
              const says = event._tag === "BlockConnected"
                ? recordAt(fixed, asOf, params)
                : yield* current(record.name, asOf)
              told.push({ name: fixed.name, record: says, height })
            }
            return told
          })
        )
      )

    return { resolveName, listNames, changes, freshness }
  })
