import { facts } from "./categories.ts"
import { counterBy, gauge } from "./families.ts"

export const STORES = ["blocks", "chainstate.db", "names.db", "txindex.db", "wallet.db", "other"] as const

export type StoreLabel = typeof STORES[number]

export const storageDamage = counterBy({
  ...facts(
    "error breakdown",
    "svcd_storage_damage_total",
    "Pages and records on disk that were not what had been written, by store; indexes of wallets count as wallet.db."
  ),
  label: "store",
  values: STORES
})

export const storageChecked = counterBy({
  ...facts(
    "error breakdown",
    "svcd_storage_checked_total",
    "Pages and blocks on disk that the background check has compared with what had been written, by store."
  ),
  label: "store",
  values: STORES
})

export const storagePasses = counterBy({
  ...facts(
    "error breakdown",
    "svcd_storage_check_passes_total",
    "How often the background check has seen all of a store, by store."
  ),
  label: "store",
  values: STORES
})

export const storageDoubts = gauge(facts(
  "error breakdown",
  "svcd_storage_doubts",
  "Stores that are damaged and under repair just now: while there is one, /ready is 503."
))
