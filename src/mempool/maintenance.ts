import type { TipState } from "../chain/state/TipState.ts"
import { isExpired } from "../consensus/expiry.ts"
import { checkInputs } from "../consensus/inputs.ts"
import { madeNameScripts, nameScripts } from "../consensus/names.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { isFinal } from "../consensus/transaction.ts"
import type { Coin } from "../consensus/view.ts"
import type { Block } from "../protocol/block.ts"
import { type NameKey, nameKey, type TxidKey, txidOf } from "../protocol/keys.ts"
import { NAME_TX_VERSION } from "../protocol/nameOperation.ts"
import { outpointKey, type Transaction } from "../protocol/transaction.ts"
import { meetsRelativeLocks } from "./acceptance.ts"
import type { ClusterLimits } from "./policy/Policy.ts"
import { standardFlags } from "./policy/scriptFlags.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry, RemovalReason } from "./PoolEntry.ts"

/** Removals from the pool when the tip moves (reference/protocol.md 5.6). */

const removeRegistrations = (pool: Pool, transaction: Transaction): void => {
  for (const script of madeNameScripts(transaction)) {
    if (script?.operation.op !== "name_firstupdate") continue
    const other = pool.names.registration(nameKey(script.operation.name))
    if (other !== undefined) pool.removeAll([other], "name-conflict")
  }
}

/**
 * Removes the transactions of a block and conflicting ones: double spends, and registrations of the same name (rule
 * M5). Source: upstream `txmempool.cpp`, `CTxMemPool::removeForBlock`.
 */
export const removeMined = (pool: Pool, { transactions }: Block): void => {
  if (pool.size === 0 && pool.deltas.size === 0) return
  for (const transaction of transactions) {
    pool.remove(transaction.txidKey, "block")
    for (const { prevout } of transaction.inputs) {
      const other = pool.spender(outpointKey(prevout))?.transaction.txidKey
      if (other === undefined) continue
      pool.deltas.delete(other)
      pool.removeAll([other], "conflict")
    }
    if (transaction.version === NAME_TX_VERSION) removeRegistrations(pool, transaction)
    pool.deltas.delete(transaction.txidKey)
  }
}

interface NextRules {
  readonly state: TipState
  readonly params: ConsensusParams
}

/** Whether the name is expired or unregistered for the next block. */
const isFree = (name: NameKey, { params, state: { claim, tip } }: NextRules): boolean => {
  const current = claim(name)
  return current === undefined || isExpired(current, tip.height + 1, params)
}

/** Removes updates of expired names, whose coins are gone (rule M5). */
export const removeExpiredUpdates = (pool: Pool, state: TipState, params: ConsensusParams): void => {
  for (const name of [...pool.names.updatedNames()]) {
    // A registration in the pool means that the name expired long ago, and the updates spend that registration.
    if (pool.names.registration(name) !== undefined || !isFree(name, { state, params })) continue
    pool.removeAll(pool.names.updates(name), "name-conflict")
  }
}

/** The coins that a pool transaction spends; `undefined` if one is missing. */
const coinsOf = (pool: Pool, { inputs }: Transaction, { coin, tip }: TipState): ReadonlyArray<Coin> | undefined => {
  const coins: Array<Coin> = []
  for (const { prevout } of inputs) {
    const key = outpointKey(prevout)
    const found = pool.has(txidOf(key)) ? pool.coin(key, tip.height + 1) : coin(key)
    if (found === undefined) return undefined
    coins.push(found)
  }
  return coins
}

/** Rule M6: a re-registered name cannot be registered, and an unregistered one cannot be updated. */
const namesHold = (pool: Pool, { name }: PoolEntry, next: NextRules): boolean => {
  if (name === undefined || name.script.operation.op === "name_new") return true
  const key = nameKey(name.script.operation.name)
  const free = isFree(key, next)
  return name.script.operation.op === "name_firstupdate"
    ? free
    : !free || pool.names.registration(key) !== undefined
}

/** Why a pool transaction is invalid for the next block and all later ones, if so. */
const fault = (
  pool: Pool,
  entry: PoolEntry,
  next: NextRules
): RemovalReason | undefined => {
  const { params, state } = next
  const { transaction } = entry
  if (!namesHold(pool, entry, next)) return "name-conflict"
  const { tip } = state
  const height = tip.height + 1
  const coins = coinsOf(pool, transaction, state)
  if (coins === undefined || !isFinal(transaction, height, tip.medianTimePast)) return "reorg"
  if (!meetsRelativeLocks(transaction, coins, state)) return "reorg"
  const scripts = nameScripts(transaction, coins)
  const flags = standardFlags(height, params)
  const checked = checkInputs({ transaction, coins, scripts, height, params, flags, claim: state.claim })
  return "reason" in checked ? "reorg" : undefined
}

/**
 * Removes transactions that a reorg made invalid: immature, not final, without their coins, or in conflict with a name.
 * Source: upstream `validation.cpp`, `Chainstate::MaybeUpdateMempoolForReorg`; `names/mempool.cpp`,
 * `removeUnexpireConflicts`.
 */
export const removeInvalid = (pool: Pool, state: TipState, params: ConsensusParams): void => {
  const all = [...pool.entries()].map(({ transaction }) => transaction.txidKey)
  for (const { transaction: { txidKey } } of pool.inOrder(all)) {
    const entry = pool.get(txidKey)
    const reason = entry === undefined ? undefined : fault(pool, entry, { state, params })
    if (reason !== undefined) pool.removeAll([txidKey], reason)
  }
}

/**
 * Removes the worst of a transaction's cluster until it is within the limits, as a transaction that returned from a
 * block may have joined clusters. Source: upstream `CTxMemPool::UpdateTransactionsFromBlock`.
 */
export const trimCluster = (pool: Pool, txid: TxidKey, limits: ClusterLimits): void => {
  while (pool.has(txid)) {
    const { count, weight } = pool.graph.clusterWith([txid])
    if (count <= limits.count && weight <= limits.weight) return
    const last = pool.graph.chunksOf(txid).at(-1)?.keys.at(-1)
    if (last === undefined) return
    pool.removeAll([last], "size-limit")
  }
}
