import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { validationErrors } from "../../metrics/metrics.ts"
import { displayHash, equal } from "../../protocol/bytes.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainParts } from "../ChainParts.ts"
import { markInvalid, markValidated, snapshotDirectory } from "../snapshot/snapshotState.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { ComparedState } from "./BackgroundState.ts"
import { backgroundFile, damageOfBackground } from "./beginBackground.ts"
import type { RefusedBelow, Running } from "./connectBelow.ts"

/** Coins or claims compared per message: some ten milliseconds. */
const AT_ONCE = 5_000

const REMEDY =
  "Start the node again: it continues from its own chain state and validates the stored blocks. Wallets stay. " +
  "Take the next snapshot from another source"

/** Compares a snapshot with the result of the blocks, and returns why it is invalid, if so. */
export const contradiction = (
  { coins, difference, hash }: ComparedState,
  expected: Uint8Array
): string | undefined => {
  if (!equal(hash, expected)) {
    return `its coins have the hash ${displayHash(expected)}, and the blocks lead to ${coins} coins with the hash ` +
      displayHash(hash)
  }
  return difference === undefined ? undefined : `its names do not follow from the blocks: ${difference}`
}

const refusal = (state: ChainState, { id, reject }: RefusedBelow): string => {
  const detail = reject.detail === undefined ? "" : `: ${reject.detail}`
  return `block ${displayHash(state.index.hash(id))} at height ${state.index.height(id)}, which its base block ` +
    `builds on, is invalid (${reject.reason}${detail})`
}

/** Compares the coins and claims at the base. */
const compare = ({ base, thread }: Running): Effect.Effect<ComparedState, StorageFailure> =>
  Effect.gen(function*() {
    const ask = Effect.uninterruptible(thread.ask({ type: "compare", height: base.height, limit: AT_ONCE }))
    for (;;) {
      const { result } = yield* ask
      if (result !== undefined) return result
      yield* turnOfEventLoop
    }
  })

/** Treats the chain state as if all its blocks had been validated. */
const accept = (parts: ChainParts, { base, thread }: Running, own: string): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { state, stores, writer } = parts
    yield* thread.end
    yield* writer.exclusively((held) =>
      Effect.gen(function*() {
        yield* held.flush
        yield* attempt(() => {
          // The index must have the background's findings even after a power cut.
          stores.database.copyLog()
          markValidated(own)
          state.becomeValidated()
        })
        yield* Effect.logInfo("snapshot validated: the blocks up to its base block lead to the same coins and names", {
          height: base.height,
          hash: displayHash(base.hash)
        })
        yield* held.catchUp
        if (state.pruning.due) yield* held.prune()
      })
    )
  })

/** Ends the node, which must not answer from a chain state that contradicts the blocks. */
const refuse = (
  { writer }: ChainParts,
  { base }: Running,
  verdict: { readonly own: string; readonly reason: string }
) =>
  Effect.gen(function*() {
    const directory = snapshotDirectory(verdict.own)
    const found = `the snapshot of block ${displayHash(base.hash)} at height ${base.height} is invalid: ` +
      verdict.reason
    yield* attempt(() => markInvalid(directory, { ...base, reason: verdict.reason }))
    yield* Effect.logError("snapshot invalid: the node stops", {
      height: base.height,
      hash: displayHash(base.hash),
      reason: verdict.reason
    })
    yield* writer.exclusively(() => Effect.fail(new StorageCorrupted({ file: directory, found, remedy: REMEDY })))
  })

/**
 * Decides whether a snapshot is valid, once all blocks up to its base are connected or one is refused. Gives a verdict
 * against it only if the background database is intact.
 */
export const judgeSnapshot = (
  parts: ChainParts,
  running: Running,
  { own, refused }: { readonly own: string; readonly refused: RefusedBelow | undefined }
): Effect.Effect<void, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const reason = refused === undefined
      ? contradiction(yield* compare(running), running.base.coins)
      : refusal(parts.state, refused)
    if (reason === undefined) return yield* accept(parts, running, own)
    yield* running.thread.end
    const found = yield* damageOfBackground(own)
    if (found !== undefined) {
      return yield* new StorageCorrupted({ file: backgroundFile(own), found, remedy: "It is validated again" })
    }
    if (refused !== undefined) validationErrors.of("block").increase()
    yield* refuse(parts, running, { own, reason })
  })
