import { monotonic } from "../../base/clock.ts"
import { type HeaderId, headerId } from "../../protocol/keys.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { Status } from "../index/BlockIndex.ts"
import type { ChainState } from "../state/ChainState.ts"

export interface CheckLimits {
  readonly milliseconds: number
  readonly bytes: number
}

/**
 * Checks stored blocks and undo data from a header on, up to the limits. Returns the next header to check, or
 * `undefined` at the end. Damage is noted in `state.losses`. Throws `StorageUnavailable`.
 */
export const checkStored = (state: ChainState, from: HeaderId, limits: CheckLimits): HeaderId | undefined => {
  const { index } = state
  const end = monotonic() + limits.milliseconds
  let bytes = 0
  for (let id = from; id < index.count; id = headerId(id + 1)) {
    if (bytes >= limits.bytes || (id > from && monotonic() >= end)) return id
    bytes += checkRecord(() => {
      if (!index.has(id, Status.HAVE_DATA)) return 0
      state.stored.checkBlock(id)
      return index.dataPlace(id).size
    })
    bytes += checkRecord(() => {
      if (!index.has(id, Status.HAVE_UNDO)) return 0
      state.stored.undo(id)
      return index.undoPlace(id).size
    })
  }
  return undefined
}

const checkRecord = (check: () => number): number => {
  try {
    return check()
  } catch (cause) {
    if (cause instanceof StorageCorrupted) return 0
    throw cause
  }
}
