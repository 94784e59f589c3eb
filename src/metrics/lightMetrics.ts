import { metricsOf } from "./families.ts"

const names = metricsOf("name operations")

export const LIGHT_METRICS = names.table

/** For light nodes, and for the window before the whole chain is checked. */

export const lightActive = names.gauge(
  "svcd_light_active",
  "1 while a window of the last blocks answers about names, 0 when the whole chain does."
)

export const lightHeight = names.gauge(
  "svcd_light_height",
  "Height of the last block of the window; 0 without a window."
)

export const lightBlocks = names.gauge(
  "svcd_light_blocks",
  "Blocks in the window. It grows until all names are answered."
)

export const lightNames = names.gauge("svcd_light_names", "Names in the window.")

export const lightUnchecked = names.gauge(
  "svcd_light_signatures_unchecked",
  "Signatures in the window that are not checked yet. It falls to 0, and rises for moments with new blocks."
)

export const HANDOVER_OUTCOMES = ["equal", "different", "not_compared"] as const

export const lightHandovers = names.counterBy(
  "svcd_light_handovers_total",
  "Handovers from a window to the whole chain, by outcome. After a different one, the log has the names.",
  { label: "outcome", values: HANDOVER_OUTCOMES }
)
