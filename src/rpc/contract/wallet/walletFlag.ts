import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { boolean, freeText, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NO_SIGNER } from "./walletFile.ts"

export const NO_OLD_WALLETS = "Error: This wallet is already a descriptor wallet"

export const NO_SIGNER_OF_ADDRESS = "There is no ScriptPubKeyManager for this address"

export const SETWALLETFLAG = contract({
  name: "setwalletflag",
  group: "Wallet",
  coins: "any",
  writes: true,
  summary: "Changes a flag of the wallet. With avoid_reuse, payments leave out coins of addresses that the wallet " +
    "has spent from, and balances and lists of coins show them apart.",
  params: {
    flag: string("The flag; only avoid_reuse can change."),
    newvalue: withDefault(boolean("The new state."), true)
  },
  results: [{
    schema: Schema.Struct({
      flag_name: Result.string("The flag"),
      flag_state: Result.boolean("The new state")
    })
  }],
  examples: [["avoid_reuse"]],
  errors: [
    "-8 Unknown wallet flag: <x>",
    "-8 Wallet flag is immutable: <x>",
    "-8 Wallet flag is already set to <true or false>: <x>"
  ]
})

export const MIGRATEWALLET = contract({
  name: "migratewallet",
  coins: "any",
  writes: true,
  group: "Wallet",
  summary: "Always fails: svcd has no wallets of the old kind that could be converted to descriptors.",
  params: {
    wallet_name: freeText(optional(string("Name of the wallet."), "the wallet of the path")),
    passphrase: freeText(optional(string("Its passphrase.")))
  },
  results: [{ schema: Result.nothing("never") }],
  examples: [["old"]],
  errors: [`-4 ${NO_OLD_WALLETS}`]
})

export const WALLETDISPLAYADDRESS = contract({
  name: "walletdisplayaddress",
  group: "Wallet",
  coins: "any",
  summary: "Always fails: svcd has no external signers that could show an address.",
  params: { address: string("The address.") },
  results: [{ schema: Result.nothing("never") }],
  examples: [["N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"]],
  errors: ["-5 Invalid address", `-1 ${NO_SIGNER_OF_ADDRESS}`]
})

export const ENUMERATESIGNERS = contract({
  name: "enumeratesigners",
  coins: "any",
  group: "Util",
  summary: "Always fails: svcd has no external signers.",
  params: {},
  results: [{ schema: Result.nothing("never") }],
  examples: [[]],
  errors: [`-1 ${NO_SIGNER}`]
})
