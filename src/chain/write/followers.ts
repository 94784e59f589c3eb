import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { equal } from "../../protocol/bytes.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import { NONE, Status } from "../index/BlockIndex.ts"
import type { ChainState, Connected } from "../state/ChainState.ts"
import type { ConnectedBlock, Cursor, Follower } from "./Follower.ts"

/** Blocks and bytes handed to a follower at once. */
const BATCH_BLOCKS = 256
const BATCH_BYTES = 8 * 1024 * 1024

/** Where a follower has to go back to, or from which height on it goes forward. */
export type Move =
  | { readonly type: "wait" }
  | { readonly type: "rewind"; readonly to: Cursor }
  | { readonly type: "forward"; readonly from: number }

/**
 * Decides what brings a follower's cursor to the tip.
 *
 * A cursor on a block that this chainstate never connected is ahead of it: the chainstate was deleted, or lost its
 * last flush. It is kept until the chain reaches its height, or has another block at the height of one in `trail`: the
 * store then goes back to the newest block of `trail` that the chain knows, and begins anew where it knows none.
 */
export const nextMove = (state: ChainState, cursor: Cursor | undefined, trail: ReadonlyArray<Cursor> = []): Move => {
  if (cursor === undefined) return { type: "forward", from: 0 }
  const tipHeight = state.settledHeight
  const tip = state.at(tipHeight)
  const id = state.index.find(cursor.hash)
  if (id !== NONE && state.isActive(id)) return { type: "forward", from: cursor.height + 1 }
  if (id !== NONE && state.index.has(id, Status.VALID)) return rewindTo(state, state.index.forkPoint(id, tip))
  if (cursor.height > tipHeight && !leavesChain(state, trail)) return { type: "wait" }
  if (id !== NONE) return rewindTo(state, state.index.forkPoint(id, tip))
  // A block that is unknown here: what came before it may be known.
  const known = trail.find(({ hash, height }) => height < cursor.height && state.index.find(hash) !== NONE)
  return rewindTo(state, known === undefined ? 0 : state.index.forkPoint(state.index.find(known.hash), tip))
}

/** Whether a store is on another branch than the chain, as far as the tip can tell. */
const leavesChain = (state: ChainState, trail: ReadonlyArray<Cursor>): boolean => {
  const tipHeight = state.settledHeight
  const there = trail.find(({ height }) => height === tipHeight)
  return there !== undefined && !equal(there.hash, state.index.hash(state.at(tipHeight)))
}

/** Whether a move depends on what the follower remembers: the chain never connected the block of its cursor. */
const needsTrail = (state: ChainState, cursor: Cursor | undefined): boolean => {
  if (cursor === undefined) return false
  const id = state.index.find(cursor.hash)
  return id === NONE || !(state.isActive(id) || state.index.has(id, Status.VALID))
}

const rewindTo = (state: ChainState, id: number): Move => ({ type: "rewind", to: cursorOf(state, id) })

/** A place in the chain by the number of its header. */
export const cursorOf = (state: ChainState, id: number): Cursor => ({
  height: state.index.height(id),
  hash: state.index.hash(id).slice()
})

/** A follower and where it stands. */
export interface Following {
  readonly follower: Follower
  cursor: Cursor | undefined
  /** Whether its store is made anew, step by step between the blocks that come: it hears of these later. */
  rebuilding: boolean
  /** The height of a block that does not read, while the follower waits before it. */
  waitsFor?: number | undefined
}

/** Blocks of a way that is worth a line in the log now and then. */
const LONG_WAY = 2_000

/** Milliseconds between such lines. */
const REPORT_MS = 10_000

/**
 * Brings a follower to the tip, backwards first where it stands on another branch. `recent` are blocks that were just
 * connected, by number, so that they need not be read again. Each step is whole; between steps it may be interrupted.
 * A block that does not read is said, and the follower waits before it: the block may come again. Nobody knows when, so
 * that who has moved up to it is told that it has arrived.
 */
export const follow = (
  state: ChainState,
  following: Following,
  recent: ReadonlyMap<number, Connected>
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    let reported = performance.now()
    for (let moved = false;; moved = true) {
      const { cursor, follower } = following
      const trail = follower.trail !== undefined && needsTrail(state, cursor) ? yield* follower.trail : []
      const move = nextMove(state, cursor, trail)
      const isThere = move.type === "wait" || (move.type === "forward" && move.from > state.settledHeight)
      if (isThere || !(yield* Effect.uninterruptible(step(state, following, move, recent)))) {
        if (moved && following.follower.arrived !== undefined) yield* following.follower.arrived
        return
      }
      const left = state.settledHeight - (following.cursor?.height ?? 0)
      if (left > LONG_WAY && performance.now() - reported > REPORT_MS) {
        reported = performance.now()
        yield* Effect.logInfo(`bringing ${following.follower.name} to the tip`, {
          height: following.cursor?.height,
          left
        })
      }
      yield* turnOfEventLoop
    }
  })

/** One step of the way of a follower that others do not wait for. False where it is there, or can go no further now. */
export const advance = (state: ChainState, following: Following): Effect.Effect<boolean, StorageFailure> =>
  Effect.suspend(() => {
    const move = nextMove(state, following.cursor)
    return move.type === "wait" || (move.type === "forward" && move.from > state.settledHeight)
      ? Effect.succeed(false)
      : Effect.uninterruptible(step(state, following, move, new Map()))
  })

/** One step of the way; false where it cannot be taken now. */
const step = (
  state: ChainState,
  following: Following,
  move: Exclude<Move, { readonly type: "wait" }>,
  recent: ReadonlyMap<number, Connected>
): Effect.Effect<boolean, StorageFailure> =>
  Effect.gen(function*() {
    if (move.type === "rewind") {
      yield* following.follower.rewind(move.to)
      following.cursor = move.to
      yield* goesOn(following)
      return true
    }
    const { blocks, thrown } = batchFrom(state, move.from, recent)
    const last = blocks[blocks.length - 1]
    if (last !== undefined) {
      yield* following.follower.apply(blocks)
      following.cursor = { height: last.height, hash: last.hash }
      yield* goesOn(following)
      return true
    }
    if (!(thrown instanceof StorageCorrupted)) return yield* attempt(() => rethrow(thrown))
    // Each block that comes is a new try: the log has the first.
    if (following.waitsFor === move.from) return false
    following.waitsFor = move.from
    yield* Effect.logError(`${following.follower.name} waits at height ${move.from - 1}: ${thrown.message}`)
    return false
  })

const goesOn = (following: Following): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { follower, waitsFor } = following
    following.waitsFor = undefined
    return waitsFor === undefined ? Effect.void : Effect.logInfo(`${follower.name} goes on from height ${waitsFor}`)
  })

const rethrow = (cause: unknown): never => {
  throw cause
}

/** Blocks of the best chain from a height on; what was thrown at the first one that could not be had. */
const batchFrom = (state: ChainState, from: number, recent: ReadonlyMap<number, Connected>) => {
  const blocks: Array<ConnectedBlock> = []
  let bytes = 0
  for (let height = from; height <= state.settledHeight; height++) {
    if (blocks.length >= BATCH_BLOCKS || bytes >= BATCH_BYTES) break
    const id = state.at(height)
    try {
      const { block, effects } = recent.get(id) ?? state.connected(id)
      blocks.push({ ...cursorOf(state, id), block, effects })
      bytes += block.size
    } catch (thrown) {
      return { blocks, thrown }
    }
  }
  return { blocks, thrown: undefined }
}
