import { facts } from "./categories.ts"
import { gaugeBy } from "./families.ts"

/** The notices before names expire, the first notice first: eight, four and two weeks, one week, one day. */
export const EXPIRY_LABELS = ["8w", "4w", "2w", "1w", "1d"] as const

export const namesExpiring = gaugeBy({
  ...facts(
    "name operations",
    "svcd_names_expiring",
    "Names of the loaded wallets and watched names that expire within a time. One within 1w that grows is not renewed."
  ),
  label: "within",
  values: EXPIRY_LABELS
})
