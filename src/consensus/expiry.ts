import type { Height } from "../protocol/keys.ts"
import type { ConsensusParams } from "./params.ts"

/**
 * When names expire (reference/protocol.md 4.7). A name lives for some blocks after its last NAME_FIRSTUPDATE or
 * NAME_UPDATE. "Expired" is computed, never stored. The state changes only in one way: the coin of the name is removed,
 * one block before the name counts as expired.
 */

const REGTEST_DEPTH = 30

/**
 * Blocks that a name lives after its last update, as seen by a block at `height`. Consensus.
 *
 * The depth grew while the network was young: by one with each block from 24,000 to 48,000, so that nothing expired in
 * blocks 24,001 to 48,000. A replay with today's 36,000 would refuse blocks that register again what had
 * expired after 12,000.
 *
 * Source: upstream `consensus/params.h`, `NameExpirationDepth`.
 */
export const expirationDepth = (height: Height, { expiry }: ConsensusParams): number => {
  if (expiry === "regtest") return REGTEST_DEPTH
  if (height < 24_000) return 12_000
  if (height < 48_000) return height - 12_000
  return 36_000
}

/** Whether a name is expired for a block at `height`. `updated` has the height of its last update, as its claim has. */
export const isExpired = (updated: { readonly height: Height }, height: Height, params: ConsensusParams): boolean =>
  updated.height + expirationDepth(height, params) <= height

/**
 * The update heights, both included, of the names whose coins are removed with the block at `height`: names that are
 * expired at `height + 1` and were not at `height`. `undefined` if there are none. Source: upstream `names/main.cpp`,
 * `ExpireNames`.
 */
export const expiringUpdateHeights = (
  height: Height,
  params: ConsensusParams
): { readonly from: Height; readonly to: Height } | undefined => {
  const next = height + 1
  const to = next - expirationDepth(next, params)
  const from = next - expirationDepth(height, params)
  return to < 0 || from > to ? undefined : { from, to }
}

/** The first height at which a name is expired if its last update was at a height. */
export const expiryHeight = (updated: Height, params: ConsensusParams): Height => {
  // The depth never shrinks, so each step is at most the height that is sought.
  let height = updated + expirationDepth(updated, params)
  for (let next = height;; height = next) {
    next = updated + expirationDepth(height, params)
    if (next <= height) return height
  }
}
