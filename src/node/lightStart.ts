import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { existsSync, rmSync } from "node:fs"
import { renameFile } from "../base/disk.ts"
import { withoutSpan } from "../base/spans.ts"
import { Chain } from "../chain/Chain.ts"
import { ChainSink } from "../chain/ChainSink.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { DataDirectory } from "../config/DataDirectory.ts"
import { servesElectrum } from "../config/electrumSettings.ts"
import type { Settings } from "../config/settings.ts"
import { isExpired } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { compareNames, type NameComparison, sameRecord } from "../light/handover.ts"
import { holdLight } from "../light/heldLight.ts"
import { joinHeaders } from "../light/joinHeaders.ts"
import * as Light from "../light/Light.ts"
import { type LightNode, LightPart, NO_LIGHT } from "../light/LightPart.ts"
import { lightHandovers } from "../metrics/lightMetrics.ts"
import { completeNames } from "../names/completeNames.ts"
import { NameDb, type NameEntry } from "../names/NameDb.ts"
import { type Bytes, EMPTY, equal } from "../protocol/bytes.ts"
import { printable } from "../protocol/nameText.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { removeDatabase } from "../storage/inspect.ts"
import * as Peers from "./peers.ts"

/**
 * The light part of a node: names from the last blocks, until the whole chain is checked. It has its own peers, file
 * and scope. At the handover, the names of both are compared, the chain answers, and the file is removed.
 */

const WINDOW = "names-window.db"

/** The window of a handover with differences, for the operator to inspect. */
const DIFFERENT = "names-window-different.db"

const PEERS = "light-peers.json"

/** Outbound peers of the light part beside a full node. */
const OUTBOUND = 4

/** How long the complete chain waits for the window at the same tip before it takes over without a comparison. */
const PATIENCE = "10 minutes"

const SHOWN = 20

/** The purpose of the window in this run. */
export type LightRole = "none" | "start" | "stays"

/** An existing window is used. A chain that was complete once needs none. */
export const lightRole = (
  { chain: { sync }, peers: { maxPeers } }: Pick<Settings, "chain" | "peers">
): Effect.Effect<LightRole, never, Chain | DataDirectory> =>
  Effect.gen(function*() {
    const { params, tip } = yield* Chain
    const { chainwork, height } = yield* tip
    const directory = yield* DataDirectory
    const hasWindow = existsSync(directory.file(WINDOW))
    const wasComplete = height > 0 && chainwork >= params.minimumChainWork
    if (sync === "light") return hasWindow || !wasComplete ? "stays" : "none"
    return hasWindow || (maxPeers > 0 && params.anchors.length > 0 && !wasComplete) ? "start" : "none"
  })

/** The peers of the light part if the node stays light, or else those of the full node. */
export const networkLayer = (settings: Settings) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { current, stays } = yield* LightPart
    const directory = yield* DataDirectory
    const light = stays ? current() : undefined
    return light === undefined
      ? Peers.layer(settings, directory.file("peers.json"))
      : Peers.lightLayer(settings, directory.file(PEERS)).pipe(Layer.provide(Layer.succeed(Light.Light, light)))
  }))

interface Stores {
  readonly chain: typeof Chain.Service
  readonly names: typeof NameDb.Service
  readonly light: LightNode
  readonly params: ConsensusParams
  /** The tip at which both know all names; `undefined` while they do not. */
  readonly together: Effect.Effect<Cursor | undefined, StorageFailure>
}

const storesOf = (light: LightNode) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const { settled } = yield* completeNames()
    const together = Effect.gen(function*() {
      const at = yield* settled
      const { tip } = yield* light.progress
      return at !== undefined && (yield* light.complete) && equal(at.hash, tip.hash) ? at : undefined
    })
    return { chain, names, light, params: chain.params, settled, together }
  })

/** The names that still differ, looked up while both are at one tip. */
const stillDifferent = (
  { light, names, params, together }: Stores,
  different: ReadonlyArray<Bytes>
): Effect.Effect<ReadonlyArray<Bytes> | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const before = yield* together
    if (before === undefined) return undefined
    const lives = (record: NameEntry | undefined): NameEntry | undefined =>
      record === undefined || isExpired(record, before.height, params) ? undefined : record
    const wrong: Array<Bytes> = []
    for (const name of different) {
      const inChain = lives(Option.getOrUndefined(
        yield* names.resolve(name).pipe(
          Effect.map(Option.some),
          Effect.catchTag("NameNotFound", () => Effect.succeedNone)
        )
      ))
      const inWindow = lives((yield* light.resolve(name))?.record)
      const same = inChain === undefined || inWindow === undefined
        ? inChain === inWindow
        : sameRecord(inChain, inWindow)
      if (!same) wrong.push(name)
    }
    const after = yield* together
    return after !== undefined && equal(before.hash, after.hash) ? wrong : undefined
  })

const untilKnown = <A, E>(look: Effect.Effect<A | undefined, E>): Effect.Effect<A, E> =>
  Effect.flatMap(
    look,
    (found) =>
      found === undefined ? Effect.delay(Effect.suspend(() => untilKnown(look)), "1 second") : Effect.succeed(found)
  )

const compareStores = (stores: Stores): Effect.Effect<NameComparison, StorageFailure> =>
  Effect.gen(function*() {
    const { light, names, params, together } = stores
    const { height } = yield* untilKnown(together)
    const { different, names: compared } = yield* compareNames({
      chain: names.scanByPrefix({ prefix: EMPTY }),
      window: Stream.map(light.scan(EMPTY), ({ record }) => record),
      lives: (record) => !isExpired(record, height, params)
    })
    return { names: compared, different: yield* untilKnown(stillDifferent(stores, different)) }
  })

