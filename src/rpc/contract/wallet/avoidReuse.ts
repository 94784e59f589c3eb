import { boolean, optional } from "../../method/params.ts"

export const NO_AVOID_REUSE = "wallet does not have the \"avoid reuse\" feature enabled"

export const AVOID_REUSE = optional(
  boolean("Whether to leave out coins of addresses that the wallet has spent from; only with avoid_reuse."),
  "that of the wallet"
)
