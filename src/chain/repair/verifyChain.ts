import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { checkBlock, checkBlockContext } from "../../consensus/block.ts"
import { connectBlock, undoBlock } from "../../consensus/connectBlock.ts"
import { blockFlags } from "../../consensus/flags.ts"
import type { BlockDelta, Coin, NameClaim, ScriptCheck } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import { displayHash, equal, fromBinaryString } from "../../protocol/bytes.ts"
import { prevoutIndex, prevoutTxid } from "../../protocol/transaction.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { Undo } from "../state/coinCodec.ts"
import type { VerifyPool } from "../write/VerifyPool.ts"
import { UndoneView } from "./UndoneView.ts"

/** How thoroughly blocks are checked (upstream `validation.cpp`, `CVerifyDB::VerifyDB`): each level includes those below. */
export const CheckLevel = {
  /** The block is in its file as it was stored. */
  READ: 0,
  /** It keeps the rules that need no coins. */
  RULES: 1,
  /** Its undo data are as they were stored. */
  UNDO: 2,
  /** Taken back and connected again in memory, it leads to the coins and claims that are stored. */
  COINS: 3,
  /** Its scripts are valid. */
  SCRIPTS: 4
} as const

/** What the start checks where the operator does not say (the reference node's own). */
export const DEFAULT_CHECK = { level: CheckLevel.COINS, blocks: 6 } as const

/** Coins and claims that are kept in memory: blocks below are checked without them. */
const MOST_COINS = 100_000

export interface VerifyOptions {
  readonly level: number
  /** Blocks from the tip downwards; 0 for all. */
  readonly blocks: number
  /** Milliseconds of `performance.now()` at which it ends, with what is done. */
  readonly deadline?: number
}

export interface VerifyReport {
  /** Blocks that were looked at. */
  readonly checked: number
  /** Blocks and undo data that are missing or damaged; they count as missing from now on. */
  readonly damaged: number
  /** Why coins and claims are not those of the blocks; `undefined` where they are, as far as was looked. */
  readonly contradiction: string | undefined
}

/** A block and what takes it back, as far as they are there. */
interface Read {
  readonly block: Block | undefined
  readonly undo: Undo | undefined
}

/** Runs a read; nothing comes of a record that is lost, which is noted already. */
const unlessLost = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof StorageCorrupted) return undefined
    throw cause
  }
}

const readBlock = (state: ChainState, id: number, level: number): Block | undefined => {
  const block = unlessLost(() => state.stored.read(id))
  if (block === undefined || level < CheckLevel.RULES) return block
  const { index, params } = state
  const context = { height: index.height(id), medianTimePast: index.medianTimePast(index.parent(id)), params }
  const broken = checkBlock(block, params) ?? checkBlockContext(block, context)
  if (broken === undefined) return block
  state.stored.damagedBlock(id, broken.reason)
  return undefined
}

const read = (state: ChainState, id: number, level: number): Read => ({
  block: readBlock(state, id, level),
  undo: level < CheckLevel.UNDO ? undefined : unlessLost(() => state.stored.undo(id))
})

const sameCoin = (a: Coin | undefined, b: Coin | undefined): boolean =>
  a === undefined || b === undefined
    ? a === b
    : a.value === b.value && a.height === b.height && a.coinbase === b.coinbase && equal(a.script, b.script)

