import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { Chain } from "../../chain/Chain.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import { TxIndex } from "../../chain/TxIndex.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { isSyncing } from "../../light/syncReport.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { Counter } from "../../metrics/families.ts"
import * as LightMetrics from "../../metrics/lightMetrics.ts"
import * as Metrics from "../../metrics/metrics.ts"
import { NameDb } from "../../names/NameDb.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"

/** The metric samples of the node's parts, which each adds to `Samples`. */

/** Hexadecimal digits of a hash that a number holds exactly. */
const DIGITS = 13

/** The end of a block's hash in display order. Its beginning is zeros. */
export const hashNumber = (hash: Bytes): number => Number.parseInt(displayHash(hash).slice(-DIGITS), 16)

/** Counting the names takes at most one part in this many of the time, even while many blocks connect. */
const COUNTING_SHARE = 20

/** Adds the change of an external total, so that several nodes in a process add up. */
const following = (counter: Counter): (total: number) => void => {
  let seen = 0
  return (total) => {
    if (total <= seen) return
    counter.increase(total - seen)
    seen = total
  }
}

export const sampleChain = Effect.map(Chain, (chain) =>
  Effect.gen(function*() {
    const { hash, header, height } = yield* chain.tip
    const { headers } = yield* chain.progress
    Metrics.blockchainHeight.set(height)
    Metrics.blockchainBestHash.set(hashNumber(hash))
    Metrics.blockchainDifficulty.set(difficultyOf(header.bits))
    Metrics.blockchainTipTime.set(header.time)
    Metrics.blockchainHeaders.set(headers)
  }))

/** The optional indexes that are on. */
export const optionalFollowers = Effect.gen(function*() {
  const { follower } = yield* TxIndex
  const { followers } = yield* Indexes
  return follower === undefined ? followers : [follower, ...followers]
})

export const sampleIndexes = Effect.map(
  optionalFollowers,
  (followers) =>
    Effect.forEach(followers, ({ cursor, name }) =>
      cursor.pipe(
        Effect.map((at) => Metrics.indexHeight.of(name).set(at?.height ?? 0)),
        // The index logs and repairs its damage itself.
        Effect.ignore
      ), { discard: true })
)

export const sampleSync = Effect.map(SyncReporter, ({ report }) =>
  Effect.gen(function*() {
    const now = yield* report
    Metrics.blockchainSyncing.set(isSyncing(now) ? 1 : 0)
    LightMetrics.lightActive.set(now.window === undefined ? 0 : 1)
    LightMetrics.lightHeight.set(now.window === undefined ? 0 : now.height)
    LightMetrics.lightBlocks.set(now.window?.blocks ?? 0)
    LightMetrics.lightNames.set(now.window?.names ?? 0)
    LightMetrics.lightUnchecked.set(now.window?.unchecked ?? 0)
  }))

export const sampleNames = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  let notBefore = 0
  return Effect.gen(function*() {
    const started = monotonic()
    if (started < notBefore) return
    const { height } = yield* chain.tip
    const { active, fileSize } = yield* names.stats({ params: chain.params, tipHeight: height })
    Metrics.nameDbNames.set(active)
    Metrics.nameDbSize.set(fileSize)
    const ended = monotonic()
    notBefore = ended + COUNTING_SHARE * (ended - started)
  }).pipe(
    Effect.catchAll(({ message }) => Effect.logWarning("names cannot be counted", { reason: message }))
  )
})

export const samplePeers = Effect.map(PeerManager, (manager) =>
  Effect.gen(function*() {
    const { inbound, outbound } = yield* manager.count
    Metrics.peersConnected.set(inbound + outbound)
  }))

export const sampleTraffic = Effect.map(PeerManager, (manager) => {
  const followReceived = following(Metrics.bytesReceived)
  const followSent = following(Metrics.bytesSent)
  return Effect.map(manager.totals, ({ received, sent }) => {
    followReceived(received)
    followSent(sent)
  })
})

export const sampleMempool = Effect.map(Mempool, (mempool) =>
  Effect.sync(() => {
    const { bytes, size } = mempool.info()
    Metrics.mempoolTransactions.set(size)
    Metrics.mempoolSize.set(bytes)
  }))
