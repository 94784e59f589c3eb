import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { spentCoins } from "../../consensus/connectBlock.ts"
import type { Coin } from "../../consensus/view.ts"
import { equal } from "../../protocol/bytes.ts"
import type { HeaderId, Height, NameKey } from "../../protocol/keys.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import { GENESIS, NONE, Status } from "../index/BlockIndex.ts"
import type { ChainState } from "../state/ChainState.ts"
import { decodeUndo } from "../state/coinCodec.ts"
import type { Connected } from "../state/Connector.ts"
import type { ConnectedBlock, Cursor, Follower, SpentByBlock, StateAtBase } from "./Follower.ts"

const BATCH_BLOCKS = 256
const BATCH_BYTES = 8 * 1024 * 1024

/** The next move of a follower: wait, rewind to a block, or apply blocks from a height on. */
export type Move =
  | { readonly type: "wait" }
  | { readonly type: "rewind"; readonly to: Cursor }
  | { readonly type: "forward"; readonly from: Height }
  /** The next block is missing below the base of a snapshot. */
  | { readonly type: "adopt"; readonly from: Height }

/**
 * Decides how a follower's cursor moves to the tip. If the chain never connected the cursor's block, the store is ahead
 * of a chainstate that was deleted or lost its last flush. The store waits until the chain reaches its height, or has
 * another block at the height of one in `trail`. It then rewinds to the newest block of `trail` that the chain knows,
 * or else to genesis.
 */
export const nextMove = (state: ChainState, cursor: Cursor | undefined, trail: ReadonlyArray<Cursor> = []): Move => {
  if (cursor === undefined) return forward(state, 0)
  const tipHeight = state.active.settledHeight
  const tip = state.active.at(tipHeight)
  const id = state.index.find(cursor.hash)
  if (id !== NONE && state.active.isActive(id)) return forward(state, cursor.height + 1)
  if (id !== NONE && state.index.has(id, Status.VALID)) return rewind(state, state.index.forkPoint(id, tip))
  if (cursor.height > tipHeight && !leavesChain(state, trail)) return { type: "wait" }
  if (id !== NONE) return rewind(state, state.index.forkPoint(id, tip))
  // The cursor's block is unknown, but earlier blocks may be known.
  const known = trail.find(({ hash, height }) => height < cursor.height && state.index.find(hash) !== NONE)
  return rewind(state, known === undefined ? GENESIS : state.index.forkPoint(state.index.find(known.hash), tip))
}

/** The next move; `undefined` at the tip, and for a store that waits. */
const onward = (
  state: ChainState,
  cursor: Cursor | undefined,
  trail: ReadonlyArray<Cursor> = []
): Exclude<Move, { readonly type: "wait" }> | undefined => {
  const move = nextMove(state, cursor, trail)
  if (move.type === "wait") return undefined
  return move.type !== "rewind" && move.from > state.active.settledHeight ? undefined : move
}

/** Whether the block at a height is missing because the chain state began above it. */
const isAssumed = (state: ChainState, height: Height): boolean =>
  state.snapshot !== undefined && height <= state.snapshot.height && !state.hasBlock(state.active.at(height))

/** Genesis is built in, so a new store begins at the first missing block. */
const forward = (state: ChainState, from: Height): Move => ({
  type: isAssumed(state, Math.max(from, 1)) ? "adopt" : "forward",
  from
})

/** Whether a store is on another branch than the chain, as far as the tip shows. */
const leavesChain = (state: ChainState, trail: ReadonlyArray<Cursor>): boolean => {
  const tipHeight = state.active.settledHeight
  const there = trail.find(({ height }) => height === tipHeight)
  return there !== undefined && !equal(there.hash, state.index.hash(state.active.at(tipHeight)))
}

/** Whether a move needs the follower's trail, because the chain never connected its cursor's block. */
const needsTrail = (state: ChainState, cursor: Cursor | undefined): boolean => {
  if (cursor === undefined) return false
  const id = state.index.find(cursor.hash)
  return id === NONE || !(state.active.isActive(id) || state.index.has(id, Status.VALID))
}

const rewind = (state: ChainState, id: HeaderId): Move => ({ type: "rewind", to: cursorOf(state, id) })

