import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeAnswering } from "../client/answering.ts"
import { wantedChanges, withoutLive, withoutSubjects } from "../client/changeFilter.ts"
import { changesOf } from "../client/changes.ts"
import {
  type ChangesFailure,
  type ClientFailure,
  InvalidRequest,
  NameUnavailable,
  type NotSynced,
  type OperationFailure,
  type ReadFailure
} from "../client/errors.ts"
import { pagesOfNames, wantedNames } from "../client/findNames.ts"
import { endWithScope, Lifespan } from "../client/Lifespan.ts"
import { changesBy } from "../client/liveChanges.ts"
import { NameClient } from "../client/NameClient.ts"
import type { ChangeFilter, LiveFilter, OperationOptions } from "../client/options.ts"
import { provingNothing } from "../client/proveName.ts"
import { notSynced, progressOf, readyOf, REPORT_INTERVAL } from "../client/readiness.ts"
import { fixedPart, recordAt } from "../client/record.ts"
import { type Freshness, freshnessOf, type NameChange, type NameRecord, OperationResult } from "../client/records.ts"
import { followRegistration, REGISTER_WAITS, UPDATE_WAITS } from "../client/registering.ts"
import { resolvingDomains } from "../client/resolveDomain.ts"
import { listing, nameBytes, operationBytes, registrationBytes } from "../client/text.ts"
import { MIN_FIRSTUPDATE_DEPTH } from "../consensus/names.ts"
import { type ConsensusParams, paramsOf } from "../consensus/params.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { NameNotFound, requestedName } from "../names/errors.ts"
import { filtered } from "../names/events/EventFilter.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import { queryMatcher } from "../names/search/nameQuery.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import { type Bytes, compare, displayHash, EMPTY, equal, toHex } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import { networks } from "../protocol/networks.ts"
import { MemoryChain } from "./memoryChain.ts"

/** A `NameClient` over names in memory, for tests of applications, with the answers, failures and changes of a node. */

/** A failure that every call can have. */
export type MemoryFailure = Extract<ReadFailure, OperationFailure>

/** The test's control of the names of `layerMemory`. */
export class MemoryNames extends Context.Tag("svcd/MemoryNames")<MemoryNames, {
  /**
   * Registers or updates a name in the next block. The client owns the name and can update it, unless `address` gives
   * it to another owner.
   */
  // positional: as `NameClient.registerName`
  readonly set: (name: string, value: string, options?: OperationOptions) => Effect.Effect<NameRecord, InvalidRequest>
  /** Advances the chain until the name and all names set before it have expired. */
  readonly expire: (name: string) => Effect.Effect<void, InvalidRequest | NameNotFound>
  /** Advances the chain by `blocks`, one by default. */
  readonly pass: (blocks?: number) => Effect.Effect<void>
  /** Disconnects the last blocks with their name operations, and connects one more, without names. */
  readonly reorg: (blocks: number) => Effect.Effect<void>
  /** Makes all calls and streams fail; `undefined` ends that. */
  readonly fail: (failure: MemoryFailure | undefined) => Effect.Effect<void>
  /** Whether blocks are missing: an unknown name is then `NotSynced`. */
  readonly syncing: (isSyncing: boolean) => Effect.Effect<void>
}>() {}

const NETWORK = networks.mainnet

/** One script per operation, as in a node's wallet. */
class Owner {
  private readonly scripts = new Set<string>()

  next(): Bytes {
    const hash = new Uint8Array(20)
    new DataView(hash.buffer).setUint32(0, this.scripts.size + 1)
    const script = scriptOf({ kind: "pubkeyhash", hash })
    this.scripts.add(toHex(script))
    return script
  }

  has(address: Bytes): boolean {
    return this.scripts.has(toHex(address))
  }

  owns({ address }: NameEntry): boolean {
    return this.has(address)
  }
}

const NO_SUBJECTS = "names in memory have neither wallets nor a watch list"
const NO_MEMPOOL = "names in memory are in blocks at once"

const ownerOf = ({ address }: OperationOptions): Either.Either<Bytes | undefined, InvalidRequest> => {
  if (address === undefined) return Either.right(undefined)
  const decoded = decodeAddress(NETWORK, address)
  return "destination" in decoded
    ? Either.right(scriptOf(decoded.destination))
    : Either.left(new InvalidRequest({ field: "address", reason: "is not an address of the network" }))
}