/** Removes the files of a closed light part, or keeps its window for the operator. */
export const removeFiles = (directory: Pick<typeof DataDirectory.Service, "file">, keep: boolean) =>
  Effect.try(() => {
    const window = directory.file(WINDOW)
    // The log of the database is in the file once it is closed.
    if (keep) renameFile({ from: window, to: directory.file(DIFFERENT) })
    removeDatabase(window)
    rmSync(directory.file(PEERS), { force: true })
  }).pipe(
    Effect.catchAll(({ error }) =>
      Effect.logWarning(
        "the files of the light start cannot be removed: delete them, or the next start uses them again",
        {
          file: directory.file(WINDOW),
          reason: error instanceof Error ? error.message : String(error)
        }
      )
    )
  )

const retire = (stop: Effect.Effect<void>, directory: typeof DataDirectory.Service, keep: boolean) =>
  Effect.zipRight(stop, removeFiles(directory, keep))

const differenceNotice = {
  what: DIFFERENT,
  reason: "the names of a light start differed from those of the whole chain, which are right: see the log, keep the " +
    "file for a report, then delete it"
}

interface Handover {
  readonly light: LightNode
  /** Called with the whole chain: the light part may fail from now on. */
  readonly settled: () => void
  readonly stop: Effect.Effect<void>
}

const handover = ({ light, settled, stop }: Handover) =>
  Effect.gen(function*() {
    const stores = yield* storesOf(light)
    const directory = yield* DataDirectory
    const health = yield* DataHealth
    const at = yield* untilKnown(stores.settled)
    settled()
    const result = yield* compareStores(stores).pipe(
      Effect.timeoutOption(PATIENCE),
      Effect.map(Option.match({ onNone: () => "the window stayed behind", onSome: (compared) => compared })),
      Effect.catchIf(({ file }) => file === directory.file(WINDOW), ({ message }) => Effect.succeed(message))
    )
    if (typeof result === "string") {
      lightHandovers.of("not_compared").increase()
      yield* Effect.logWarning("names come from the whole chain: the window was not compared", {
        height: at.height,
        reason: result
      })
      return yield* retire(stop, directory, false)
    }
    const { different, names } = result
    const [first] = different
    if (first === undefined) {
      lightHandovers.of("equal").increase()
      yield* retire(stop, directory, false)
      return yield* Effect.logInfo("names come from the whole chain: the window had the same", {
        height: at.height,
        names
      })
    }
    lightHandovers.of("different").increase()
    yield* Effect.logError("names of the window differ from the whole chain, which answers from now on", {
      height: at.height,
      names,
      different: different.length,
      first: different.slice(0, SHOWN).map(printable)
    })
    yield* retire(stop, directory, true)
    yield* Effect.asVoid(health.notice(differenceNotice))
  }).pipe(Effect.annotateLogs("subsystem", "names"))

const lightLayer = (settings: Settings, filename: string) =>
  Layer.unwrapEffect(Effect.map(Chain, ({ params }) =>
    Light.layer({
      filename,
      pageSize: settings.chain.pageSize,
      verifyThreads: settings.chain.verifyThreads,
      proofs: settings.chain.nameProofs || servesElectrum(settings.electrum),
      params,
      status: {
        offline: settings.peers.maxPeers === 0,
        expectsPeers: settings.peers.maxPeers > 0,
        maxTipAge: settings.chain.maxTipAge
      }
    })))

const make = (settings: Settings) =>
  Effect.gen(function*() {
    const directory = yield* DataDirectory
    const role = yield* lightRole(settings)
    if (existsSync(directory.file(DIFFERENT))) yield* Effect.asVoid((yield* DataHealth).notice(differenceNotice))
    if (role === "none") return NO_LIGHT
    const own = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit))
    const lone = lightLayer(settings, directory.file(WINDOW))
    const { peers } = settings
    const few = { ...settings, peers: { ...peers, maxOutbound: Math.min(peers.maxOutbound, OUTBOUND) } }
    const withPeers = Peers.lightLayer(few, directory.file(PEERS)).pipe(Layer.provideMerge(lone))
    const context = yield* Layer.buildWithScope(role === "stays" ? lone : withPeers, own)
    const light = Context.get(context, Light.Light)
    const { current, hold, stop } = yield* holdLight(light, Scope.close(own, Exit.void))
    let isNeeded = true
    if (role === "start") {
      const settled = (): void => {
        isNeeded = false
      }
      const parts = { chain: yield* Chain, light, sink: yield* ChainSink }
      yield* Effect.forkScoped(withoutSpan(untilKnown(
        Effect.suspend(() => current() === undefined ? Effect.succeed(0) : joinHeaders(parts))
      )))
      yield* Effect.forkScoped(withoutSpan(Effect.catchAll(
        Effect.uninterruptibleMask((restore) =>
          restore(handover({ light, settled, stop: Effect.uninterruptible(stop) }))
        ),
        ({ message }) => Effect.logError("names cannot be compared with the window", { reason: message })
      )))
    }
    return LightPart.of({
      current,
      hold,
      stays: role === "stays",
      failure: Effect.catchAllCause(light.failure, (cause) => isNeeded ? Effect.failCause(cause) : Effect.never)
    })
  }).pipe(Effect.annotateLogs("subsystem", "names"))

export const layer = (settings: Settings) => Layer.scoped(LightPart, make(settings))
