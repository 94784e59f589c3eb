import { jsonObject, needing, optional, string } from "../../method/params.ts"
import { PAYMENT_ERRORS } from "./spending.ts"

export const WRITE_OPTIONS = {
  destAddress: optional(string("The address of the new owner."), "a fresh address of the wallet"),
  sendCoins: needing("spend", optional(jsonObject("Addresses and amounts in NMC to pay in the same transaction.")))
}

/** The error for a missing name while names are not synced: it may exist. */
export const NOT_KNOWN_YET = "-10 Namecoin is downloading blocks..."

export const WRITE_ERRORS = [
  "-8 the name is too long",
  "-1000 Name/value is invalid for encoding <encoding>",
  "-5 invalid address",
  "-5 Invalid address: <x>",
  "-3 Invalid amount for send",
  "-12 Failed to generate mining address: <why>",
  ...PAYMENT_ERRORS
]
