import type { ZoneKey } from "./zoneKey.ts"

/**
 * The rollover of the zone's key, such that resolvers which trust the old key come to trust the new one by themselves
 * (RFC 5011). It follows from the times at which the keys were made, so no step is ever missed while the node is off.
 *
 *   day           0                30               45                75
 *   new key   ────┼─ new ──────────┼─ active ───────┼─────────────────┼────────
 *   old key   ────┼─ active ───────┼─ leaving ──────┼─ revoked ───────┼─ removed
 *
 * Invariant: one key is active at any time.
 */

/**
 * `new`: in the zone, and signs nothing. `active`: signs everything. `leaving`: signs the keys of the zone beside the
 * active key, for resolvers that have not seen that it is trusted. `revoked`: says with its own signature that it is no
 * longer trusted. `removed`: not in the zone.
 */
export type KeyPhase = "new" | "active" | "leaving" | "revoked" | "removed"

export interface PhasedKey {
  readonly key: ZoneKey
  readonly phase: KeyPhase
  /** Seconds since 1970, when the next phase begins; `undefined` if none is planned. */
  readonly until: number | undefined
}

const DAY = 86_400

/** RFC 5011, section 2.4.1: how long a resolver watches a new key before it trusts it. */
export const HOLD_SECONDS = 30 * DAY

/** A day more than the last signature of the old key is valid. */
const LEAVING_SECONDS = 15 * DAY

/** RFC 5011, section 6.6 asks for as long as the hold-down. */
const REVOKED_SECONDS = 30 * DAY

/** The phase of a key that was active when `next` was made. */
const phaseBefore = (next: ZoneKey | undefined, now: number): Omit<PhasedKey, "key"> => {
  const starts = next && next.created + HOLD_SECONDS
  if (starts === undefined || now < starts) return { phase: "active", until: starts }
  const revoked = starts + LEAVING_SECONDS
  if (now < revoked) return { phase: "leaving", until: revoked }
  const removed = revoked + REVOKED_SECONDS
  return now < removed ? { phase: "revoked", until: removed } : { phase: "removed", until: undefined }
}

/** The phases at a time, in seconds since 1970, the oldest key first. The first key was active at once. */
export const keysAt = (keys: ReadonlyArray<ZoneKey>, now: number): ReadonlyArray<PhasedKey> =>
  keys.toSorted((a, b) => a.created - b.created).map((key, i, sorted) => {
    const starts = key.created + HOLD_SECONDS
    if (i > 0 && now < starts) return { key, phase: "new", until: starts }
    return { key, ...phaseBefore(sorted[i + 1], now) }
  })

/** When the rollover under way ends, as the old key leaves the zone, in seconds since 1970; `undefined` without one. */
export const rollEnd = (keys: ReadonlyArray<ZoneKey>, now: number): number | undefined => {
  if (keys.length < 2) return undefined
  const newest = Math.max(...keys.map(({ created }) => created))
  const end = newest + HOLD_SECONDS + LEAVING_SECONDS + REVOKED_SECONDS
  return now < end ? end : undefined
}
