import type { OwnOutlook, Urgency } from "../../base/outlookWords.ts"
import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import type { Height, UnixTime } from "../../protocol/keys.ts"
import { nowWithin, soonWithin } from "../../protocol/soon.ts"
import { renewalWindow } from "./renewals.ts"

/**
 * The only judgement of whether a wallet's name is in danger. All commands, pages, alerts and metrics show its result.
 *
 * Before the renewal window, an obstacle is a notice: there is time. From its first block on, a name that is not being
 * renewed alarms. A lost name alarms until its owner acknowledges the loss, or for one life of a name.
 */

export interface NameFacts {
  /** Height of the wallet's last confirmed operation on the name. */
  readonly height: Height
  /** Whether that operation left the name with the wallet. */
  readonly mine: boolean
  /** Whether the wallet has the private key of the owner's address. */
  readonly spendable: boolean
  /** Whether another machine signs: the wallet has no private keys at all. */
  readonly elsewhere: boolean
  /** `off`: the owner excluded this name. */
  readonly renewal: "on" | "unset" | "off"
  /** The unconfirmed operation on the name, if any, and whether it leaves the name with the wallet. */
  readonly pending: "none" | "own" | "away"
  /** Its transaction, as displayed. */
  readonly pendingTxid?: string | undefined
  /** Whether the coins suffice for this renewal and those that are due before. */
  readonly paid: boolean
  /** Why the last attempt to renew it failed. */
  readonly failure: { readonly reason: string; readonly isFunds: boolean } | undefined
  /** For an expired name: whether another owner has registered it since. */
  readonly since: "nobody" | "other" | "unknown"
}

/** `until`: the wallet signs renewals up to this time. */
export type RenewalLock =
  | { readonly type: "open" }
  | { readonly type: "locked" }
  | { readonly type: "until"; readonly until: UnixTime }

export interface OutlookContext {
  readonly height: Height
  readonly params: ConsensusParams
  readonly lock: RenewalLock
  readonly now: UnixTime
}

const LOST = { nobody: "free", other: "taken", unknown: "expired" } as const

/** Blocks before the expiry at which an unconfirmed renewal is an alarm: a day, one block on regtest. */
const lastDay = ({ expiry }: ConsensusParams): number => expiry === "regtest" ? 1 : 144

export const outlookOf = (facts: NameFacts, context: OutlookContext): OwnOutlook => {
  const { elsewhere, failure, mine, paid, pending, pendingTxid, renewal, since, spendable } = facts
  const { height, lock, now, params } = context
  const left = blocksToExpiry(facts, { tipHeight: height, params })
  const depth = expirationDepth(height, params)
  const off = renewal === "off" ? { off: true } : {}
  if (!mine) return { state: "given", urgency: "ok", left }
  if (left <= 0) {
    // The owner meant it, or has lived without it for as long as a name lives.
    const isPast = renewal === "off" || -left >= depth
    return { state: LOST[since], urgency: isPast ? "notice" : "alarm", left, ...off }
  }
  if (isExpired(facts, height + 1, params)) {
    return { state: "too-late", urgency: renewal === "off" && pending !== "own" ? "notice" : "alarm", left, ...off }
  }
  const window = renewalWindow(height, params)
  const isDue = left <= window
  if (pending === "away") return { state: "leaving", urgency: "ok", left }
  if (pending === "own") {
    return {
      state: "pending",
      urgency: left <= lastDay(params) ? "alarm" : left <= nowWithin(depth) ? "warning" : "ok",
      left,
      ...pendingTxid === undefined ? {} : { txid: pendingTxid }
    }
  }
  const urgency: Urgency = left <= nowWithin(depth) ? "alarm" : isDue ? "warning" : "notice"
  if (renewal !== "on" || !spendable && !elsewhere) {
    return {
      state: "by-hand",
      urgency: left > Math.max(window, soonWithin(depth)) ? "ok" : renewal === "off" ? "notice" : urgency,
      left,
      ...off
    }
  }
  if (lock.type === "locked") return { state: "locked", urgency, left }
  if (!paid || failure?.isFunds === true) return { state: "no-coins", urgency, left }
  if (elsewhere) {
    return { state: "unsigned", urgency: isDue ? urgency : "ok", left }
  }
  if (failure !== undefined) return { state: "failing", urgency, left, reason: failure.reason }
  if (lock.type === "until" && !isDue && lock.until < now + (left - window) * params.targetSpacing) {
    return { state: "locked", urgency, left, until: lock.until }
  }
  return left <= nowWithin(depth)
    // The next block or minute should have sent it a week ago.
    ? { state: "failing", urgency: "alarm", left, reason: "the renewal was not sent" }
    : { state: "renews", urgency: "ok", left }
}
