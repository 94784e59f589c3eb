import * as Effect from "effect/Effect"
import { ExpiringNames } from "../alerts/ExpiringNames.ts"
import { unixTime } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import type { HeaderInfo } from "../chain/index/headerInfo.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { Mempool, type MempoolInfo } from "../mempool/Mempool.ts"
import type { PoolEntry } from "../mempool/PoolEntry.ts"
import { noticesOf } from "../names/events/NameEvent.ts"
import { NameDb, type NameStats } from "../names/NameDb.ts"
import type { PeerInfo } from "../network/peerInfo.ts"
import { PeerManager } from "../network/PeerManager.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import type { NameSetting } from "../protocol/nameOperation.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { BlockSummaries, type BlockSummary } from "./BlockSummaries.ts"
import { SyncSpeed } from "./SyncSpeed.ts"
import { statusWords } from "./syncWords.ts"
import type { SyncWords } from "./words.ts"

export interface PendingChange {
  readonly name: Bytes
  readonly op: NameSetting["op"]
  /** Time of arrival, seconds since 1970. */
  readonly time: number
}

export interface ConfirmedChange {
  readonly name: Bytes
  readonly op: NameSetting["op"]
  readonly height: number
  /** Of the block, seconds since 1970. */
  readonly time: number
}

export interface Overview {
  /** Seconds since 1970. */
  readonly now: number
  readonly words: SyncWords
  readonly report: SyncReport
  readonly tip: HeaderInfo
  readonly headers: number
  /** `undefined` while blocks connect too fast to count names after each. */
  readonly names: NameStats | undefined
  readonly mempool: MempoolInfo
  readonly blocks: ReadonlyArray<BlockSummary>
  readonly changes: ReadonlyArray<ConfirmedChange>
  /** The newest unconfirmed operations, and their total number. */
  readonly pending: { readonly newest: ReadonlyArray<PendingChange>; readonly total: number }
  /** The first of the peers. */
  readonly peers: ReadonlyArray<PeerInfo>
  readonly inbound: number
  readonly outbound: number
  /** Names of the loaded wallets and watched names that expire soon, without a renewal that waits; `undefined` without any. */
  readonly expiring: ExpiringSoon | undefined
  readonly traffic: { readonly sent: number; readonly received: number }
}

export interface ExpiringSoon {
  readonly count: number
  /** Whether there are more. */
  readonly more: boolean
  /** Blocks within which they expire. */
  readonly within: number
}

const MOST_COUNTED = 1_000

/** Blocks, operations and peers in the lists. */
const BLOCKS = 10
const CHANGES = 10
const PENDING = 5
const PEERS = 30

/** Blocks that are searched for operations: six hours of a public network. */
const SEARCHED_BLOCKS = 36

/** The operation of an unconfirmed transaction; `undefined` if its name is not revealed yet. */
const pendingOf = ({ name, time }: PoolEntry): PendingChange | undefined => {
  const operation = name?.script.operation
  return operation === undefined || operation.op === "name_new"
    ? undefined
    : { name: operation.name, op: operation.op, time }
}

const pendingIn = (pool: typeof Mempool.Service): Overview["pending"] => {
  const newest: Array<PendingChange> = []
  let total = 0
  for (const entry of pool.entries()) {
    const change = pendingOf(entry)
    if (change === undefined) continue
    total++
    newest.push(change)
    if (newest.length > PENDING) newest.shift()
  }
  return { newest: newest.reverse(), total }
}

const changesIn = (blocks: ReadonlyArray<BlockSummary>): ReadonlyArray<ConfirmedChange> => {
  const changes: Array<ConfirmedChange> = []
  for (const { content, info } of blocks) {
    for (const change of content?.changes ?? []) {
      changes.push({ ...change, height: info.height, time: info.header.time })
      if (changes.length === CHANGES) return changes
    }
  }
  return changes
}

/** Outbound connections first, then the oldest connections. */
const byStanding = (a: PeerInfo, b: PeerInfo): number =>
  Number(a.peer.inbound) - Number(b.peer.inbound) || a.peer.connectedAt - b.peer.connectedAt || a.peer.id - b.peer.id

/** Makes the effect that gathers the overview. It remembers blocks and heights between requests. */
export const makeOverview: Effect.Effect<
  Effect.Effect<Overview, StorageFailure>,
  never,
  Chain | ExpiringNames | NameDb | PeerManager | Mempool | SyncReporter | SyncStatus
> = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  const manager = yield* PeerManager
  const pool = yield* Mempool
  const status = yield* SyncStatus
  const reporter = yield* SyncReporter
  const expiring = yield* ExpiringNames
  const { params } = chain

  // Of the second notice before an expiry: four weeks, or a part of the short life on regtest.
  const [, within = 0] = noticesOf(params)
  const expiringSoon: Effect.Effect<ExpiringSoon | undefined, StorageFailure> = expiring.list({
    blocks: within,
    whose: {
      of: "subjects",
      mine: true,
      watched: true,
      // A renewal that waits for a block is on its way: the owner has nothing to do.
      wants: ({ name }) => pool.pending(nameKey(name)).length === 0
    },
    limit: MOST_COUNTED
  }).pipe(
    Effect.map(({ names, next }) =>
      names.length === 0 ? undefined : { count: names.length, more: next !== undefined, within }
    ),
    Effect.catchTag("WrongQuery", () => Effect.succeed(undefined))
  )

  const summaries = new BlockSummaries(chain)
  const speed = new SyncSpeed({ at: performance.now(), height: (yield* chain.tip).height })

  return Effect.gen(function*() {
    const now = yield* unixTime
    const tip = yield* chain.tip
    const best = yield* chain.headerTip
    const { behind, importing } = yield* chain.progress
    const { inbound, outbound } = yield* manager.count
    const all = yield* manager.peers
    const syncing = yield* status.syncing
    const report = yield* reporter.report
    const words = statusWords({
      now,
      height: tip.height,
      headers: best.height,
      tipTime: tip.header.time,
      headerTime: best.header.time,
      syncing,
      loading: yield* status.loading,
      importing,
      peers: inbound + outbound,
      active: yield* manager.active,
      offline: yield* status.offline,
      report,
      speed: speed.note({ at: performance.now(), height: tip.height }),
      spacing: params.targetSpacing,
      onDemand: params.noRetargeting
    })
    const moving = behind || importing !== undefined
    const blocks = yield* summaries.newest(tip.height, BLOCKS)
    const recent = changesIn(blocks)
    // Many blocks are read only if they will still be the last ones at the next request.
    const searched = recent.length < CHANGES && !moving
      ? changesIn(yield* summaries.newest(tip.height, SEARCHED_BLOCKS))
      : recent
    return {
      now,
      words,
      report,
      tip,
      headers: best.height,
      names: moving ? undefined : yield* names.stats({ params, tipHeight: tip.height }),
      mempool: pool.info(),
      blocks,
      changes: searched,
      pending: pendingIn(pool),
      expiring: moving || report.window !== undefined ? undefined : yield* expiringSoon,
      peers: [...all].sort(byStanding).slice(0, PEERS),
      inbound,
      outbound,
      traffic: yield* manager.totals
    }
  })
})
