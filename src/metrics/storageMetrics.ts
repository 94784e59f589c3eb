import { metricsOf } from "./families.ts"

const breakdown = metricsOf("error breakdown")

export const STORAGE_METRICS = breakdown.table

export const STORES = ["blocks", "chainstate.db", "names.db", "txindex.db", "wallet.db", "other"] as const

export type StoreLabel = typeof STORES[number]

export const storageDamage = breakdown.counterBy(
  "svcd_storage_damage_total",
  "Damaged pages and records on disk, by store; indexes of wallets count as wallet.db.",
  { label: "store", values: STORES }
)

export const storageChecked = breakdown.counterBy(
  "svcd_storage_checked_total",
  "Pages and blocks on disk that the background check has verified, by store.",
  { label: "store", values: STORES }
)

export const storagePasses = breakdown.counterBy(
  "svcd_storage_check_passes_total",
  "Complete passes of the background check, by store.",
  { label: "store", values: STORES }
)

export const storageDoubts = breakdown.gauge(
  "svcd_storage_doubts",
  "Damaged stores under repair: above 0, /ready returns 503."
)
