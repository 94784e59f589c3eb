import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Scheduler from "../base/Scheduler.ts"
import { wantedChanges } from "../client/changeFilter.ts"
import {
  type ChangesFailure,
  InternalError,
  NotSynced,
  type ReadFailure,
  type ResolveFailure
} from "../client/errors.ts"
import { wantedNames } from "../client/findNames.ts"
import { endWithScope, Lifespan } from "../client/Lifespan.ts"
import {
  type ChangeFilter,
  type FindFilter,
  type Freshness,
  type ListFilter,
  type NameChange,
  NameClient,
  type NameRecord,
  type ResolveOptions
} from "../client/NameClient.ts"
import {
  freshnessOf,
  isTooWeak,
  notSynced,
  progressOf,
  readyOf,
  REPORT_INTERVAL,
  type Requirement,
  requiring
} from "../client/readiness.ts"
import { fixedPart, recordAt } from "../client/record.ts"
import { limitOf, nameBytes, namespaceBytes } from "../client/text.ts"
import { DataDirectory } from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import * as LightNode from "../light/Light.ts"
import { makeLightReport } from "../light/lightReport.ts"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { NameExpired, NameNotFound } from "../names/errors.ts"
import { EMPTY } from "../protocol/bytes.ts"
import { printable } from "../protocol/nameText.ts"
import * as DataHealth from "../storage/DataHealth.ts"
import * as LightChanges from "./lightChanges.ts"
import { paramsFor } from "./node.ts"
import * as Peers from "./peers.ts"
import { findScanned } from "./scannedNames.ts"

/** A `NameClient` over a light node in this process: it answers about names, and has no wallet. */

const NO_OPTIONS: ResolveOptions = {}

/** What a light client is asked and told. */
interface LightNames {
  readonly light: typeof LightNode.Light.Service
  readonly report: Effect.Effect<SyncReport>
  /** What answers have to rest on if the call does not say it. */
  readonly requireProof: ProofLevel | undefined
}

/** Reads names of the light node. */
const makeNames = ({ light, report, requireProof }: LightNames) => {
  const { params } = light

  const asOf = (proof: Freshness["proof"]): Effect.Effect<Freshness> =>
    Effect.gen(function*() {
      const { tip } = yield* light.progress
      return { height: tip.height, synced: yield* light.complete, proof }
    })

  /** Reads names with the state that the answer rests on. Reads again if that changed meanwhile. */
  const steady = <A, E>(read: Effect.Effect<A, E>): Effect.Effect<readonly [A, Freshness], E> =>
    Effect.gen(function*() {
      for (let before = yield* asOf("work");;) {
        const found = yield* read
        const after = yield* asOf("work")
        if (before.height === after.height && before.synced === after.synced) return [found, after] as const
        before = after
      }
    })

  const refused = (fresh: Freshness, options: Requirement): Effect.Effect<never, NotSynced> =>
    Effect.flatMap(report, (now) => notSynced(fresh, now, options))

  const resolveName = (name: string, given = NO_OPTIONS): Effect.Effect<NameRecord, ResolveFailure> =>
    Effect.gen(function*() {
      const bytes = yield* nameBytes(name)
      const options = requiring(given, { requireProof })
      const [found, state] = yield* steady(light.resolve(bytes))
      // That there is no operation rests on the blocks, and has nothing to sign.
      const fresh: Freshness = { ...state, proof: found?.proof ?? "signatures" }
      if (isTooWeak(fresh, options)) return yield* refused(fresh, options)
      const fixed = found === undefined ? undefined : fixedPart(found.record, params)
      const record = fixed === undefined ? undefined : recordAt(fixed, fresh, params)
      if (record !== undefined && !record.expired) return record
      // The name may be in a block that is missing: below the window, or above it.
      if (!fresh.synced) return yield* refused(fresh, {})
      return record === undefined
        ? yield* new NameNotFound({ requested: printable(bytes) })
        : yield* new NameExpired({ requested: printable(bytes), updateHeight: record.height })
    })

  const listNames = (
    { limit, namespace, ...given }: ListFilter = {}
  ): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
    Effect.gen(function*() {
      const [prefix, most] = [yield* namespaceBytes(namespace), yield* limitOf(limit)]
      const options = requiring(given, { requireProof })
      const [all, fresh] = yield* steady(Stream.runCollect(light.scan(prefix)))
      // Without the oldest blocks of the window, the list would lack names.
      if (!fresh.synced) return yield* refused(fresh, {})
      const records = [...all].flatMap(({ proof, record }) => {
        const fixed = fixedPart(record, params)
        const shown = fixed === undefined ? undefined : recordAt(fixed, { ...fresh, proof }, params)
        return shown === undefined || shown.expired ? [] : [shown]
      })
      const listed = records.sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1)).slice(0, most)
      const weak = listed.find((record) => isTooWeak(record.asOf, options))
      return weak === undefined ? listed : yield* refused(weak.asOf, options)
    })

  /** Reads all names of the window: it has no indexes. */
  const findNames = ({ requireProof: asked, ...filter }: FindFilter): Stream.Stream<NameRecord, ReadFailure> =>
    Stream.unwrap(Effect.gen(function*() {
      const { query } = yield* wantedNames(filter, params.network)
      const options = requiring({ requireProof: asked }, { requireProof })
      const fresh = yield* asOf("work")
      if (!fresh.synced) return yield* refused(fresh, {})
      const refuse = (weak: Freshness) => refused(weak, options)
      return findScanned(light.scan(query.prefix ?? EMPTY), { query, params, asOf: fresh, options, refuse })
    }))

  const inBlocks = LightChanges.make(light)
  const changes = (filter: ChangeFilter = {}): Stream.Stream<NameChange, ChangesFailure> =>
    Stream.unwrap(Effect.map(wantedChanges(filter, params.network), inBlocks))

  return { resolveName, listNames, findNames, changes }
}

