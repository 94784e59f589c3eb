import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { checkBlock, checkBlockContext } from "../../consensus/block.ts"
import type { Reject } from "../../consensus/Reject.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainParts } from "../ChainParts.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"
import { scriptsAssumed } from "../index/scriptsAssumed.ts"
import type { BegunWith } from "../snapshot/snapshotState.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { BlockBelow } from "./BackgroundState.ts"
import type { BackgroundThread } from "./BackgroundThread.ts"

export interface Running {
  readonly thread: BackgroundThread
  readonly base: BegunWith
  /** The last connected block. */
  at: HeaderId
  flushedAt: number
}

export interface RefusedBelow {
  readonly id: HeaderId
  readonly reject: Reject
}

interface Signals {
  /** Waits until blocks may have arrived. */
  readonly changed: Effect.Effect<void>
  readonly moved: (at: HeaderId) => void
}

/** The blocks of one message. The node's shutdown waits for their scripts. */
const BATCH = { blocks: 64, bytes: 512 * 1024 }

const FLUSH_MS = 60_000

const REPORT_MS = 60_000

/** The next stored blocks. A damaged block counts as missing from then on. */
const nextBlocks = (state: ChainState, { at, base }: Running): ReadonlyArray<BlockBelow> => {
  const { forks, index, params } = state
  const blocks: Array<BlockBelow> = []
  let bytes = 0
  const from = index.height(at) + 1
  for (let height = from; height <= base.height && height < from + BATCH.blocks && bytes < BATCH.bytes; height++) {
    const id = index.ancestor(base.id, height)
    if (!state.hasBlock(id)) break
    try {
      // A copy, as a message would include the whole buffer of a view.
      const read = state.stored.bytes(id).slice()
      bytes += read.length
      const checkScripts = !scriptsAssumed(index, { id, best: forks.best.reachable }, params)
      blocks.push({ height, hash: index.hash(id).slice(), bytes: read, checkScripts })
    } catch (cause) {
      if (cause instanceof StorageCorrupted && !state.hasBlock(id)) break
      throw cause
    }
  }
  return blocks
}

/** Stores the undo data of a block, for reorgs and indexes. */
const noteConnected = (
  { state, stores }: ChainParts,
  { id, undo }: { readonly id: HeaderId; readonly undo: Uint8Array }
): void => {
  const { index } = state
  if (!index.has(id, Status.HAVE_UNDO)) index.setUndo(id, stores.files.appendUndo(index.hash(id), undo))
  index.addStatus(id, Status.VALID)
}

const nextAfter = (index: BlockIndex, { at, base }: Running): HeaderId => index.ancestor(base.id, index.height(at) + 1)

/** Whether a refused block changed on disk: it passed these checks before. It then counts as missing. */
const isDamaged = (state: ChainState, id: HeaderId): boolean => {
  const { index, params } = state
  try {
    const block = state.stored.read(id)
    const place = { height: index.height(id), medianTimePast: index.medianTimePast(index.parent(id)), params }
    const broken = checkBlock(block, params) ?? checkBlockContext(block, place)
    if (broken === undefined) return false
    state.stored.damagedBlock(id, broken.reason)
    return true
  } catch (cause) {
    if (cause instanceof StorageCorrupted && !state.hasBlock(id)) return true
    throw cause
  }
}

/** Stores the progress. The index goes first, so that the background is never ahead of the undo data. */
export const flushBelow = ({ writer }: ChainParts, running: Running): Effect.Effect<void, StorageFailure> =>
  Effect.uninterruptible(
    writer.exclusively(({ flush }) => flush).pipe(
      Effect.zipRight(running.thread.ask({ type: "flush" })),
      Effect.zipRight(Effect.sync(() => void (running.flushedAt = monotonic())))
    )
  )

/** Connects some blocks. Returns the first refused one. */
const step = (
  parts: ChainParts,
  running: Running,
  blocks: ReadonlyArray<BlockBelow>
): Effect.Effect<RefusedBelow | undefined, StorageFailure> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const { state, writer } = parts
    const { flushDue, refused, undo } = yield* running.thread.ask({ type: "connect", blocks })
    yield* writer.exclusively(() =>
      attempt(() => {
        for (const record of undo) {
          const id = nextAfter(state.index, running)
          noteConnected(parts, { id, undo: record })
          running.at = id
        }
      })
    )
    if (flushDue || monotonic() - running.flushedAt > FLUSH_MS) yield* flushBelow(parts, running)
    if (refused === undefined) return undefined
    const id = nextAfter(state.index, running)
    return (yield* attempt(() => isDamaged(state, id))) ? undefined : { id, reject: refused }
  }))

/**
 * Connects the blocks up to the base by height, waiting for those still to come from peers. Returns the first block
 * that breaks a rule, unconnected; everything before it is stored.
 */
export const connectBelow = (
  parts: ChainParts,
  running: Running,
  { changed, moved }: Signals
): Effect.Effect<RefusedBelow | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const { state } = parts
    let reported = monotonic()
    let refused: RefusedBelow | undefined
    while (refused === undefined && running.at !== running.base.id) {
      const blocks = yield* attempt(() => nextBlocks(state, running))
      if (blocks.length === 0) {
        yield* changed
        continue
      }
      refused = yield* step(parts, running, blocks)
      moved(running.at)
      if (monotonic() - reported > REPORT_MS) {
        reported = monotonic()
        yield* Effect.logInfo("validating the blocks below the snapshot in the background", {
          height: state.index.height(running.at),
          of: running.base.height
        })
      }
      yield* turnOfEventLoop
    }
    yield* flushBelow(parts, running)
    return refused
  })
