import type { Height } from "../protocol/keys.ts"
import type { ReaderParams } from "./readerParams.ts"

// When names expire (reference/protocol.md 4.7). A name lives for some blocks after its last NAME_FIRSTUPDATE or
// NAME_UPDATE. "Expired" is computed, never stored; only the coin of the name is removed, one block before.

/** Blocks that a name lives after its last operation, since block 48,000 (consensus). */
export const EXPIRATION_DEPTH = 36_000

/** The same on regtest. */
export const REGTEST_EXPIRATION_DEPTH = 30

/**
 * As seen by a block at `height` (consensus). The depth grew by one per block from 24,000 to 48,000, so nothing expired
 * in blocks 24,001 to 48,000. With today's 36,000, a replay would refuse re-registrations of names that had expired
 * after 12,000. Source: upstream `consensus/params.h`, `NameExpirationDepth`.
 */
export const expirationDepth = (height: Height, { expiry }: ReaderParams): number => {
  if (expiry === "regtest") return REGTEST_EXPIRATION_DEPTH
  if (height < 24_000) return 12_000
  if (height < 48_000) return height - 12_000
  return EXPIRATION_DEPTH
}

/** `updated` has the height of the last update. */
export const isExpired = (updated: { readonly height: Height }, height: Height, params: ReaderParams): boolean =>
  updated.height + expirationDepth(height, params) <= height

/**
 * Names not yet expired at `height`, but at `height + 1`. The range is inclusive. Source: upstream `names/main.cpp`,
 * `ExpireNames`.
 */
export const expiringUpdateHeights = (
  height: Height,
  params: ReaderParams
): { readonly from: Height; readonly to: Height } | undefined => {
  const next = height + 1
  const to = next - expirationDepth(next, params)
  const from = next - expirationDepth(height, params)
  return to < 0 || from > to ? undefined : { from, to }
}

export const expiryHeight = (updated: Height, params: ReaderParams): Height => {
  // The depth never shrinks, so no step goes beyond the result.
  let height = updated + expirationDepth(updated, params)
  for (let next = height;; height = next) {
    next = updated + expirationDepth(height, params)
    if (next <= height) return height
  }
}