/** Wallet operations need coins, and so the whole chain. */
const NEEDS_FULL = "a light client has no wallet: open the directory with sync: \"full\""

const make = (requireProof: ProofLevel | undefined) =>
  Effect.gen(function*() {
    const light = yield* LightNode.Light
    const lifespan = new Lifespan()
    yield* light.failure.pipe(
      Effect.catchAll((failure) => Effect.sync(() => lifespan.end(failure))),
      Effect.catchAllDefect((defect) => Effect.sync(() => lifespan.end(new InternalError({ reason: String(defect) })))),
      Effect.forkScoped
    )
    const report = makeLightReport(light)
    const names = makeNames({ light, report, requireProof })
    const source = { report, interval: REPORT_INTERVAL, best: "signatures" } as const
    yield* endWithScope(lifespan)
    const refused = Effect.flatMap(report, ({ height }) => new NotSynced({ height, reason: NEEDS_FULL }))
    return NameClient.of({
      mode: "embedded",
      resolveName: (name, options) => lifespan.guard(names.resolveName(name, options)),
      listNames: (filter) => lifespan.during(names.listNames(filter)),
      findNames: (filter) => lifespan.stream(names.findNames(filter)),
      changes: (filter) => lifespan.stream(names.changes(filter)),
      freshness: lifespan.guard(Effect.map(report, freshnessOf)),
      progress: lifespan.stream(progressOf(source)),
      ready: (level = requireProof ?? "work") => lifespan.during(readyOf(source, level)),
      registerName: () => lifespan.guard(refused),
      updateName: () => lifespan.guard(refused),
      failure: lifespan.failure
    })
  })

/** The light node in a data directory, with its network. `params`: for other rules than those of the settings. */
export const nodeLayer = (settings: Settings, params = paramsFor(settings)) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) => {
    const light = LightNode.layer({
      filename: directory.file("names-window.db"),
      pageSize: settings.pageSize,
      params,
      verifyThreads: settings.verifyThreads,
      status: { offline: settings.maxPeers === 0, expectsPeers: settings.maxPeers > 0, maxTipAge: settings.maxTipAge }
    })
    return Peers.lightLayer(settings, directory.file("light-peers.json")).pipe(
      Layer.provideMerge(light),
      Layer.provideMerge(Scheduler.layer),
      Layer.provideMerge(DataHealth.layer)
    )
  }))

/** The client over the light node. */
export const namesLayer = (requireProof: ProofLevel | undefined) => Layer.scoped(NameClient, make(requireProof))

export const layer = (settings: Settings, requireProof: ProofLevel | undefined) =>
  Layer.provide(namesLayer(requireProof), nodeLayer(settings))
