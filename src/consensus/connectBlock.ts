import { isMoney } from "../protocol/amount.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, displayHash, EMPTY } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey, type OutpointKey, txidKey } from "../protocol/keys.ts"
import type { NameScript } from "../protocol/nameOperation.ts"
import { isUnspendable } from "../protocol/script.ts"
import {
  outpoint,
  outpointKey,
  outpointText,
  prevoutIndex,
  prevoutTxid,
  totalValue,
  type Transaction
} from "../protocol/transaction.ts"
import { BlockOverlay } from "./BlockOverlay.ts"
import { expiredClaims, expireNames } from "./expireNames.ts"
import { checkInputs } from "./inputs.ts"
import { addNameEffects, ignoresNameOutputs, madeNameScripts, nameScripts } from "./names.ts"
import { type ConsensusParams, MAX_BLOCK_SIGOPS_COST } from "./params.ts"
import { type Reject, reject } from "./Reject.ts"
import { transactionSigopCost } from "./sigops.ts"
import { blockSubsidy } from "./subsidy.ts"
import { meetsLocks, sequenceLocks } from "./transaction.ts"
import type { BlockDelta, ChainView, Coin, NameClaim, NameEffect, ScriptCheck } from "./view.ts"

/** The block must have passed `checkBlock` and `checkBlockContext`. */
export interface BlockConnection {
  readonly block: Block
  readonly height: Height
  readonly params: ConsensusParams
  readonly flags: number
  readonly view: ChainView
  /** Median time past of the previous block. */
  readonly medianTimePast: number
  /** Median time past of a block of this branch, at most at the height of the previous block. */
  readonly medianTimePastAt: (height: Height) => number
  /** Whether to check scripts. If not, `scripts` of the delta stays empty. */
  readonly checkScripts: boolean
}

/** A transaction that sets more names announces them to the view. Only a coinbase can. */
const MANY_NAMES = 16

interface Work {
  readonly connection: BlockConnection
  readonly overlay: BlockOverlay
  readonly effects: Array<NameEffect>
  readonly scripts: Array<ScriptCheck>
  fees: number
  sigopCost: number
}

const inTransaction = ({ detail = "", reason }: Reject, { txid }: Transaction): Reject =>
  reject(reason, `${detail} in transaction ${displayHash(txid)}`.trimStart())

const addSigops = (work: Work, cost: number): Reject | undefined => {
  work.sigopCost += cost
  return work.sigopCost > MAX_BLOCK_SIGOPS_COST ? reject("bad-blk-sigops", "too many sigops") : undefined
}

/** Whether an output becomes a coin. `ignored`: a historic bug, whose names do not count. */
const becomesCoin = (script: Bytes, made: NameScript | undefined, ignored: boolean): boolean =>
  !isUnspendable(script) && (!ignored || made === undefined || made.operation.op === "name_new")

/** Includes those that the block spends itself. None in genesis. */
export const madeCoins = (
  { transactions }: Block,
  height: Height,
  params: ConsensusParams
): ReadonlyArray<readonly [outpoint: OutpointKey, coin: Coin]> =>
  height === 0 ? [] : transactions.flatMap((transaction, position) => {
    const ignored = ignoresNameOutputs(transaction, height, params)
    const made = ignored ? madeNameScripts(transaction) : []
    return transaction.outputs.flatMap(({ script, value }, i) =>
      becomesCoin(script, made[i], ignored)
        ? [[outpointKey(outpoint(transaction.txid, i)), { value, script, height, coinbase: position === 0 }] as const]
        : []
    )
  })

