import * as Effect from "effect/Effect"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import {
  DOWNLOADING,
  GETMEMPOOLANCESTORS,
  GETMEMPOOLCLUSTER,
  GETMEMPOOLDESCENDANTS,
  GETMEMPOOLENTRY,
  GETMEMPOOLFEERATEDIAGRAM,
  GETMEMPOOLINFO,
  GETRAWMEMPOOL,
  IMPORTMEMPOOL,
  SAVEMEMPOOL,
  UNUSABLE
} from "../contract/mempool/mempool.ts"
import { lazily, LazyMap } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { clusterJson, diagramJson, displayTxid, mempoolInfoJson, poolEntryJson } from "../shapes/mempool.ts"

/** reference/rpc.md 3.6, 3.10. */

type Pool = typeof Mempool.Service

const entryOf = (pool: Pool, txid: Bytes): Effect.Effect<PoolEntry, RpcError> => {
  const entry = pool.get(txidKey(txid))
  return entry === undefined ? RpcError.invalidAddressOrKey("Transaction not in mempool") : Effect.succeed(entry)
}

const txidsOf = (entries: Iterable<PoolEntry>) => Array.from(entries, displayTxid)

/** Omits transactions that left the pool since the call began, as their relatives are unknown. */
const entriesOf = (pool: Pool, entries: Iterable<PoolEntry>) =>
  new LazyMap(lazily([...entries], (entry) =>
    pool.get(entry.transaction.txidKey) === entry
      ? [displayTxid(entry), poolEntryJson(pool, entry)] as const
      : undefined))

const listOf = (pool: Pool, entries: Iterable<PoolEntry>, verbose: boolean) =>
  verbose ? entriesOf(pool, entries) : txidsOf(entries)

export const mempoolMethods: Methods<Mempool> = Effect.map(Mempool, (pool) => {
  const getmempoolinfo = method(GETMEMPOOLINFO, () => Effect.sync(() => mempoolInfoJson(pool.info(), pool.policy)))

  const getrawmempool = method(GETRAWMEMPOOL, ({ mempool_sequence, verbose }) =>
    Effect.suspend(() => {
      if (verbose && mempool_sequence) {
        return RpcError.invalidParameter("Verbose results cannot contain mempool sequence values.")
      }
      const entries = pool.entries()
      return Effect.succeed(
        mempool_sequence
          ? { txids: txidsOf(entries), mempool_sequence: pool.info().sequence }
          : listOf(pool, entries, verbose)
      )
    }))

  const getmempoolentry = method(
    GETMEMPOOLENTRY,
    ({ txid }) => Effect.map(entryOf(pool, txid), (entry) => poolEntryJson(pool, entry))
  )

  const getmempoolancestors = method(GETMEMPOOLANCESTORS, ({ txid, verbose }) =>
    Effect.map(
      entryOf(pool, txid),
      ({ transaction }) => listOf(pool, pool.ancestors(transaction.txidKey), verbose)
    ))

  const getmempooldescendants = method(GETMEMPOOLDESCENDANTS, ({ txid, verbose }) =>
    Effect.map(
      entryOf(pool, txid),
      ({ transaction }) => listOf(pool, pool.descendants(transaction.txidKey), verbose)
    ))

  const getmempoolcluster = method(
    GETMEMPOOLCLUSTER,
    ({ txid }) => Effect.map(entryOf(pool, txid), ({ transaction }) => clusterJson(pool.cluster(transaction.txidKey)))
  )

  const savemempool = method(SAVEMEMPOOL, () =>
    Effect.suspend(() => {
      if (!pool.info().loaded) return RpcError.misc("The mempool was not loaded yet")
      return pool.save.pipe(
        Effect.map((filename) => ({ filename })),
        Effect.tapError((failure) => Effect.logError("the mempool cannot be saved", { reason: failure.message })),
        Effect.mapError(() => RpcError.misc("Unable to dump mempool to disk"))
      )
    }))

  const getmempoolfeeratediagram = method(GETMEMPOOLFEERATEDIAGRAM, () => Effect.sync(() => diagramJson(pool.chunks())))

  return [
    getmempoolinfo,
    getrawmempool,
    getmempoolentry,
    getmempoolancestors,
    getmempooldescendants,
    getmempoolcluster,
    savemempool,
    getmempoolfeeratediagram
  ]
})

/** reference/rpc.md 3.6. */

export const mempoolFileMethods: Methods<Mempool | SyncStatus> = Effect.gen(function*() {
  const pool = yield* Mempool
  const status = yield* SyncStatus

  const importmempool = method(IMPORTMEMPOOL, ({ filepath, options }) =>
    Effect.gen(function*() {
      if (yield* status.initialDownload) {
        return yield* new RpcError({ code: RPC_CODE.initialDownload, message: DOWNLOADING })
      }
      yield* pool.importFrom(filepath, {
        useCurrentTime: options.use_current_time,
        applyDeltas: options.apply_fee_delta_priority,
        applyUnbroadcast: options.apply_unbroadcast_set
      }).pipe(
        Effect.tapError(({ message }) => Effect.logError("a mempool file cannot be imported", { reason: message })),
        Effect.mapError(() => RpcError.misc(UNUSABLE))
      )
      return {}
    }))

  return [importmempool]
})