const sameClaim = (a: NameClaim | undefined, b: NameClaim | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.height === b.height && a.outpoint === b.outpoint

/** An outpoint key as people write it. */
const outpointText = (key: string): string => {
  const prevout = fromBinaryString(key)
  return `${displayHash(prevoutTxid(prevout))}:${prevoutIndex(prevout)}`
}

/** What of the coins and claims after a block is not what the block makes of those before it. */
const difference = (
  made: BlockDelta,
  undo: Undo,
  after: { readonly coin: (key: string) => Coin | undefined; readonly claim: (name: string) => NameClaim | undefined }
): string | undefined => {
  for (const [key, coin] of made.coins) {
    if (!sameCoin(coin, after.coin(key))) return `the coin ${outpointText(key)} is not what it should be`
  }
  for (const [name, claim] of made.claims) {
    if (!sameClaim(claim, after.claim(name))) {
      return `the claim of the name ${JSON.stringify(name)} is not what it should be`
    }
  }
  if (made.removed.size !== undo.removed.size) return "its undo data are of other coins"
  for (const [key, coin] of made.removed) {
    if (!sameCoin(coin, undo.removed.get(key))) return `its undo data have another coin ${outpointText(key)}`
  }
  return undefined
}

interface Reconnected {
  readonly contradiction: string | undefined
  readonly scripts: ReadonlyArray<ScriptCheck>
  readonly flags: number
}

/** Takes a block back in `view`, connects it again, and compares. */
const reconnect = (
  state: ChainState,
  view: UndoneView,
  id: number,
  block: Block,
  undo: Undo,
  checkScripts: boolean
): Reconnected => {
  const { index, params } = state
  const height = index.height(id)
  const flags = blockFlags(height, params)
  const after = view.apply(undoBlock(block, undo))
  const result = connectBlock({
    block,
    height,
    params,
    flags,
    view,
    medianTimePast: index.medianTimePast(index.parent(id)),
    medianTimePastAt: (other) => index.medianTimePast(index.ancestor(id, other)),
    checkScripts
  })
  if ("reject" in result) return { contradiction: result.reject.reason, scripts: [], flags }
  const { delta } = result
  const contradiction = difference(delta, undo, {
    coin: (key) => after.coins.has(key) ? after.coins.get(key) : view.coin(key),
    claim: (name) => after.claims.has(name) ? after.claims.get(name) : view.claim(name)
  })
  return { contradiction, scripts: delta.scripts, flags }
}

/** The first script of a block that fails. The threads end what they have begun. */
const scriptsOf = (pool: VerifyPool, { flags, scripts }: Reconnected) =>
  Effect.uninterruptible(Effect.suspend(() => {
    const batch = pool.begin()
    batch.add(0, scripts, flags)
    return batch.finish
  }))

/**
 * Checks the last blocks of the best chain, the tip first. The chain may not move meanwhile: between two blocks only
 * readers have a turn, and there the check can be interrupted. A block whose data are lost ends the comparison of coins:
 * what lies below needs it.
 */
export const verifyChain = (
  state: ChainState,
  pool: VerifyPool,
  { blocks, deadline = Infinity, level }: VerifyOptions
): Effect.Effect<VerifyReport, StorageFailure> =>
  Effect.gen(function*() {
    const tip = state.settledHeight
    const count = blocks <= 0 ? tip : Math.min(blocks, tip)
    const view = new UndoneView(state.coins)
    let compares = level >= CheckLevel.COINS
    let checked = 0
    let damaged = 0
    for (let height = tip; height > tip - count && performance.now() < deadline; height--) {
      const id = state.at(height)
      const { block, undo } = yield* attempt(() => read(state, id, level))
      checked++
      if (block === undefined) damaged++
      if (level >= CheckLevel.UNDO && undo === undefined) damaged++
      compares &&= block !== undefined && undo !== undefined && view.size < MOST_COINS
      if (compares && block !== undefined && undo !== undefined) {
        const again = yield* attempt(() => reconnect(state, view, id, block, undo, level >= CheckLevel.SCRIPTS))
        const failed = yield* scriptsOf(pool, again)
        const contradiction = again.contradiction ?? failed?.error
        if (contradiction !== undefined) {
          const name = `block ${displayHash(state.index.hash(id))} at height ${height}`
          return { checked, damaged, contradiction: `${name} does not lead to what is stored (${contradiction})` }
        }
      }
      yield* turnOfEventLoop
    }
    return { checked, damaged, contradiction: undefined }
  })
