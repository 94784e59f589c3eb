import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { monotonic } from "../base/clock.ts"
import * as Scheduler from "../base/Scheduler.ts"
import { withoutSpan } from "../base/spans.ts"
import { makeAnswering } from "../client/answering.ts"
import { wantedChanges, withoutLive, withoutSubjects } from "../client/changeFilter.ts"
import {
  type ChangesFailure,
  InternalError,
  type ReadFailure,
  type ResolveFailure,
  WalletDisabled
} from "../client/errors.ts"
import { wantedNames } from "../client/findNames.ts"
import { endWithScope, Lifespan } from "../client/Lifespan.ts"
import { NameClient } from "../client/NameClient.ts"
import type { ChangeFilter, FindFilter, ListFilter, LiveFilter, ResolveOptions } from "../client/options.ts"
import { orNotSynced, provingNames } from "../client/proveName.ts"
import { isTooWeak, progressOf, readyOf, REPORT_INTERVAL, requiring } from "../client/readiness.ts"
import { recordAt } from "../client/record.ts"
import { type Freshness, freshnessOf, type NameChange, type NameRecord } from "../client/records.ts"
import { resolvingDomains } from "../client/resolveDomain.ts"
import { listing, nameBytes } from "../client/text.ts"
import { DataDirectory } from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import * as LightNode from "../light/Light.ts"
import { makeLightReport } from "../light/lightReport.ts"
import { proofInWindow } from "../light/NameProofs.ts"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { PeerManager } from "../network/PeerManager.ts"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import * as DataHealth from "../storage/DataHealth.ts"
import { paramsFor } from "./layers/rules.ts"
import * as LightChanges from "./lightChanges.ts"
import * as Peers from "./peers.ts"
import { isLightSettled, releaseMemory } from "./releaseMemory.ts"
import { findScanned } from "./scannedNames.ts"

/** A `NameClient` over a light node in this process, without a wallet. */

const NO_OPTIONS: ResolveOptions = {}

interface LightNames {
  readonly light: typeof LightNode.Light.Service
  readonly report: Effect.Effect<SyncReport>
  readonly requireProof: ProofLevel | undefined
}

/** Milliseconds for which the sync state is reused: it changes only with blocks and peers. */
const SYNC_AGE = 50

const makeNames = ({ light, report, requireProof }: LightNames) => {
  const { params } = light
  const { answer, freshness, textOf, tooWeak } = makeAnswering({ params, report })
  let lately: { readonly synced: boolean; readonly until: number } | undefined

  const asOf = (proof: Freshness["proof"]): Effect.Effect<Freshness> =>
    Effect.map(light.complete, (synced) => {
      lately = { synced, until: monotonic() + SYNC_AGE }
      return freshness(light.height(), synced, proof)
    })

  /** Reads again if the state of the answer changed meanwhile. */
  const steady = <A, E>(read: Effect.Effect<A, E>): Effect.Effect<readonly [A, Freshness], E> =>
    Effect.gen(function*() {
      for (let before = yield* asOf("work");;) {
        const found = yield* read
        const after = yield* asOf("work")
        if (before.height === after.height && before.synced === after.synced) return [found, after] as const
        before = after
      }
    })

  const looked = (name: Bytes, options: ResolveOptions): Effect.Effect<NameRecord, ResolveFailure> =>
    Effect.flatMap(steady(light.resolve(name)), ([found, { height, synced }]) =>
      // A missing operation rests on the blocks, and has nothing to sign.
      answer(name, found?.record, freshness(height, synced, found?.proof ?? "signatures"), options))

  /** Synchronous if record and sync state are in memory; that path has no generator. */
  const resolveName = (name: string, given = NO_OPTIONS): Effect.Effect<NameRecord, ResolveFailure> => {
    const encoded = nameBytes(name)
    if (Either.isLeft(encoded)) return encoded.left
    const bytes = encoded.right
    const options = requiring(given, { requireProof })
    const recent = light.recent(bytes)
    return recent === undefined || lately === undefined || monotonic() > lately.until
      ? looked(bytes, options)
      : answer(bytes, recent.record, freshness(light.height(), lately.synced, recent.proof), options)
  }

  const listNames = (filter: ListFilter = {}): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
    Effect.gen(function*() {
      const { most, options: given, prefix } = yield* listing(filter)
      const options = requiring(given, { requireProof })
      const [all, fresh] = yield* steady(Stream.runCollect(light.scan(prefix)))
      // Without the oldest blocks of the window, the list would lack names.
      if (!fresh.synced) return yield* tooWeak(fresh, {})
      const records = [...all].flatMap(({ proof, record }) => {
        const fixed = textOf(record)
        const shown = fixed === undefined ? undefined : recordAt(fixed, freshnessOf({ ...fresh, proof }), params)
        return shown === undefined || shown.expired ? [] : [shown]
      })
      const listed = records.sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1)).slice(0, most)
      const weak = listed.find((record) => isTooWeak(record.asOf, options))
      return weak === undefined ? listed : yield* tooWeak(weak.asOf, options)
    })

  const findNames = ({ requireProof: asked, ...filter }: FindFilter): Stream.Stream<NameRecord, ReadFailure> =>
    Stream.unwrap(Effect.gen(function*() {
      const { query } = yield* wantedNames(filter, params.network)
      const options = requiring({ requireProof: asked }, { requireProof })
      const fresh = yield* asOf("work")
      if (!fresh.synced) return yield* tooWeak(fresh, {})
      const refuse = (weak: Freshness) => tooWeak(weak, options)
      return findScanned(light.scan(query.prefix ?? EMPTY), {
        query,
        params,
        asOf: fresh,
        atEnd: asOf("work"),
        options,
        refuse
      })
    }))

  const inBlocks = LightChanges.make(light)
  const changes = (filter: ChangeFilter | LiveFilter = {}): Stream.Stream<NameChange, ChangesFailure> =>
    Stream.unwrap(
      wantedChanges(filter, params.network).pipe(
        Either.flatMap((wanted) => withoutSubjects(wanted, NO_SUBJECTS)),
        Either.flatMap((wanted) => withoutLive(wanted, NO_MEMPOOL)),
        Effect.map(inBlocks)
      )
    )

  return { resolveName, listNames, findNames, changes }
}