const changing = ({ chain, now, own, params }: {
  readonly chain: MemoryChain
  readonly own: Owner
  readonly params: ConsensusParams
  readonly now: () => Freshness
}): Pick<typeof MemoryNames.Service, "set" | "expire"> => ({
  // positional: as its type
  set: (name, value, options = {}) =>
    Effect.gen(function*() {
      const given = yield* operationBytes({ name, value, waitFor: undefined }, [])
      const address = (yield* ownerOf(options)) ?? chain.active(given.name)?.address ?? own.next()
      const fixed = fixedPart(chain.write({ ...given, address }), params)
      return fixed === undefined ? yield* Effect.dieMessage("a text is UTF-8") : recordAt(fixed, now(), params)
    }),
  expire: (name) =>
    Effect.gen(function*() {
      const bytes = yield* nameBytes(name)
      const record = chain.active(bytes)
      if (record === undefined) return yield* new NameNotFound(requestedName(bytes))
      chain.passUntilExpired(record)
    })
})

interface Operating {
  readonly chain: MemoryChain
  readonly own: Owner
  readonly call: <A, E>(effect: () => Effect.Effect<A, E>) => Effect.Effect<A, ClientFailure | E | MemoryFailure>
  readonly lifespan: Lifespan
  readonly scope: Scope.Scope
  readonly syncing: () => boolean
  readonly refuse: () => Effect.Effect<never, NotSynced>
}

/** Both steps of a registration are in blocks at once. */
const operationsOf = (
  { call, chain, lifespan, own, refuse, scope, syncing }: Operating
): Pick<typeof NameClient.Service, "registerName" | "updateName"> => {
  return {
    registerName: (name, value, options = {}) =>
      call(() =>
        Effect.gen(function*() {
          const { anyName, waitFor } = options
          const given = yield* registrationBytes({ name, value, waitFor, anyName }, REGISTER_WAITS)
          const asked = yield* ownerOf(options)
          if (chain.active(given.name) !== undefined) {
            return yield* new NameUnavailable({ requested: name, reason: "this name is already active" })
          }
          const announced = displayHash(chain.newTxid())
          chain.pass(MIN_FIRSTUPDATE_DEPTH)
          const { height, txid } = chain.write({ ...given, address: asked ?? own.next() })
          const txHash = displayHash(txid)
          const states = Stream.make(
            { step: "waiting", txHash: announced, blocksLeft: MIN_FIRSTUPDATE_DEPTH } as const,
            { step: "claimed", txHash } as const,
            { step: "registered", txHash, height } as const
          )
          return yield* followRegistration({
            name,
            first: { step: "announced", txHash: announced },
            options,
            states,
            lifespan,
            scope
          })
        })
      ),
    updateName: (name, value, options = {}) =>
      call(() =>
        Effect.gen(function*() {
          const given = yield* operationBytes({ name, value, waitFor: options.waitFor }, UPDATE_WAITS)
          const address = yield* ownerOf(options)
          const before = chain.active(given.name)
          if (before === undefined && syncing()) return yield* refuse()
          if (before === undefined || !own.owns(before)) {
            const reason = before === undefined ? "this name can not be updated" : "the wallet does not own the name"
            return yield* new NameUnavailable({ requested: name, reason })
          }
          const { txid } = chain.write({ ...given, address: address ?? own.next() })
          return new OperationResult({ txHash: displayHash(txid) })
        })
      )
  }
}

