import { OUTLOOK_STATES, type OutlookState } from "../base/outlookWords.ts"
import { metricsOf } from "./families.ts"

const names = metricsOf("name operations")

export const ALERT_METRICS = names.table

/** Notices before names expire, in weeks and days, the first one first. */
export const EXPIRY_LABELS = ["8w", "4w", "2w", "1w", "1d"] as const

export const namesExpiring = names.gaugeBy(
  "svcd_names_expiring",
  "Names of the loaded wallets and watched names that expire within a time. One within 1w that grows is not renewed.",
  { label: "within", values: EXPIRY_LABELS }
)

const isOwned = (state: OutlookState): state is Exclude<OutlookState, "given"> => state !== "given"

export const OWNED_STATES = OUTLOOK_STATES.filter(isOwned)

/** An owner has to act on names in these states. */
export const NEEDY_STATES = ["locked", "no-coins", "failing", "too-late", "free", "taken", "expired"] as const

export const ownNames = names.gaugeBy(
  "svcd_own_names",
  "Names of the loaded wallets by what becomes of them, as in name_list. One that is " +
    `${NEEDY_STATES.slice(0, -1).join(", ")} or ${NEEDY_STATES[NEEDY_STATES.length - 1]} needs its owner.`,
  { label: "state", values: OWNED_STATES }
)

export const MAIL_OUTCOMES = ["sent", "failed"] as const

export const alertMails = names.counterBy(
  "svcd_alert_mails_total",
  "Attempts to send mail about names that expire (-alertmail), by outcome. A mail that failed is sent again.",
  { label: "outcome", values: MAIL_OUTCOMES }
)

export const alertMailsWaiting = names.gauge(
  "svcd_alert_mails_waiting",
  "Mails about names that expire that no server has taken yet. One that stays above 0 means that the mail does not arrive."
)
