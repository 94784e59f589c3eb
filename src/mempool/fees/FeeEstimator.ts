import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { readFileSync, statSync } from "node:fs"
import { replaceFileNow } from "../../base/atomicFile.ts"
import { CHECKSUM_MISMATCH, checksummed, checkText } from "../../base/checksum.ts"
import { unixTime } from "../../base/clock.ts"
import { codeOf } from "../../base/errorCode.ts"
import { attempt } from "../../chain/attempt.ts"
import { Chain } from "../../chain/Chain.ts"
import type { ChainEvent } from "../../chain/ChainEvent.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import { guarded } from "../../storage/Database.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { Mempool } from "../Mempool.ts"
import type { MempoolEvent, PoolEntry } from "../PoolEntry.ts"
import { FeeHistory, type FeeMode, type RawEstimate, SavedFees, type SmartEstimate } from "./FeeHistory.ts"
import { type FeeTarget, type HorizonName, HORIZONS } from "./FeeHorizon.ts"

/** The file that keeps a fee history across restarts: JSON, one object. */

/** Many times the size of the largest history. */
const MAX_BYTES = 8 * 1024 * 1024

/** Seconds until a file no longer applies to current fees: 60 hours (upstream `MAX_FILE_AGE`). */
const MAX_AGE = 60 * 3600

const FileContent = Schema.Struct({
  /** Covers the fee rate ranges and horizons too, as counts are valid only for these. */
  version: Schema.Literal(1),
  /** When it was written, seconds since 1970. */
  time: Schema.NonNegativeInt,
  fees: SavedFees
})

const decode = Schema.decodeUnknownEither(Schema.parseJson(FileContent))

type FeeFileRead =
  | { readonly type: "read"; readonly history: FeeHistory }
  | { readonly type: "none" }
  /** Too old to be used. */
  | { readonly type: "old"; readonly hours: number }
  | { readonly type: "damaged"; readonly reason: string }

const REMEDY = "Delete the file: the node learns fees again"

const readText = (filename: string): string | undefined => {
  try {
    return statSync(filename).size > MAX_BYTES ? "" : readFileSync(filename, "utf8")
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined
    throw cause
  }
}

/** Reads a file. `now` is in seconds since 1970. Throws `StorageFailure` for an unreadable file. */
const readFeeFile = (filename: string, now: number): FeeFileRead => {
  const whole = guarded({ file: filename, doing: "reading", remedy: REMEDY }, () => readText(filename))
  if (whole === undefined) return { type: "none" }
  const { checksum, text } = checkText(whole)
  if (checksum === "wrong") return { type: "damaged", reason: CHECKSUM_MISMATCH }
  const content = decode(text)
  // The decoder's message would quote the content of the file.
  if (content._tag === "Left") return { type: "damaged", reason: "it is not a fee history" }
  const { fees, time } = content.right
  if (now - time > MAX_AGE) return { type: "old", hours: Math.floor((now - time) / 3600) }
  const history = FeeHistory.fromJSON(fees)
  return history instanceof FeeHistory ? { type: "read", history } : { type: "damaged", reason: history.fault }
}

/** Replaces the file atomically. Throws `StorageFailure`. */
const writeFeeFile = (filename: string, history: FeeHistory, now: number): void => {
  const content: typeof FileContent.Type = { version: 1, time: Math.max(0, Math.floor(now)), fees: history.toJSON() }
  guarded(
    { file: filename, doing: "writing", remedy: REMEDY },
    () => replaceFileNow(filename, checksummed(`${JSON.stringify(content)}\n`))
  )
}

/** Estimates fee rates from arrivals in the mempool and the time until they are mined. */
export class FeeEstimator extends Context.Tag("svcd/FeeEstimator")<FeeEstimator, {
  /** Whether this node does not learn fees, because it takes no transactions from peers. */
  readonly isOff: boolean
  /** The fee rate for a transaction to be mined within so many blocks, 1 to `HIGHEST_TARGET`. */
  readonly estimateSmart: (target: number, mode: FeeMode) => SmartEstimate
  /** The fee rate at which a share of `threshold` was mined within the target; `undefined` out of range. */
  readonly estimateRaw: (horizon: HorizonName, wanted: FeeTarget) => RawEstimate | undefined
  readonly save: Effect.Effect<void, StorageFailure>
}>() {}

export interface FeeEstimatorOptions {
  /** Where the history is kept across restarts, if at all. */
  readonly filename: string | undefined
}

export const HIGHEST_TARGET = HORIZONS.long.scale * HORIZONS.long.periods

const SAVE_INTERVAL = "1 hour"

/** Maximum age of the tip in seconds for observing fees. Upstream `validation.h`, `MAX_FEE_ESTIMATION_TIP_AGE`. */
const MAX_TIP_AGE = 3 * 3600

/** Mined transactions to remember: as many as a deep reorg may return to the mempool. */
const MAX_MINED = 20_000