export const cursorOf = (state: ChainState, id: HeaderId): Cursor => ({
  height: state.index.height(id),
  hash: state.index.hash(id).slice()
})

export interface Following {
  readonly follower: Follower
  cursor: Cursor | undefined
  /** Whether its store is being rebuilt step by step. It is notified of new blocks later. */
  rebuilding: boolean
  /** The height of an unreadable block that the follower waits for. */
  waitsFor?: Height | undefined
}

export interface News {
  /** The blocks just connected, which need not be read again. */
  readonly recent: ReadonlyMap<HeaderId, Connected>
  /** Whether further blocks are at hand, so that the follower may keep its changes in memory. */
  readonly more: boolean
}

/** With more blocks left than this, some seconds of work, a follower that may lag catches up in the background. */
const SHORT_WAY = 500

/** Progress is logged if more blocks than this are left. */
const LONG_WAY = 2_000

const REPORT_MS = 10_000

export const settle = ({ follower: { bulk } }: Following): Effect.Effect<void, StorageFailure> =>
  bulk === undefined ? Effect.void : Effect.uninterruptible(bulk.settle)

/**
 * Brings a follower to the tip, rewinding it first if it is on another branch. Interruptible between steps. An
 * unreadable block is logged and the follower waits before it, as a peer may send it again; `arrived` is called then
 * too.
 */
export const follow = (
  state: ChainState,
  following: Following,
  news: News
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    let reported = monotonic()
    for (let moved = false;; moved = true) {
      const { cursor, follower } = following
      const trail = follower.trail !== undefined && needsTrail(state, cursor) ? yield* follower.trail : []
      const move = onward(state, cursor, trail)
      if (move === undefined || !(yield* Effect.uninterruptible(step(state, following, { ...news, move })))) {
        if (!news.more) yield* settle(following)
        if (moved && following.follower.arrived !== undefined) yield* following.follower.arrived
        return
      }
      const left = state.active.settledHeight - (following.cursor?.height ?? 0)
      if (left > LONG_WAY && monotonic() - reported > REPORT_MS) {
        reported = monotonic()
        yield* Effect.logInfo(`catching up: ${following.follower.name} applies the stored blocks`, {
          height: following.cursor?.height,
          left
        })
      }
      yield* turnOfEventLoop
    }
  })

/** Whether a follower may catch up in the background and has a long way to go. */
export const startsBehind = (state: ChainState, { cursor, follower }: Following): boolean =>
  follower.background === true && state.active.settledHeight - (cursor?.height ?? -1) > SHORT_WAY

/** Whether the next step may read blocks that the chain has not stored. */
export const leavesStored = (state: ChainState, { cursor }: Following): boolean =>
  Math.min((cursor?.height ?? -1) + BATCH_BLOCKS, state.active.settledHeight) > state.storedHeight

/** One step of a follower on its own. Returns false at the tip, or if it cannot continue now. */
export const advance = (state: ChainState, following: Following): Effect.Effect<boolean, StorageFailure> =>
  Effect.gen(function*() {
    const move = onward(state, following.cursor)
    const moved = move !== undefined &&
      (yield* Effect.uninterruptible(step(state, following, { move, recent: new Map(), more: false })))
    if (moved && onward(state, following.cursor) !== undefined) return true
    yield* settle(following)
    return false
  })

const step = (
  state: ChainState,
  following: Following,
  { more, move, recent }: News & { readonly move: Exclude<Move, { readonly type: "wait" }> }
): Effect.Effect<boolean, StorageFailure> =>
  Effect.gen(function*() {
    if (move.type === "rewind") {
      yield* following.follower.rewind(move.to)
      following.cursor = move.to
      yield* goesOn(following)
      return true
    }
    const { adopt } = following.follower
    if (move.type === "adopt" && adopt !== undefined) {
      const at = yield* stateAtTip(state)
      if (yield* adopt(at)) {
        following.cursor = at.at
        yield* goesOn(following)
        return true
      }
    }
    if (move.type === "adopt") return yield* waitsBelowBase(following, move.from)
    const { blocks, thrown } = batchFrom(state, following.follower, { from: move.from, recent })
    const last = blocks[blocks.length - 1]
    if (last !== undefined) {
      const { apply, bulk } = following.follower
      const isLast = !more && last.height === state.active.settledHeight
      yield* (isLast ? apply : bulk?.hold ?? apply)(blocks)
      following.cursor = { height: last.height, hash: last.hash }
      yield* goesOn(following)
      return true
    }
    if (thrown === undefined) return yield* waitsBelowBase(following, move.from)
    if (!(thrown instanceof StorageCorrupted)) return yield* attempt(() => rethrow(thrown))
    // Each new block is a retry, so only the first failure is logged.
    if (following.waitsFor === move.from) return false
    following.waitsFor = move.from
    yield* Effect.logError(`${following.follower.name} waits at height ${move.from - 1}: ${thrown.message}`)
    return false
  })