const NO_SUBJECTS = "a light client has neither a wallet nor a watch list"

const NO_MEMPOOL = "a light client has only what is in blocks: its ready and progress say when it has caught up"

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
    const { count } = yield* PeerManager
    const source = {
      report,
      interval: REPORT_INTERVAL,
      best: "signatures",
      peers: Effect.map(count, ({ inbound, outbound }) => inbound + outbound),
      requireProof
    } as const
    const freshness = Effect.map(report, freshnessOf)
    const proveName = provingNames({
      resolveName: names.resolveName,
      prove: (name, wanted) => orNotSynced(proofInWindow(light, name, wanted), report)
    })
    const resolveDomain = resolvingDomains({ resolveName: names.resolveName, freshness })
    yield* endWithScope(lifespan)
    const refused = Effect.suspend(() => new WalletDisabled({ reason: NEEDS_FULL }))
    return NameClient.of({
      mode: "embedded",
      resolveName: (name, options) => Effect.suspend(() => lifespan.reason() ?? names.resolveName(name, options)),
      proveName: (name, options) => lifespan.during(proveName(name, options)),
      resolveDomain: (host, type, options) => lifespan.during(resolveDomain(host, type, options)),
      listNames: (filter) => lifespan.during(names.listNames(filter)),
      findNames: (filter) => lifespan.stream(names.findNames(filter)),
      changes: (filter) => lifespan.stream(names.changes(filter)),
      freshness: lifespan.guard(freshness),
      progress: lifespan.stream(progressOf(source)),
      ready: (wanted) => lifespan.during(readyOf(source, wanted)),
      registerName: () => lifespan.guard(refused),
      updateName: () => lifespan.guard(refused),
      failure: lifespan.failure
    })
  })

export const nodeLayer = (settings: Settings, params = paramsFor(settings.chain)) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) => {
    const light = LightNode.layer({
      filename: directory.file("names-window.db"),
      pageSize: settings.chain.pageSize,
      params,
      verifyThreads: settings.chain.verifyThreads,
      proofs: settings.chain.nameProofs,
      status: {
        offline: settings.peers.maxPeers === 0,
        expectsPeers: settings.peers.maxPeers > 0,
        maxTipAge: settings.chain.maxTipAge
      }
    })
    const release = Layer.scopedDiscard(
      Effect.flatMap(LightNode.Light, (node) => Effect.forkScoped(withoutSpan(releaseMemory(isLightSettled(node)))))
    )
    return Layer.merge(Peers.lightLayer(settings, directory.file("light-peers.json")), release).pipe(
      Layer.provideMerge(light),
      Layer.provideMerge(Scheduler.layer),
      Layer.provideMerge(DataHealth.layer)
    )
  }))

export const namesLayer = (requireProof: ProofLevel | undefined) => Layer.scoped(NameClient, make(requireProof))

export const layer = (settings: Settings, requireProof: ProofLevel | undefined) =>
  Layer.provide(namesLayer(requireProof), nodeLayer(settings))
