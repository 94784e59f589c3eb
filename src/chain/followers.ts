import * as Effect from "effect/Effect"
import type { StorageFailure } from "../storage/errors.ts"
import { NONE, Status } from "./BlockIndex.ts"
import type { ChainState, Connected } from "./ChainState.ts"
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
 * last flush. It is kept until the chain reaches its height, and given up only if the hash then differs (design 5.3).
 */
export const nextMove = (state: ChainState, cursor: Cursor | undefined): Move => {
  if (cursor === undefined) return { type: "forward", from: 0 }
  const tipHeight = state.settledHeight
  const tip = state.at(tipHeight)
  const id = state.index.find(cursor.hash)
  if (id !== NONE && state.isActive(id)) return { type: "forward", from: cursor.height + 1 }
  if (id !== NONE && state.index.has(id, Status.VALID)) return rewindTo(state, state.index.forkPoint(id, tip))
  if (cursor.height > tipHeight) return { type: "wait" }
  // A block nobody knows here, at a height that the chain has: nothing tells where its branch began.
  return rewindTo(state, id === NONE ? 0 : state.index.forkPoint(id, tip))
}

const rewindTo = (state: ChainState, id: number): Move => ({ type: "rewind", to: cursorOf(state, id) })

/** A place in the chain by the number of its header. */
export const cursorOf = (state: ChainState, id: number): Cursor => ({
  height: state.index.height(id),
  hash: state.index.hash(id).slice()
})

/**
 * Brings a follower to the tip, backwards first where it stands on another branch. `recent` are blocks that were just
 * connected, by number, so that they need not be read again. Returns the new cursor.
 */
export const follow = (
  state: ChainState,
  follower: Follower,
  start: Cursor | undefined,
  recent: ReadonlyMap<number, Connected>,
  read: <A>(work: () => A) => Effect.Effect<A, StorageFailure>
): Effect.Effect<Cursor | undefined, StorageFailure> =>
  Effect.gen(function*() {
    let cursor = start
    for (;;) {
      const move = nextMove(state, cursor)
      if (move.type === "wait") return cursor
      if (move.type === "rewind") {
        yield* follower.rewind(move.to)
        cursor = move.to
        continue
      }
      if (move.from > state.settledHeight) return cursor
      const { blocks, last } = yield* read(() => batchFrom(state, move.from, recent))
      yield* follower.apply(blocks)
      cursor = last
    }
  })

const batchFrom = (state: ChainState, from: number, recent: ReadonlyMap<number, Connected>) => {
  const blocks: Array<ConnectedBlock> = []
  let bytes = 0
  let last = cursorOf(state, state.at(from))
  for (let height = from; height <= state.settledHeight; height++) {
    if (blocks.length >= BATCH_BLOCKS || bytes >= BATCH_BYTES) break
    const id = state.at(height)
    const { block, effects } = recent.get(id) ?? state.connected(id)
    last = cursorOf(state, id)
    blocks.push({ ...last, block, effects })
    bytes += block.size
  }
  return { blocks, last }
}
