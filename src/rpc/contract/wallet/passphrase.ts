import { LONGEST_UNLOCK } from "../../../base/unlockTime.ts"
import { walletContract } from "../../method/contract.ts"
import { boolean, freeText, int64, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EMPTY_PASSPHRASE, WRONG_PASSPHRASE } from "./walletParams.ts"

export const NOTHING_TO_ENCRYPT = "Error: wallet does not contain private keys, nothing to encrypt."

export const ENCRYPTED = "Error: running with an encrypted wallet, but encryptwallet was called."

export const NEGATIVE_TIME = "Timeout cannot be negative."

export const unencrypted = (called: string): string =>
  `Error: running with an unencrypted wallet, but ${called} was called.`

export const ENCRYPTWALLET = walletContract({
  name: "encryptwallet",
  coins: "any",
  writes: true,
  summary: "Encrypts the secrets of the wallet with a passphrase, which is then required for signing.",
  params: { passphrase: freeText(string("The passphrase.")) },
  results: [{ schema: Result.string("The next steps") }],
  examples: [["a long passphrase"]],
  errors: [`-16 ${NOTHING_TO_ENCRYPT}`, `-15 ${ENCRYPTED}`, `-8 ${EMPTY_PASSPHRASE}`]
})

export const WALLETPASSPHRASE = walletContract({
  name: "walletpassphrase",
  coins: "any",
  right: "names",
  writes: true,
  summary:
    "Unlocks the wallet for some time. A later call replaces the time. With renewalsonly, the wallet signs nothing but " +
    "renewals of names: a name_update with the same value, whose owner, coins and change are the wallet's, and whose fee is " +
    "at most 0.01 NMC. A call without renewalsonly does not shorten a longer time for renewals. walletlock ends both.",
  params: {
    passphrase: freeText(string("The passphrase.")),
    timeout: int64(`Seconds; at most ${LONGEST_UNLOCK}.`),
    renewalsonly: withDefault(boolean("Whether the wallet only signs renewals of names."), false)
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["a long passphrase", 60], ["a long passphrase", 2592000, true]],
  errors: [
    `-15 ${unencrypted("walletpassphrase")}`,
    `-8 ${NEGATIVE_TIME}`,
    `-8 ${EMPTY_PASSPHRASE}`,
    `-14 ${WRONG_PASSPHRASE}`
  ]
})

export const WALLETLOCK = walletContract({
  name: "walletlock",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Locks the wallet, including for renewals.",
  params: {},
  results: [{ schema: Result.nothing("") }],
  examples: [[]],
  errors: [`-15 ${unencrypted("walletlock")}`]
})

export const WALLETPASSPHRASECHANGE = walletContract({
  name: "walletpassphrasechange",
  coins: "any",
  writes: true,
  summary: "Replaces the passphrase of the wallet.",
  params: {
    oldpassphrase: freeText(string("The old passphrase.")),
    newpassphrase: freeText(string("The new passphrase."))
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["a long passphrase", "a longer passphrase"]],
  errors: [`-15 ${unencrypted("walletpassphrasechange")}`, `-8 ${EMPTY_PASSPHRASE}`, `-14 ${WRONG_PASSPHRASE}`]
})