/** The follower needs blocks below the base of a snapshot, which must arrive or be validated. */
const waitsBelowBase = (following: Following, from: Height): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    if (following.waitsFor === from) return Effect.succeed(false)
    following.waitsFor = from
    const { name } = following.follower
    const said = `${name} waits for the blocks below the base of the snapshot`
    return Effect.as(Effect.logInfo(said, { height: from - 1 }), false)
  })

const NAMES_AT_ONCE = 250

/**
 * The stored state at the tip. All blocks are validated, and the chain does not change. The writer's next flush copies
 * the log of the database.
 */
const stateAtTip = (state: ChainState): Effect.Effect<StateAtBase, StorageFailure> =>
  Effect.as(attempt(() => state.flush()), {
    at: cursorOf(state, state.active.tip),
    visitNames: (use) =>
      Effect.gen(function*() {
        for (let after: NameKey | undefined, more = true; more;) {
          const from: NameKey | undefined = after
          const claims = yield* attempt(() => state.database.claimsAfter(from, NAMES_AT_ONCE))
          const names = yield* attempt(() =>
            claims.flatMap(([, claim]) => {
              const coin = state.view.coin(claim.outpoint)
              return coin === undefined ? [] : [{ claim, coin }]
            })
          )
          yield* use(names)
          after = claims.at(-1)?.[0]
          more = after !== undefined
          yield* turnOfEventLoop
        }
      })
  })

const goesOn = (following: Following): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { follower, waitsFor } = following
    following.waitsFor = undefined
    return waitsFor === undefined ? Effect.void : Effect.logInfo(`${follower.name} continues from height ${waitsFor}`)
  })

const rethrow = (cause: unknown): never => {
  throw cause
}

/** What a block removed from the coins. Throws `StorageFailure` if its undo data are lost. */
const coinsOf = (state: ChainState, { block, id, undo }: Connected): SpentByBlock => {
  const known = undo === undefined ? state.undo(id) : decodeUndo(undo)
  const gone = known?.removed ?? new Map<string, Coin>()
  return { removed: gone, spent: id === 0 ? [[]] : spentCoins(block, state.index.height(id), gone) }
}

/** Whether the coins that a block spends are unknown, because it is unvalidated below the base of a snapshot. */
const lacksCoins = (state: ChainState, id: HeaderId): boolean =>
  state.snapshot !== undefined && id !== GENESIS && !state.index.has(id, Status.VALID)

const batchFrom = (
  state: ChainState,
  { batchBytes = BATCH_BYTES, needsCoins = false }: Follower,
  { from, recent }: { readonly from: number; readonly recent: ReadonlyMap<number, Connected> }
) => {
  const blocks: Array<ConnectedBlock> = []
  let bytes = 0
  for (let height = from; height <= state.active.settledHeight; height++) {
    if (blocks.length >= BATCH_BLOCKS || bytes >= batchBytes) break
    const id = state.active.at(height)
    if (needsCoins && lacksCoins(state, id)) break
    try {
      const connected = recent.get(id) ?? state.connector.connected(id)
      const { block, effects } = connected
      const coins = needsCoins ? { coins: coinsOf(state, connected) } : {}
      blocks.push({ ...cursorOf(state, id), block, effects, ...coins })
      bytes += block.size
    } catch (thrown) {
      return { blocks, thrown }
    }
  }
  return { blocks, thrown: undefined }
}
