import { dayText, quantityOf } from "./quantities.ts"

/**
 * The outlook of a wallet's name as text, for RPC, log, alerts, the desk and `svcd-cli`, which does not load the
 * wallet. `wallet/names/outlook.ts` decides the state; only this file describes it.
 */

export const OUTLOOK_STATES = [
  /** The wallet renews it in time. */
  "renews",
  /** The wallet would renew it, but is locked or will be locked when the renewal is due. */
  "locked",
  /** The wallet has no private keys. It creates the renewal in time, and the owner signs it elsewhere. */
  "unsigned",
  "no-coins",
  /** The wallet failed to renew it for another reason. */
  "failing",
  "by-hand",
  /** A renewal is unconfirmed. */
  "pending",
  /** A transfer to another owner is unconfirmed. */
  "leaving",
  /** It expires with the next block, so no block can renew it. */
  "too-late",
  /** Expired, and not registered again. */
  "free",
  /** Expired, and registered by another owner since. */
  "taken",
  /** Expired, and the node does not know yet whether another owner has registered it. */
  "expired",
  /** The wallet gave it to another owner on purpose. */
  "given"
] as const

export type OutlookState = (typeof OUTLOOK_STATES)[number]

/** From `warning` on, the owner should act now. */
export const URGENCIES = ["ok", "notice", "warning", "alarm"] as const

export type Urgency = (typeof URGENCIES)[number]

export const isMoreUrgent = (urgency: Urgency, than: Urgency): boolean =>
  URGENCIES.indexOf(urgency) > URGENCIES.indexOf(than)

export const isAlarming = (urgency: string | undefined): boolean => urgency === "warning" || urgency === "alarm"

export const isLostState = (state: string | undefined): boolean =>
  state === "free" || state === "taken" || state === "expired"

export interface OwnOutlook {
  readonly state: OutlookState
  readonly urgency: Urgency
  /** Blocks until it expires; 0 or less if it has. */
  readonly left: number
  /** For `locked`: when an unlocked wallet locks, in Unix seconds; `undefined` if it is locked now. */
  readonly until?: number | undefined
  /** For `failing`. */
  readonly reason?: string | undefined
  /** For `pending`: the transaction of the renewal, as displayed. */
  readonly txid?: string | undefined
  /** Whether the owner turned its renewal off. */
  readonly off?: boolean | undefined
}

const COLUMN: Readonly<Record<OutlookState, string>> = {
  renews: "auto",
  locked: "locked",
  unsigned: "to sign",
  "no-coins": "no coins",
  failing: "failing",
  "by-hand": "by hand",
  pending: "unconfirmed",
  leaving: "leaving",
  "too-late": "too late",
  free: "lost, free",
  taken: "lost, taken",
  expired: "lost",
  given: "given away"
}

const isOutlookState = (word: string): word is OutlookState => OUTLOOK_STATES.some((state) => state === word)

/** For a table column. Unknown states, which a newer daemon may send, are shown as they are. */
export const outlookColumn = (state: string): string => isOutlookState(state) ? COLUMN[state] : state

/** After "expired". */
export const agoText = (blocks: number): string =>
  blocks === 0 ? "with the last block" : `${quantityOf(blocks, "block")} ago`

/** Follows the name: "d/example" + " " + text. */
export const outlookText = ({ left, off = false, reason = "", state, until }: OwnOutlook): string => {
  const soon = `it expires in ${quantityOf(left, "block")}`
  const ago = `expired ${agoText(-left)}`
  switch (state) {
    case "renews":
      return "renews automatically"
    case "locked":
      return until === undefined
        ? `would renew automatically, but the wallet is locked; ${soon}`
        : `would renew automatically, but the wallet locks on ${dayText(until)}, before the renewal is due`
    case "unsigned":
      return `is renewed by a PSBT that you sign on another machine; ${soon}`
    case "no-coins":
      return `cannot be renewed, because the wallet does not have enough coins; ${soon}`
    case "failing":
      return `cannot be renewed: ${reason}; ${soon}`
    case "by-hand":
      return off
        ? `is not renewed, because you turned its renewal off; ${soon}`
        : `is not renewed automatically; ${soon}`
    case "pending":
      return `has an unconfirmed renewal; ${soon}`
    case "leaving":
      return `has an unconfirmed transfer to another owner; ${soon}`
    case "too-late":
      return "expires with the next block, and it is too late to renew it"
    case "free":
      return `${ago}: it is lost, but free to register again`
    case "taken":
      return `${ago}: it is lost, and another owner has registered it`
    case "expired":
      return `${ago}: it is lost`
    case "given":
      return "was given away"
  }
}

/** What the owner should do. Interfaces have a button or a command for each. */
export type OutlookAct = "unlock" | "sign" | "fund" | "renew" | "raise-fee" | "register"

export const actOf = (state: string): OutlookAct | undefined => {
  switch (state) {
    case "locked":
      return "unlock"
    case "unsigned":
      return "sign"
    case "no-coins":
      return "fund"
    case "failing":
    case "by-hand":
      return "renew"
    case "pending":
      return "raise-fee"
    case "free":
      return "register"
    default:
      return undefined
  }
}
