import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Chain } from "../chain/Chain.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { WrongQuery } from "../names/errors.ts"
import type { EventFilter } from "../names/events/EventFilter.ts"
import { NameDb } from "../names/NameDb.ts"
import { blocksToExpiry, type NameClock } from "../names/NameEntry.ts"
import { binaryString, type Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { NameOutlook } from "../wallet/names/WalletNames.ts"
import type { Wallet } from "../wallet/Wallet.ts"
import { Wallets } from "../wallet/Wallets.ts"
import {
  byExpiry,
  type ExpiringName,
  type ExpiringPlace,
  type ExpiringRecord,
  FirstToExpire,
  readPlace
} from "./expiring.ts"
import { expiringRecordOf, makeWatchedRecords } from "./watchedRecords.ts"
import { WatchList } from "./WatchList.ts"

/** The owners of the listed names. */
export type Whose =
  | { readonly of: "all" }
  | { readonly of: "owner"; readonly script: Bytes }
  /** These names, whatever their owner. */
  | { readonly of: "names"; readonly names: ReadonlyArray<Bytes> }
  /** Names of the loaded wallets, watched names, or both. `wants` selects among them before the limit applies. */
  | {
    readonly of: "subjects"
    readonly mine: boolean
    readonly watched: boolean
    readonly wants?: ((record: ExpiringRecord) => boolean) | undefined
  }

export interface ExpiringQuery {
  /** Blocks within which the names expire. */
  readonly blocks: number
  readonly whose: Whose
  readonly limit: number
  /** Where an earlier page of the same query ended. */
  readonly cursor?: string | undefined
}

export interface ExpiringPage {
  /** The first to expire first. */
  readonly names: ReadonlyArray<ExpiringName>
  /** Where the next page begins; `undefined` after the last. Earlier pages may be short. */
  readonly next: string | undefined
  readonly clock: NameClock
}

export interface OwnedOutlook extends NameOutlook {
  /** The name of its wallet, if several are loaded. */
  readonly wallet: string | undefined
}

/** Names before their expiry: of all owners, of one, of the loaded wallets, or watched. */
export class ExpiringNames extends Context.Tag("svcd/ExpiringNames")<ExpiringNames, {
  readonly list: (query: ExpiringQuery) => Effect.Effect<ExpiringPage, WrongQuery | StorageFailure>
  /** Whether a loaded wallet has the address of an owner's script. */
  readonly isMine: (script: Bytes) => boolean
  readonly isWatched: (name: Bytes) => boolean
  /** Whether a loaded wallet with the owner's script renews the name automatically. */
  readonly isRenewed: (record: ExpiringRecord) => boolean
  /**
   * Of all names of the loaded wallets that they still own or have lost, by the height of the record: one wallet may
   * have lost a name that another has registered since.
   */
  readonly outlooks: Effect.Effect<ReadonlyArray<OwnedOutlook>>
  /** Whether a loaded wallet still searches the chain for its keys, so that its names may be missing. */
  readonly isSearching: () => boolean
}>() {}

const NO_RECORDS: ReadonlyArray<ExpiringRecord> = []

const WRONG_CURSOR = "the cursor is not one of this query: pass back next with the same conditions"

/** By name: each with the outlook of its last record. */
export const outlooksByName = (outlooks: ReadonlyArray<OwnedOutlook>): ReadonlyMap<NameKey, OwnedOutlook> =>
  new Map(outlooks.map((each) => [nameKey(each.name), each]))

/** A wallet's names with their last confirmed operation. */
const ownedBy = ({ names }: Wallet): ReadonlyArray<ExpiringRecord> =>
  names.list().flatMap(({ height, mine, name, operation, script, txid, vout }) =>
    !mine || operation.op === "name_new"
      ? []
      : [{ name, value: operation.value, height, txid, vout, address: addressScript(script) }]
  )

const make = (
  params: ConsensusParams
): Effect.Effect<typeof ExpiringNames.Service, never, NameDb | Wallets | WatchList> =>
  Effect.gen(function*() {
    const names = yield* NameDb
    const wallets = yield* Wallets
    const watch = yield* WatchList
    const commits = yield* names.commits

    const clockNow = Effect.map(
      names.cursor,
      (cursor): NameClock => ({ tipHeight: cursor?.height ?? 0, params })
    )

    const watchedRecords = makeWatchedRecords({ names, watch, commits })

    // Not by name: another wallet may be loaded under the name of an unloaded one.
    const owned = new WeakMap<Wallet, { readonly of: string; readonly records: ReadonlyArray<ExpiringRecord> }>()

    /** The names of a wallet, listed once per block of the wallet. */
    const ownedRecords = (wallet: Wallet): ReadonlyArray<ExpiringRecord> => {
      const { hash, height } = wallet.ledger.lastBlock()
      const of = `${height} ${binaryString(hash)}`
      const known = owned.get(wallet)
      if (known?.of === of && wallet.ledger.scanning() === undefined) return known.records
      const records = ownedBy(wallet)
      owned.set(wallet, { of: wallet.ledger.scanning() === undefined ? of : "", records })
      return records
    }

    let sorted: {
      readonly sources: ReadonlyArray<ReadonlyArray<ExpiringRecord>>
      readonly records: ReadonlyArray<ExpiringRecord>
    } = { sources: [], records: [] }

    /** The records of own and watched names without repetition, the first to expire first; sorted once per state. */
    const subjects = (
      { mine, watched: isWatched }: Extract<Whose, { readonly of: "subjects" }>
    ): Effect.Effect<ReadonlyArray<ExpiringRecord>, StorageFailure> =>
      Effect.map(isWatched ? watchedRecords : Effect.succeed(NO_RECORDS), (records) => {
        const sources = [records, ...mine ? wallets.loaded().map(ownedRecords) : []]
        const isKnown = sources.length === sorted.sources.length &&
          sources.every((source, i) => source === sorted.sources[i])
        if (isKnown) return sorted.records
        if (sources.every((source) => source === records || source.length === 0)) {
          sorted = { sources, records }
          return records
        }
        const found = new Map<NameKey, ExpiringRecord>()
        for (const record of sources.flat()) {
          const key = nameKey(record.name)
          // Names can be a block ahead of the wallets for a moment. The newer record is that of names.db.
          if ((found.get(key)?.height ?? -1) <= record.height) found.set(key, record)
        }
        sorted = { sources, records: [...found.values()].sort(byExpiry) }
        return sorted.records
      })

    const listAll = ({ blocks, cursor, limit }: ExpiringQuery, clock: NameClock) =>
      Effect.map(
        names.find({ expiresWithin: blocks }, { clock, limit, cursor }),
        ({ next, records }): ExpiringPage => ({
          names: records.map((record) => ({ record, left: blocksToExpiry(record, clock) })),
          next,
          clock
        })
      )

    const placeOf = (cursor: string | undefined): Effect.Effect<ExpiringPlace | undefined, WrongQuery> => {
      const place = cursor === undefined ? undefined : readPlace(cursor)
      return cursor !== undefined && place === undefined
        ? new WrongQuery({ reason: WRONG_CURSOR })
        : Effect.succeed(place)
    }

    const list = (query: ExpiringQuery): Effect.Effect<ExpiringPage, WrongQuery | StorageFailure> =>
      Effect.gen(function*() {
        const { blocks, cursor, limit, whose } = query
        const clock = yield* clockNow
        if (whose.of === "all") return yield* listAll(query, clock)
        const first = new FirstToExpire({ clock, blocks, after: yield* placeOf(cursor) }, limit)
        if (whose.of === "owner") {
          yield* Stream.runForEach(names.byAddress(whose.script), (record) => Effect.sync(() => first.add(record)))
        } else if (whose.of === "names") {
          for (const name of new Map(whose.names.map((each) => [nameKey(each), each])).values()) {
            const record = yield* expiringRecordOf(names, name)
            if (record !== undefined) first.add(record)
          }
        } else {
          const { wants } = whose
          for (const record of yield* subjects(whose)) {
            if (first.isFull || blocksToExpiry(record, clock) > blocks) break
            if (wants === undefined || wants(record)) first.add(record)
          }
        }
        return { ...first.page(), clock }
      })

    return ExpiringNames.of({
      list: (query) => Effect.withSpan(list(query), "svcd.names.expiring"),
      isMine: (script) => wallets.loaded().some(({ keys }) => keys.own(script) !== undefined),
      isWatched: watch.has,
      isRenewed: ({ address, name }) =>
        wallets.loaded().some(({ keys, names: own }) => keys.own(address)?.spendable === true && own.isRenewed(name)),
      outlooks: Effect.map(
        Effect.suspend(() => {
          const loaded = wallets.loaded()
          return Effect.forEach(loaded, ({ name, names: own }) => {
            const wallet = loaded.length > 1 ? name : undefined
            return Effect.map(own.outlooks, (all) => all.map((each): OwnedOutlook => ({ ...each, wallet })))
          })
        }),
        (all) => [
          ...new Map(
            all.flat().filter(({ outlook: { state } }) => state !== "given").sort((a, b) => a.height - b.height)
              .map((each) => [`${each.height} ${nameKey(each.name)}`, each])
          ).values()
        ]
      ),
      isSearching: () => wallets.loaded().some(({ ledger }) => ledger.scanning() !== undefined)
    })
  })

export const layerFor = (params: ConsensusParams): Layer.Layer<ExpiringNames, never, NameDb | Wallets | WatchList> =>
  Layer.effect(ExpiringNames, make(params))

export const layer: Layer.Layer<ExpiringNames, never, Chain | NameDb | Wallets | WatchList> = Layer.effect(
  ExpiringNames,
  Effect.flatMap(Chain, ({ params }) => make(params))
)

/**
 * An event filter for names of the loaded wallets, or watched names. Past events are matched with the current list and
 * wallets too: a cursor is a place in the log of all names.
 */
export const concerning = (
  filter: EventFilter,
  { mine, watched }: { readonly mine: boolean; readonly watched: boolean },
  { isMine, isWatched }: Pick<typeof ExpiringNames.Service, "isMine" | "isWatched">
): EventFilter =>
  mine || watched
    ? { ...filter, concerns: ({ name, owner }) => (watched && isWatched(name)) || (mine && isMine(owner)) }
    : filter

/** A node without own or watched names. */
export const layerNothing: Layer.Layer<ExpiringNames, never, Chain> = Layer.effect(
  ExpiringNames,
  Effect.map(Chain, ({ params }) => ({
    list: () => Effect.succeed({ names: [], next: undefined, clock: { tipHeight: 0, params } }),
    isMine: () => false,
    isWatched: () => false,
    isRenewed: () => false,
    outlooks: Effect.succeed([]),
    isSearching: () => false
  }))
)
