import type { TipState } from "../chain/state/TipState.ts"
import { checkInputs } from "../consensus/inputs.ts"
import { madeNameScripts, nameScripts } from "../consensus/names.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { transactionSigopCost } from "../consensus/sigops.ts"
import { checkTransaction, isFinal, meetsLocks, sequenceLocks } from "../consensus/transaction.ts"
import type { Coin } from "../consensus/view.ts"
import { type TxidKey, txidOf, wtxidKey } from "../protocol/keys.ts"
import { outpoint, outpointKey, type Transaction } from "../protocol/transaction.ts"
import { TransactionRejected } from "./errors.ts"
import { ownBytes } from "./memoryUsage.ts"
import { checkDustFee, checkDustSpent } from "./policy/dust.ts"
import { compareRates, feeOf, KVB, policyWeight, virtualSize } from "./policy/feeRate.ts"
import { MAX_STANDARD_SIGOP_COST } from "./policy/limits.ts"
import type { Policy } from "./policy/Policy.ts"
import { fitsCluster, planReplacement } from "./policy/replacement.ts"
import { standardFlags } from "./policy/scriptFlags.ts"
import { checkSize, checkStandard } from "./policy/standard.ts"
import { checkStandardInputs, checkStandardWitness } from "./policy/standardInputs.ts"
import { checkTruc } from "./policy/truc.ts"
import { outputCoin, type Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"
import { refuse, refuseByRule } from "./refusal.ts"

// Checks a transaction except for its scripts, in the order of reference/protocol.md 5.5, so that invalid ones from
// peers cost little. Changes nothing. Reading coins throws `StorageFailure`. Source: upstream `validation.cpp`,
// `MemPoolAccept::PreChecks`, `AcceptSingleTransactionInternal`.

/** What a transaction is checked against besides the pool. */
export interface AcceptanceContext {
  readonly state: TipState
  readonly params: ConsensusParams
  readonly policy: Policy
  /** The rolling minimum fee rate since the pool was full, smallest units per kvB. */
  readonly poolFeeRate: number
  /** Time of arrival: seconds since 1970. */
  readonly time: number
  /**
   * - `offered`: must pay for itself, and may replace others.
   * - `tested`: is tested with others, must pay for itself, and may not replace any.
   * - `package`: is offered with others that pay for it, and may replace some together with them.
   * - `mined`: was in a block, so no fee is required.
   */
  readonly origin: "offered" | "tested" | "package" | "mined"
  /** Transactions before it in the same package, by txid. */
  readonly before: ReadonlyMap<TxidKey, Transaction>
  /** A higher fee rate is refused as the caller's mistake, smallest units per kvB; `undefined` for no limit. */
  readonly maxFeeRate: number | undefined
  /** Whether it arrives in a package, though it may be accepted alone. */
  readonly inPackage: boolean
}

/** A transaction to accept once its scripts are checked. */
export interface AcceptancePlan {
  readonly entry: PoolEntry
  readonly coins: ReadonlyArray<Coin>
  /** Pool transactions that spend the same outpoints. */
  readonly conflicts: ReadonlySet<TxidKey>
  /** The transactions that it replaces, with their descendants. Empty in a package, which replaces as a whole. */
  readonly replaced: ReadonlyArray<PoolEntry>
}

const checkForm = (transaction: Transaction, { policy, state }: AcceptanceContext): TransactionRejected | undefined => {
  const broken = checkTransaction(transaction)
  if (broken !== undefined) return refuseByRule(transaction, broken)
  if (transaction.isCoinbase) return refuse(transaction, "consensus", { reason: "coinbase" })
  const odd = (policy.requireStandard ? checkStandard(transaction, policy) : undefined) ?? checkSize(transaction)
  if (odd !== undefined) return refuse(transaction, "policy", odd)
  const { height, medianTimePast } = state.tip
  return isFinal(transaction, height + 1, medianTimePast)
    ? undefined
    : refuse(transaction, "premature", { reason: "non-final" })
}

const findConflicts = (
  pool: Pool,
  transaction: Transaction,
  { origin }: AcceptanceContext
): ReadonlySet<TxidKey> | TransactionRejected => {
  if (pool.getByWtxid(wtxidKey(transaction.wtxid)) !== undefined) {
    return refuse(transaction, "conflict", { reason: "txn-already-in-mempool" })
  }
  if (pool.has(transaction.txidKey)) {
    return refuse(transaction, "conflict", { reason: "txn-same-nonwitness-data-in-mempool" })
  }
  const conflicts = new Set<TxidKey>()
  for (const { prevout } of transaction.inputs) {
    const spender = pool.spender(outpointKey(prevout))
    if (spender === undefined) continue
    if (origin === "tested") return refuse(transaction, "policy", { reason: "bip125-replacement-disallowed" })
    conflicts.add(spender.transaction.txidKey)
  }
  return conflicts
}

const findCoins = (
  pool: Pool,
  transaction: Transaction,
  { before, state }: AcceptanceContext
): ReadonlyArray<Coin> | TransactionRejected => {
  const { coin: confirmed, tip } = state
  const coins: Array<Coin> = []
  for (const { prevout } of transaction.inputs) {
    const key = outpointKey(prevout)
    const txid = txidOf(key)
    const coin = before.has(txid)
      ? outputCoin(before.get(txid), key, tip.height + 1)
      : pool.has(txid)
      ? pool.coin(key, tip.height + 1)
      : confirmed(key)
    if (coin === undefined) return refuseMissing(transaction, state)
    coins.push(coin)
  }
  return coins
}

/** A transaction with missing inputs may be confirmed already. */
const refuseMissing = (transaction: Transaction, { coin }: TipState): TransactionRejected => {
  for (let i = 0; i < transaction.outputs.length; i++) {
    if (coin(outpointKey(outpoint(transaction.txid, i))) !== undefined) {
      return refuse(transaction, "conflict", { reason: "txn-already-known" })
    }
  }
  return refuse(transaction, "missing-inputs", { reason: "bad-txns-inputs-missingorspent" })
}

/** Whether relative locks allow a transaction in the next block. The mempool always enforces BIP 68. */
export const meetsRelativeLocks = (
  transaction: Transaction,
  coins: ReadonlyArray<Coin>,
  { medianTimePastAt, tip }: TipState
): boolean => meetsLocks(sequenceLocks(transaction, coins, medianTimePastAt), tip.height + 1, tip.medianTimePast)

/** Checks inputs, name rules and standardness, and computes fee, weight and sigop cost. */
const weigh = (
  pool: Pool,
  { coins, transaction }: { readonly transaction: Transaction; readonly coins: ReadonlyArray<Coin> },
  { inPackage, origin, params, policy, state, time }: AcceptanceContext
): PoolEntry | TransactionRejected => {
  if (!meetsRelativeLocks(transaction, coins, state)) {
    return refuse(transaction, "premature", { reason: "non-BIP68-final" })
  }
  const height = state.tip.height + 1
  const flags = standardFlags(height, params)
  const scripts = nameScripts(transaction, coins)
  const paid = checkInputs({ transaction, coins, scripts, height, params, flags, claim: state.claim })
  if ("reason" in paid) return refuseByRule(transaction, paid)
  if (policy.requireStandard) {
    const odd = checkStandardInputs(transaction, coins)
    if (odd !== undefined) return refuse(transaction, "policy", odd)
    const witness = checkStandardWitness(transaction, coins)
    if (witness !== undefined) return refuse(transaction, "witness", witness)
  }
  const sigopCost = transactionSigopCost(transaction, { coins, flags, spent: scripts.spent })
  const weight = policyWeight(transaction, { cost: sigopCost, weightPerCost: policy.weightPerSigopCost })
  const vout = scripts.made.findIndex((script) => script !== undefined)
  const script = scripts.made[vout]
  return {
    transaction,
    fee: paid.fee,
    modifiedFee: paid.fee + (pool.deltas.get(transaction.txidKey) ?? 0),
    weight,
    vsize: virtualSize(weight),
    sigopCost,
    time,
    height: state.tip.height,
    // A transaction from a block counts as older than all waiting ones.
    sequence: origin === "mined" ? 0 : pool.sequence,
    inPackage,
    name: script === undefined ? undefined : { vout, script }
  }
}

/** Whether a transaction, or the package it ends, pays what the pool requires now. */
export const checkFeeRate = (
  { transaction }: PoolEntry,
  { modifiedFee, vsize }: Pick<PoolEntry, "modifiedFee" | "vsize">,
  { policy, poolFeeRate }: AcceptanceContext
): TransactionRejected | undefined => {
  const asked = feeOf(poolFeeRate, vsize)
  // While the rolling minimum is 0, the minimum relay fee refuses fees below 0.
  if (asked > 0 && modifiedFee < asked) {
    return refuse(transaction, "underpaid", { reason: "mempool min fee not met", detail: `${modifiedFee} < ${asked}` })
  }
  const relay = feeOf(policy.minRelayFeeRate, vsize)
  return modifiedFee < relay
    ? refuse(transaction, "underpaid", { reason: "min relay fee not met", detail: `${modifiedFee} < ${relay}` })
    : undefined
}

/** Checks the dust rule, the limit of signature operations, and the fee rates. */
const checkPayment = (entry: PoolEntry, context: AcceptanceContext): TransactionRejected | undefined => {
  const { origin, policy } = context
  const { sigopCost, transaction } = entry
  const dust = policy.requireStandard ? checkDustFee(entry, policy.dustFeeRate) : undefined
  if (dust !== undefined) return refuse(transaction, "policy", dust)
  if (sigopCost > MAX_STANDARD_SIGOP_COST) {
    return refuse(transaction, "policy", { reason: "bad-txns-too-many-sigops", detail: String(sigopCost) })
  }
  return origin === "mined" || origin === "package" ? undefined : checkFeeRate(entry, entry, context)
}

const checkMistake = (
  { modifiedFee, transaction, vsize }: PoolEntry,
  { maxFeeRate }: AcceptanceContext
): TransactionRejected | undefined => {
  if (maxFeeRate === undefined) return undefined
  const order = compareRates({ fee: modifiedFee, weight: vsize }, { fee: maxFeeRate, weight: KVB })
  return order > 0 ? refuse(transaction, "policy", { reason: "max feerate exceeded" }) : undefined
}

/** A transaction and the pool transactions that spend the same outpoints. */
interface Rival {
  readonly entry: PoolEntry
  readonly conflicts: ReadonlySet<TxidKey>
}

const findReplaced = (
  pool: Pool,
  { conflicts, entry }: Rival,
  { origin, policy }: AcceptanceContext
): ReadonlyArray<PoolEntry> | TransactionRejected => {
  const { transaction } = entry
  const truc = origin === "mined" ? undefined : checkTruc(pool, entry, conflicts)
  const sibling = origin === "offered" ? truc?.sibling?.transaction.txidKey : undefined
  if (truc !== undefined && sibling === undefined) {
    return refuse(transaction, "policy", { reason: "TRUC-violation", detail: truc.detail })
  }
  if (origin === "tested" || origin === "package") return []
  const leaving = sibling === undefined ? conflicts : new Set([...conflicts, sibling])
  if (leaving.size > 0) return planReplacement(pool, entry, { leaving, evictsSibling: sibling !== undefined, policy })
  return fitsCluster(pool, entry, { without: leaving, limits: policy.cluster })
    ? []
    : refuse(transaction, "policy", { reason: "too-large-cluster" })
}

/** Checks a transaction against the pool. Returns the entries that it replaces. */
const relate = (
  pool: Pool,
  rival: Rival,
  context: AcceptanceContext
): ReadonlyArray<PoolEntry> | TransactionRejected => {
  const { origin, policy } = context
  const { entry } = rival
  const { transaction } = entry
  const replaced = findReplaced(pool, rival, context)
  if (replaced instanceof TransactionRejected || origin === "mined") return replaced
  const mistake = checkMistake(entry, context)
  if (mistake !== undefined) return mistake
  if (origin !== "offered" || !policy.requireStandard) return replaced
  const parents = pool.inOrder(pool.parentsOf(transaction)).map((parent) => parent.transaction)
  const unspent = checkDustSpent(transaction, parents, policy.dustFeeRate)
  return unspent === undefined ? replaced : refuse(transaction, "policy", unspent)
}

export const planAcceptance = (
  pool: Pool,
  offered: Transaction,
  context: AcceptanceContext
): AcceptancePlan | TransactionRejected => {
  const malformed = checkForm(offered, context)
  if (malformed !== undefined) return malformed
  const conflicts = findConflicts(pool, offered, context)
  if (conflicts instanceof TransactionRejected) return conflicts
  if (pool.names.refuses(offered, madeNameScripts(offered))) {
    return refuse(offered, "conflict", { reason: "txn-mempool-name-error" })
  }
  const coins = findCoins(pool, offered, context)
  if (coins instanceof TransactionRejected) return coins
  const entry = weigh(pool, { transaction: ownBytes(offered), coins }, context)
  if (entry instanceof TransactionRejected) return entry
  const unpaid = checkPayment(entry, context)
  if (unpaid !== undefined) return unpaid
  const replaced = relate(pool, { entry, conflicts }, context)
  return replaced instanceof TransactionRejected ? replaced : { entry, coins, conflicts, replaced }
}