const make = (seeds: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const lifespan = new Lifespan()
    const params = paramsOf(NETWORK)
    const chain = new MemoryChain(params)
    const own = new Owner()
    let failing: MemoryFailure | undefined
    let isSyncing = false

    const report = Effect.sync((): SyncReport => ({
      phase: isSyncing ? "blocks" : "ready",
      proof: "full",
      height: chain.height,
      headers: isSyncing ? chain.height + 1_000 : chain.height,
      synced: !isSyncing,
      percent: isSyncing ? 50 : 100,
      secondsLeft: isSyncing ? undefined : 0,
      window: undefined
    }))
    const { answer, freshness, textOf, tooWeak } = makeAnswering({ params, report })
    const now = () => freshness(chain.height, !isSyncing, "full")

    const call = <A, E>(effect: () => Effect.Effect<A, E>) =>
      lifespan.during(Effect.suspend((): Effect.Effect<A, E | MemoryFailure> => failing ?? effect()))

    const recordOf = (entry: NameEntry): ReadonlyArray<NameRecord> => {
      const fixed = textOf(entry)
      return fixed === undefined ? [] : [recordAt(fixed, now(), params)]
    }

    /** In the order of a node: the shortest first, then in byte order. */
    const sorted = () =>
      [...chain.records.values()].toSorted((a, b) => a.name.length - b.name.length || compare(a.name, b.name))

    const hasPrefix = ({ name }: NameEntry, prefix: Bytes): boolean => equal(name.subarray(0, prefix.length), prefix)

    const names: Pick<typeof NameClient.Service, "resolveName" | "listNames" | "findNames"> = {
      resolveName: (name, options = {}) =>
        call(() =>
          Effect.flatMap(nameBytes(name), (bytes) => answer(bytes, chain.records.get(nameKey(bytes)), now(), options))
        ),
      listNames: (filter = {}) =>
        call(() =>
          Effect.gen(function*() {
            const { most, prefix } = yield* listing(filter)
            const found = sorted().filter((entry) => hasPrefix(entry, prefix)).flatMap(recordOf)
              .filter(({ expired }) => !expired).slice(0, most)
            return most > 0 && found.length === 0 && isSyncing ? yield* tooWeak(now(), {}) : found
          })
        ),
      findNames: (filter) =>
        lifespan.stream(Stream.unwrap(Effect.map(wantedNames(filter, NETWORK), ({ query }) =>
          pagesOfNames(() =>
            call(() =>
              Effect.map(report, (sync) => {
                const matches = queryMatcher(query, { tipHeight: chain.height, params })
                const records = sorted().filter((entry) =>
                  hasPrefix(entry, query.prefix ?? EMPTY) && matches(entry)
                )
                  .flatMap(recordOf)
                const missing = isSyncing ? notSynced(now(), sync) : undefined
                return { records, next: undefined, missing, isPartial: false }
              })
            )
          ))))
    }

    const changes = (filter: ChangeFilter | LiveFilter = {}): Stream.Stream<NameChange, ChangesFailure> =>
      Stream.unwrap(Effect.gen(function*() {
        const wanted = yield* wantedChanges(filter, NETWORK)
        yield* withoutSubjects(wanted, NO_SUBJECTS)
        yield* withoutLive(wanted, NO_MEMPOOL)
        const place = yield* chain.placeOf(wanted.from)
        const asOf = (height: number) =>
          freshnessOf({ height, synced: !isSyncing && height >= chain.height, proof: "full" })
        return Stream.repeatEffect(call(() =>
          chain.events(place)
        )).pipe(
          Stream.mapConcat((events) =>
            events.flatMap((event) => {
              const told = filtered({ ...wanted.filter, isMine: (address) => own.has(address) }, event)
              return told === undefined || told.type === "block" ? [] : changesOf({ params, asOf }, told)
            })
          )
        )
      }))

    const operations = operationsOf({
      chain,
      own,
      call,
      lifespan,
      scope,
      syncing: () => isSyncing,
      refuse: () => tooWeak(now(), {})
    })

    const { expire, set } = changing({ chain, own, params, now })
    yield* Effect.orDie(Effect.forEach(Object.entries(seeds), ([name, value]) => set(name, value), { discard: true }))
    yield* endWithScope(lifespan)
    const source = {
      report: call(() => report),
      interval: REPORT_INTERVAL,
      best: "full",
      peers: Effect.succeed(undefined)
    } as const
    const freshnessNow = call(() => Effect.sync(now))
    const client = NameClient.of({
      mode: "embedded",
      ...names,
      ...operations,
      proveName: provingNothing(names.resolveName),
      resolveDomain: resolvingDomains({ resolveName: names.resolveName, freshness: freshnessNow }),
      changes: changesBy((filter) => lifespan.stream(changes(filter))),
      freshness: freshnessNow,
      progress: lifespan.stream(progressOf(source)),
      ready: (wanted) => call(() => readyOf(source, wanted)),
      failure: lifespan.failure
    })
    const control = MemoryNames.of({
      set,
      expire,
      pass: (blocks = 1) => Effect.sync(() => chain.pass(blocks)),
      reorg: (blocks) => Effect.sync(() => chain.reorganize(blocks)),
      fail: (failure) =>
        Effect.sync(() => {
          failing = failure
          chain.wake()
        }),
      syncing: (value) => Effect.sync(() => void (isSyncing = value))
    })
    return Context.make(NameClient, client).pipe(Context.add(MemoryNames, control))
  })

/**
 * Names in memory, initially `{ "d/example": "…" }`: no node, no files, no network, and blocks come at once. An invalid
 * name or value is a defect.
 */
export const layerMemory = (names: Readonly<Record<string, string>> = {}): Layer.Layer<NameClient | MemoryNames> =>
  Layer.scopedContext(make(names))
