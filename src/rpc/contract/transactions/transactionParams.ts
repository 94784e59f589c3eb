import { array, boolean, int64, json, optional, string, uint32, withDefault } from "../../method/params.ts"

export const TRANSACTION_PARAMS = {
  inputs: array(
    json("Object with txid, vout and optionally sequence.", { words: "json object" }),
    "The outputs to spend."
  ),
  outputs: json(
    "Objects with one member each: an address and its amount in NMC, or data and hexadecimal digits; or one " +
      "object with all members.",
    { words: "json array or object" }
  ),
  locktime: withDefault(int64("Lock time."), 0),
  replaceable: optional(boolean("Whether the transaction may be replaced (BIP 125)."), "true"),
  version: withDefault(uint32("Version of the transaction."), 1)
}

export const SIGHASH_PARAM = optional(
  string(
    "Signature hash type: DEFAULT, ALL, NONE, SINGLE, ALL|ANYONECANPAY, NONE|ANYONECANPAY or SINGLE|ANYONECANPAY."
  ),
  "DEFAULT for taproot, ALL otherwise"
)

export const PREVTXS_PARAM = optional(
  array(
    json("Object with txid, vout, scriptPubKey and, if needed, redeemScript, witnessScript, amount."),
    "Spent outputs that are not in the chain yet."
  )
)