/** Rules F. */
const applyOutputs = (
  { connection, effects, overlay }: Work,
  transaction: Transaction,
  made: ReadonlyArray<NameScript | undefined>
): void => {
  const { height, params } = connection
  const { isCoinbase: coinbase, outputs, txid } = transaction
  const ignored = ignoresNameOutputs(transaction, height, params)
  const first = effects.length
  addNameEffects(effects, { transaction, made, height, params })
  const keys = first === effects.length ? undefined : new Array<string>(outputs.length)
  for (let i = 0; i < outputs.length; i++) {
    const output = outputs[i]
    if (output === undefined || !becomesCoin(output.script, made[i], ignored)) continue
    // The script is a view: a store of coins copies it.
    const coin: Coin = { value: output.value, script: output.script, height, coinbase }
    const key = overlay.outputKey(txid, i)
    if (keys !== undefined) keys[i] = key
    overlay.add(key, coin)
  }
  if (keys === undefined) return
  const names = new Array<NameKey>(effects.length - first)
  for (let i = 0; i < names.length; i++) names[i] = nameKey(effects[first + i]?.name ?? EMPTY)
  if (names.length > MANY_NAMES) overlay.expectClaims(names)
  for (let i = 0; i < names.length; i++) {
    const [effect, name] = [effects[first + i], names[i]]
    if (effect === undefined || name === undefined) continue
    overlay.setClaim(name, { height, outpoint: keys[effect.vout] ?? overlay.outputKey(txid, effect.vout) })
  }
}

/** `undefined` for a missing coin. */
const lookUp = (overlay: BlockOverlay, { inputs }: Transaction) => {
  const keys = new Array<string>(inputs.length)
  const found = new Array<Coin | undefined>(inputs.length)
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i]
    if (input === undefined) continue
    const key = outpointKey(input.prevout)
    keys[i] = key
    found[i] = overlay.coin(key)
  }
  return { keys, found }
}

/** BIP 68. */
const checkLocks = (
  { height, medianTimePast, medianTimePastAt, params }: BlockConnection,
  transaction: Transaction,
  coins: ReadonlyArray<Coin>
): Reject | undefined => {
  if (height < params.activation.csv) return undefined
  const locks = sequenceLocks(transaction, coins, medianTimePastAt)
  return meetsLocks(locks, height, medianTimePast)
    ? undefined
    : reject("bad-txns-nonfinal", `contains a non-BIP68-final transaction ${displayHash(transaction.txid)}`)
}

const connectTransaction = (work: Work, transaction: Transaction): Reject | undefined => {
  const { connection, overlay } = work
  const { flags, height, params } = connection
  const { found, keys } = lookUp(overlay, transaction)
  const scripts = nameScripts(transaction, found)
  const paid = checkInputs({ transaction, coins: found, scripts, height, params, flags, claim: overlay.claim })
  if ("reason" in paid) return inTransaction(paid, transaction)
  const { coins, fee } = paid
  work.fees += fee
  if (!isMoney(work.fees)) {
    return reject("bad-txns-accumulated-fee-outofrange", "accumulated fee in the block out of range")
  }
  const broken = checkLocks(connection, transaction, coins) ??
    addSigops(work, transactionSigopCost(transaction, { coins, flags, spent: scripts.spent }))
  if (broken !== undefined) return broken
  if (connection.checkScripts) work.scripts.push({ transaction, coins })
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]
    const coin = coins[i]
    if (key !== undefined && coin !== undefined) overlay.spend(key, coin)
  }
  applyOutputs(work, transaction, scripts.made)
  return undefined
}

const deltaOf = ({ effects, fees, overlay, scripts }: Work): BlockDelta => {
  const { claims, claimsBefore, coins, removed } = overlay
  return { coins, removed, claims, claimsBefore, effects, fees, scripts }
}

export interface BlockRefused {
  readonly reject: Reject
  /** Script checks that the reference node runs before the broken rule. The first failure takes precedence. */
  readonly scripts: ReadonlyArray<ScriptCheck>
}

const refused = (reject: Reject, scripts: ReadonlyArray<ScriptCheck> = []): BlockRefused => ({ reject, scripts })

