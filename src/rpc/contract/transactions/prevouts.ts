import { array, json, optional } from "../../method/params.ts"

export const PREVTXS_PARAM = optional(
  array(
    json("Object with txid, vout, scriptPubKey and, if needed, redeemScript, witnessScript, amount."),
    "Outputs that the transaction spends and that are not in the chain yet."
  )
)
