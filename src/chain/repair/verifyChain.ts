import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { checkBlock, checkBlockContext } from "../../consensus/block.ts"
import { type BlockUndo, connectBlock, undoBlock } from "../../consensus/connectBlock.ts"
import { blockFlags } from "../../consensus/flags.ts"
import type { BlockDelta, Coin, NameClaim, ScriptCheck } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import { displayHash, equal, fromBinaryString } from "../../protocol/bytes.ts"
import type { HeaderId, NameKey } from "../../protocol/keys.ts"
import { outpointText } from "../../protocol/transaction.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { VerifyPool } from "../write/VerifyPool.ts"
import { UndoneView } from "./UndoneView.ts"

/** Check levels (upstream `validation.cpp`, `CVerifyDB::VerifyDB`). Each level includes the lower ones. */
export const CheckLevel = {
  /** The stored block is unchanged. */
  READ: 0,
  /** The block follows the rules that need neither coins nor its height. */
  RULES: 1,
  /** The undo data are unchanged. */
  UNDO: 2,
  /** Disconnected and reconnected in memory, the block gives the stored coins and claims. */
  COINS: 3,
  SCRIPTS: 4
} as const

/** The default check at the start, as in the reference node. */
export const DEFAULT_CHECK = { level: CheckLevel.COINS, blocks: 6 } as const

/** Maximum coins and claims in memory. Deeper blocks are checked without them. */
const MOST_COINS = 100_000

export interface VerifyOptions {
  readonly level: number
  /** Blocks from the tip downwards; 0 for all. */
  readonly blocks: number
  /** The `monotonic()` at which the check ends early. */
  readonly deadline?: number
}

export interface VerifyReport {
  readonly checked: number
  /** Missing or damaged blocks and undo data. They count as missing from now on. */
  readonly damaged: number
  /** The first mismatch between the blocks and the stored coins and claims, if any. */
  readonly contradiction: string | undefined
}

interface Read {
  readonly block: Block | undefined
  readonly undo: BlockUndo | undefined
}

/** Runs a read. Returns `undefined` for a lost record, which the read has noted. */
const unlessLost = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof StorageCorrupted) return undefined
    throw cause
  }
}

const readBlock = (state: ChainState, id: HeaderId, level: number): Block | undefined => {
  const block = unlessLost(() => state.stored.read(id))
  if (block === undefined || level < CheckLevel.RULES) return block
  const { index, params } = state
  const context = { height: index.height(id), medianTimePast: index.medianTimePast(index.parent(id)), params }
  // As upstream (`CVerifyDB::VerifyDB`), height-dependent rules are checked only at the last level.
  const broken = checkBlock(block, params) ??
    (level < CheckLevel.SCRIPTS ? undefined : checkBlockContext(block, context))
  if (broken === undefined) return block
  state.stored.damagedBlock(id, broken.reason)
  return undefined
}

const read = (state: ChainState, id: HeaderId, level: number): Read => ({
  block: readBlock(state, id, level),
  undo: level < CheckLevel.UNDO ? undefined : unlessLost(() => state.stored.undo(id))
})

const sameCoin = (a: Coin | undefined, b: Coin | undefined): boolean =>
  a === undefined || b === undefined
    ? a === b
    : a.value === b.value && a.height === b.height && a.coinbase === b.coinbase && equal(a.script, b.script)

const sameClaim = (a: NameClaim | undefined, b: NameClaim | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.height === b.height && a.outpoint === b.outpoint

/** The first difference between the stored coins and claims after a block and those from connecting it. */
const difference = (
  made: BlockDelta,
  undo: BlockUndo,
  after: { readonly coin: (key: string) => Coin | undefined; readonly claim: (name: NameKey) => NameClaim | undefined }
): string | undefined => {
  for (const [key, coin] of made.coins) {
    if (!sameCoin(coin, after.coin(key))) return `coin mismatch: ${outpointText(fromBinaryString(key))}`
  }
  for (const [name, claim] of made.claims) {
    if (!sameClaim(claim, after.claim(name))) {
      return `claim mismatch: name ${JSON.stringify(name)}`
    }
  }
  if (made.removed.size !== undo.removed.size) return "undo data mismatch: number of coins"
  for (const [key, coin] of made.removed) {
    if (!sameCoin(coin, undo.removed.get(key))) return `undo data mismatch: coin ${outpointText(fromBinaryString(key))}`
  }
  return undefined
}

interface Reconnected {
  readonly contradiction: string | undefined
  readonly scripts: ReadonlyArray<ScriptCheck>
  readonly flags: number
}

interface Reconnection {
  readonly id: HeaderId
  readonly block: Block
  readonly undo: BlockUndo
  readonly checkScripts: boolean
}

/** Disconnects a block in `view`, connects it again, and compares the result. */
const reconnect = (
  state: ChainState,
  view: UndoneView,
  { block, checkScripts, id, undo }: Reconnection
): Reconnected => {
  const { index, params } = state
  const height = index.height(id)
  const flags = blockFlags(height, params)
  const after = view.apply(undoBlock(block, undo, { height, params }))
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

/** The first failing script of a block. Uninterruptible: the worker threads finish their batch. */
const scriptsOf = (pool: VerifyPool, { flags, scripts }: Reconnected) =>
  Effect.uninterruptible(Effect.suspend(() => {
    const batch = pool.begin()
    batch.add(0, scripts, flags)
    return batch.finish
  }))

/**
 * Verifies the last blocks of the best chain, tip first. The chain must not change meanwhile. Interruptible between
 * blocks, where readers have a turn. A block with lost data ends the comparison of coins, as all lower blocks need it.
 */
export const verifyChain = (
  state: ChainState,
  pool: VerifyPool,
  { blocks, deadline = Infinity, level }: VerifyOptions
): Effect.Effect<VerifyReport, StorageFailure> =>
  Effect.gen(function*() {
    const tip = state.active.settledHeight
    const most = tip - (state.snapshot?.height ?? 0)
    const count = blocks <= 0 ? most : Math.min(blocks, most)
    const view = new UndoneView(state.view)
    let compares = level >= CheckLevel.COINS
    let checked = 0
    let damaged = 0
    for (let height = tip; height > tip - count && monotonic() < deadline; height--) {
      const id = state.active.at(height)
      const { block, undo } = yield* attempt(() => read(state, id, level))
      checked++
      if (block === undefined) damaged++
      if (level >= CheckLevel.UNDO && undo === undefined) damaged++
      compares &&= block !== undefined && undo !== undefined && view.size < MOST_COINS
      if (compares && block !== undefined && undo !== undefined) {
        const checkScripts = level >= CheckLevel.SCRIPTS
        const again = yield* attempt(() => reconnect(state, view, { id, block, undo, checkScripts }))
        const failed = yield* scriptsOf(pool, again)
        const contradiction = again.contradiction ?? failed?.error
        if (contradiction !== undefined) {
          const name = `block ${displayHash(state.index.hash(id))} at height ${height}`
          return {
            checked,
            damaged,
            contradiction: `${name} does not match the stored coins and claims (${contradiction})`
          }
        }
      }
      yield* turnOfEventLoop
    }
    return { checked, damaged, contradiction: undefined }
  })