/**
 * Every rule that needs the state, in the reference node's order (reference/protocol.md 4.8, end of 5.4). Changes
 * nothing itself; genesis changes nothing either. The caller verifies the `scripts` of the delta or of the refusal.
 * Source: upstream `validation.cpp`, `ConnectBlock`.
 */
export const connectBlock = (connection: BlockConnection): { readonly delta: BlockDelta } | BlockRefused => {
  const { block, flags, height, params, view } = connection
  const work: Work = { connection, overlay: new BlockOverlay(view), effects: [], scripts: [], fees: 0, sigopCost: 0 }
  const [coinbase, ...others] = block.transactions
  if (height === 0 || coinbase === undefined) return { delta: deltaOf(work) }
  const tooMany = addSigops(work, transactionSigopCost(coinbase, { coins: [], flags }))
  if (tooMany !== undefined) return refused(tooMany)
  applyOutputs(work, coinbase, madeNameScripts(coinbase))
  for (const transaction of others) {
    const broken = connectTransaction(work, transaction)
    if (broken !== undefined) return refused(broken)
  }
  const actual = totalValue(coinbase.outputs)
  const limit = work.fees + blockSubsidy(height, params)
  if (actual > limit) {
    return refused(reject("bad-cb-amount", `coinbase pays too much (actual=${actual} vs limit=${limit})`))
  }
  const unexpired = expireNames(work.overlay, height, params)
  return unexpired === undefined ? { delta: deltaOf(work) } : refused(unexpired, work.scripts)
}

export interface BlockUndo {
  /** Older coins that the block removed, by outpoint key. */
  readonly removed: ReadonlyMap<string, Coin>
  /** Claims before the block, by name key; `undefined` for a new name. */
  readonly claimsBefore: ReadonlyMap<NameKey, NameClaim | undefined>
}

/**
 * The coins before a block; `undefined` where there was none. Outputs go, then the removed coins return. Removing an
 * output that was never a coin, or was spent again, changes nothing.
 */
export const coinsBefore = (block: Block, { removed }: BlockUndo): ReadonlyMap<string, Coin | undefined> => {
  const coins = new Map<string, Coin | undefined>()
  for (const { outputs, txid } of block.transactions) {
    for (let i = 0; i < outputs.length; i++) coins.set(outpointKey(outpoint(txid, i)), undefined)
  }
  for (const [key, coin] of removed) coins.set(key, coin)
  return coins
}

/** The coins and claims before a block. */
export const undoBlock = (
  block: Block,
  undo: BlockUndo,
  at: { readonly height: Height; readonly params: ConsensusParams }
): {
  readonly coins: ReadonlyMap<string, Coin | undefined>
  readonly claims: ReadonlyMap<NameKey, NameClaim | undefined>
} => ({ coins: coinsBefore(block, undo), claims: new Map([...expiredClaims(undo, at), ...undo.claimsBefore]) })

/**
 * By transaction and input; none for the coinbase. Coins that the block itself created are views of it. Throws an
 * `Error` if `removed` does not belong to the block.
 */
export const spentCoins = (
  block: Block,
  height: Height,
  removed: ReadonlyMap<string, Coin>
): ReadonlyArray<ReadonlyArray<Coin>> => {
  const made = new Map(block.transactions.map((transaction) => [transaction.txidKey, transaction]))
  const coinOf = (prevout: Bytes): Coin => {
    const parent = made.get(txidKey(prevoutTxid(prevout)))
    const output = parent?.outputs[prevoutIndex(prevout)]
    if (parent !== undefined && output !== undefined) return { ...output, height, coinbase: parent.isCoinbase }
    const coin = removed.get(outpointKey(prevout))
    if (coin !== undefined) return coin
    const spent = outpointText(prevout)
    throw new Error(`the undo data of block ${displayHash(block.hash)} lacks the coin ${spent}`)
  }
  return block.transactions.map(({ inputs }, i) => i === 0 ? [] : inputs.map(({ prevout }) => coinOf(prevout)))
}