const load = (filename: string | undefined): Effect.Effect<FeeHistory> =>
  Effect.gen(function*() {
    if (filename === undefined) return new FeeHistory()
    const now = yield* unixTime
    const found = yield* attempt(() => readFeeFile(filename, now))
    if (found.type === "read") return found.history
    if (found.type === "old") {
      yield* Effect.logInfo("fee estimates are too old: not used", { filename, hours: found.hours })
    }
    if (found.type === "damaged") {
      yield* Effect.logWarning("fee estimates are damaged: starting without them", { filename, reason: found.reason })
    }
    return new FeeHistory()
  }).pipe(
    Effect.catchAll((failure) =>
      Effect.as(
        Effect.logWarning("fee estimates cannot be read: starting without them", { reason: failure.message }),
        new FeeHistory()
      )
    )
  )

const estimates = (history: FeeHistory): Pick<typeof FeeEstimator.Service, "estimateRaw" | "estimateSmart"> => ({
  estimateSmart: (target, mode) => history.estimateSmart(target, mode),
  estimateRaw: (horizon, wanted) => history.estimateRaw(horizon, wanted)
})

const make = (
  options: FeeEstimatorOptions
): Effect.Effect<Context.Tag.Service<FeeEstimator>, never, Chain | Mempool | SyncStatus | Scope.Scope> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const blocks = yield* chain.subscription
    const pool = yield* Mempool
    const status = yield* SyncStatus
    const { filename } = options
    const history = yield* load(filename)
    /** Mined transactions, oldest first. A reorg returns them to the mempool, where they are not new. */
    const mined = new Set<TxidKey>()
    /** Arrived at a newer tip than the last counted block, before the event of that block. */
    const early = new Map<TxidKey, PoolEntry>()

    const save = filename === undefined
      ? Effect.void
      : Effect.flatMap(unixTime, (now) => attempt(() => writeFeeFile(filename, history, now)))

    const saveOrSay = Effect.catchAll(
      save,
      (failure) => Effect.logWarning("fee estimates could not be saved", { reason: failure.message })
    )

    /** Whether the node sees transactions and blocks live. Upstream `validation.cpp`, `IsCurrentForFeeEstimation`. */
    const isCurrent = Effect.gen(function*() {
      if (yield* status.initialDownload) return false
      const { headers, tip: { height } } = yield* chain.progress
      const { header } = yield* chain.tip
      return height >= headers - 1 && header.time >= (yield* unixTime) - MAX_TIP_AGE
    })

    const enter = (key: TxidKey, { fee, height, vsize }: PoolEntry): void =>
      history.entered(key, { fee, vsize, height, validForEstimation: true })

    const added = (entry: PoolEntry): Effect.Effect<void> =>
      Effect.gen(function*() {
        const key = entry.transaction.txidKey
        if (entry.inPackage === true || mined.has(key) || pool.parents(key).length > 0 || !(yield* isCurrent)) return
        if (entry.height === history.bestHeight + 1) early.set(key, entry)
        else enter(key, entry)
      })

    const removed = (key: TxidKey, byBlock: boolean): void => {
      early.delete(key)
      if (!byBlock) return history.left(key)
      mined.add(key)
      for (const oldest of mined) {
        if (mined.size <= MAX_MINED) break
        mined.delete(oldest)
      }
    }

    /** The transactions of a block, from the block itself: mempool events may arrive before or after it. */
    const keysOf = (block: Cursor): Effect.Effect<ReadonlyArray<TxidKey>> =>
      Effect.suspend(() => {
        if (history.size === 0) return Effect.succeed([])
        return chain.block(block.hash).pipe(
          Effect.map(({ transactions }) => transactions.map(({ txidKey }) => txidKey)),
          Effect.catchAll((failure) =>
            Effect.as(Effect.logWarning("fee estimation skipped a missing block", { reason: failure.message }), [])
          )
        )
      })

    const connected = (block: Cursor): Effect.Effect<void> =>
      Effect.map(keysOf(block), (keys) => {
        history.blockConnected(block.height, keys)
        for (const [key, entry] of early) enter(key, entry)
        early.clear()
      })

    const learn = (event: MempoolEvent | ChainEvent): Effect.Effect<void> => {
      switch (event._tag) {
        case "Added":
          return added(event.entry)
        case "Removed":
          return Effect.sync(() => removed(event.entry.transaction.txidKey, event.reason === "block"))
        case "BlockConnected":
          return connected(event.block)
        case "BlockDisconnected":
          return Effect.void
      }
    }

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        history.leaveAll()
        return saveOrSay
      })
    )
    yield* Effect.forkScoped(Stream.runForEach(Stream.merge(pool.events, blocks), learn))
    yield* Effect.forkScoped(Effect.schedule(saveOrSay, Schedule.spaced(SAVE_INTERVAL)))

    return FeeEstimator.of({ isOff: false, ...estimates(history), save })
  }).pipe(Effect.annotateLogs("subsystem", "mempool"))

export const layer = (
  options: FeeEstimatorOptions
): Layer.Layer<FeeEstimator, never, Chain | Mempool | SyncStatus> => Layer.scoped(FeeEstimator, make(options))

/** For a node that takes no transactions from peers and so learns nothing about fees. */
export const layerWithoutEstimates: Layer.Layer<FeeEstimator> = Layer.sync(
  FeeEstimator,
  () => FeeEstimator.of({ isOff: true, ...estimates(new FeeHistory()), save: Effect.void })
)
