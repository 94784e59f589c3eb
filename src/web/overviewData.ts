import * as Effect from "effect/Effect"
import { ExpiringNames } from "../alerts/ExpiringNames.ts"
import { unixTime } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import type { HeaderInfo } from "../chain/index/headerInfo.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { NameAnswers } from "../light/NameAnswers.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { Mempool, type MempoolInfo } from "../mempool/Mempool.ts"
import type { PoolEntry } from "../mempool/PoolEntry.ts"
import { newestOperations } from "../names/events/blockOperations.ts"
import { noticesOf } from "../names/events/NameEvent.ts"
import { NameDb, type NameStats } from "../names/NameDb.ts"
import type { PeerInfo } from "../network/peerInfo.ts"
import { PeerManager } from "../network/PeerManager.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import { operationWord } from "../protocol/operationWord.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type Deeds, makeDeeds } from "./deeds.ts"
import { type ListedBlock, makeBlockReader } from "./explorer/blocksData.ts"
import { SyncSpeed } from "./SyncSpeed.ts"
import { statusWords } from "./syncWords.ts"
import type { SyncWords } from "./words.ts"

export interface PendingChange {
  readonly name: Bytes
  readonly word: string
  /** Time of arrival, seconds since 1970. */
  readonly time: number
}

export interface ConfirmedChange {
  readonly name: Bytes
  readonly word: string
  readonly height: number
  /** Of the block, seconds since 1970; `undefined` if it was disconnected meanwhile. */
  readonly time: number | undefined
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
  readonly blocks: ReadonlyArray<ListedBlock>
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

/** The newest waiting operations on names that are revealed, and the number of all. */
const pendingIn = (
  pool: typeof Mempool.Service
): { readonly newest: ReadonlyArray<PoolEntry>; readonly total: number } => {
  const newest: Array<PoolEntry> = []
  let total = 0
  for (const entry of pool.entries()) {
    const op = entry.name?.script.operation.op
    if (op === undefined || op === "name_new") continue
    total++
    newest.push(entry)
    if (newest.length > PENDING) newest.shift()
  }
  return { newest: newest.reverse(), total }
}

const pendingChange = (deeds: Deeds) => (entry: PoolEntry): Effect.Effect<ReadonlyArray<PendingChange>> =>
  Effect.map(deeds.waiting(entry), (worded) => {
    const { operation, word } = worded ?? {}
    return operation === undefined || operation.op === "name_new" || word === undefined
      ? []
      : [{ name: operation.name, word, time: entry.time }]
  })

/** Outbound connections first, then the oldest connections. */
const byStanding = (a: PeerInfo, b: PeerInfo): number =>
  Number(a.peer.inbound) - Number(b.peer.inbound) || a.peer.connectedAt - b.peer.connectedAt || a.peer.id - b.peer.id

/** Makes the effect that gathers the overview. It remembers blocks and heights between requests. */
export const makeOverview: Effect.Effect<
  Effect.Effect<Overview, StorageFailure>,
  never,
  Chain | ExpiringNames | NameAnswers | NameDb | PeerManager | Mempool | SyncReporter | SyncStatus
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

  const deeds = yield* makeDeeds
  const blocksFrom = yield* makeBlockReader
  const speed = new SyncSpeed({ at: performance.now(), height: (yield* chain.tip).height })

  const changes: Effect.Effect<ReadonlyArray<ConfirmedChange>, StorageFailure> = Effect.gen(function*() {
    const found = yield* names.readLog((log) => newestOperations(log, { blocks: SEARCHED_BLOCKS, limit: CHANGES }))
    return yield* Effect.forEach(found, ({ before, record }) =>
      Effect.map(chain.headerAt(record.height), (info) => ({
        name: record.name,
        word: operationWord(params.network, record, before),
        height: record.height,
        time: info?.header.time
      })))
  })

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
    const waiting = pendingIn(pool)
    const pending = yield* Effect.forEach(waiting.newest, pendingChange(deeds))
    return {
      now,
      words,
      report,
      tip,
      headers: best.height,
      names: moving ? undefined : yield* names.stats({ params, tipHeight: tip.height }),
      mempool: pool.info(),
      blocks: yield* blocksFrom(tip.height, BLOCKS),
      changes: yield* changes,
      pending: { newest: pending.flat(), total: waiting.total },
      expiring: moving || report.window !== undefined ? undefined : yield* expiringSoon,
      peers: [...all].sort(byStanding).slice(0, PEERS),
      inbound,
      outbound,
      traffic: yield* manager.totals
    }
  })
})
