import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { Flag } from "../../consensus/flags.ts"
import type { Reject } from "../../consensus/Reject.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt, attemptSteps } from "../attempt.ts"
import { ChainEvent } from "../ChainEvent.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { Connected, Settled } from "../state/Connector.ts"
import { cursorOf } from "./followers.ts"
import { recordBatch, recordDisconnected } from "./recordChain.ts"
import { type ScriptFailure, scriptReject } from "./verifyMessage.ts"
import type { VerifyPool } from "./VerifyPool.ts"

const BATCH = { blocks: 64, inputs: 4_000, bytes: 4 * 1024 * 1024 }

/**
 * The refusal of a block with a failing script. Without other threads, the reference node blames the mempool's rules if
 * a rule of the block, the one about long salts, is not among `MANDATORY_SCRIPT_VERIFY_FLAGS`. Source: upstream
 * `validation.cpp`, `Chainstate::ConnectBlock`, `CheckInputScripts`.
 */
export const blockReject = (failure: ScriptFailure, { threads }: VerifyPool): Reject =>
  scriptReject(failure, threads === 0 && (failure.flags & Flag.NAMES_LONG_SALT) !== 0 ? "mempool" : "block")

/** Span attributes of a block. */
const placeOf = (state: ChainState, id: HeaderId) => {
  const { hash, height } = cursorOf(state, id)
  return { hash: displayHash(hash), height }
}

/** Logs an invalid block. These are rare, since each one needs proof of work. */
export const noteRefusal = (
  state: ChainState,
  { id, reject }: NonNullable<Settled["refused"]>
): Effect.Effect<void> => {
  const { hash, height } = cursorOf(state, id)
  const facts = { height, hash: displayHash(hash), reason: reject.reason, detail: reject.detail }
  return Effect.annotateLogs(Effect.logWarning("invalid block refused", facts), "subsystem", "chain")
}

export const noteWait = (state: ChainState, missing: HeaderId): Effect.Effect<void> => {
  const { hash, height } = cursorOf(state, missing)
  const facts = { height, hash: displayHash(hash) }
  return Effect.annotateLogs(
    Effect.logDebug("reorg waits for a missing block of the best chain", facts),
    "subsystem",
    "chain"
  )
}

/** Connects one batch towards `target`: rules on this thread, scripts on all threads. */
export const connectBatch = (
  state: ChainState,
  pool: VerifyPool,
  target: HeaderId
): Effect.Effect<Settled, StorageFailure> =>
  Effect.gen(function*() {
    const batch = pool.begin()
    const begun = monotonic()
    const prepared = yield* attemptSteps(() => state.connector.prepare(target, BATCH, batch.add))
    const started = monotonic()
    // If a worker thread ended, it is unknown which scripts are valid.
    const failed = yield* Effect.onError(batch.finish, () => Effect.sync(() => state.connector.takeBack(prepared)))
      .pipe(
        Effect.withSpan("svcd.chain.verify")
      )
    state.spent("scripts", monotonic() - started)
    const verdict = failed === undefined ? undefined : { block: failed.block, reject: blockReject(failed, pool) }
    const settled = yield* attempt(() => state.connector.settle(prepared, verdict))
    recordBatch(settled, monotonic() - begun)
    yield* Effect.annotateCurrentSpan("blocks", settled.connected.length)
    return settled
  }).pipe(Effect.uninterruptible, Effect.withSpan("svcd.chain.connect", { attributes: placeOf(state, target) }))

/** Disconnects the last block. Does nothing if it is damaged: it then counts as missing. */
export const disconnect = (state: ChainState): Effect.Effect<ReadonlyArray<ChainEvent>, StorageFailure> =>
  Effect.suspend(() => {
    const { tip } = state.active
    const block = cursorOf(state, tip)
    return attempt(() => {
      try {
        state.connector.disconnectTip()
      } catch (cause) {
        if (cause instanceof StorageCorrupted && !state.hasBlock(tip)) return []
        throw cause
      }
      recordDisconnected()
      return [ChainEvent.BlockDisconnected({ block })]
    }).pipe(Effect.withSpan("svcd.chain.disconnect", { attributes: placeOf(state, tip) }))
  })

export const connectedEvent = (state: ChainState, { block, id }: Connected, imported: boolean): ChainEvent =>
  ChainEvent.BlockConnected({
    block: cursorOf(state, id),
    transactions: block.transactions.length,
    imported
  })
