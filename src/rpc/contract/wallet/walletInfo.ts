import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { boolean, freeText, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NO_SIGNER } from "./walletFile.ts"
import { LAST_BLOCK } from "./walletTransactions.ts"

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

export const GETWALLETINFO = contract({
  name: "getwalletinfo",
  group: "Wallet",
  coins: "any",
  right: "names",
  summary: "Returns the properties and the state of the wallet.",
  params: {},
  results: [{
    schema: Schema.Struct({
      walletname: Result.string("The wallet; empty for the default one"),
      walletversion: Result.integer("The version that the reference node reports for every wallet"),
      format: Result.string("json"),
      txcount: Result.integer("Transactions"),
      keypoolsize: Result.integer("Watched receiving addresses that are not handed out yet"),
      keypoolsize_hd_internal: Result.integer("Watched change addresses that are not handed out yet"),
      unlocked_until: Schema.optional(
        Result.time("End of the unlocked time, 0 while locked; only for an encrypted wallet")
      ),
      renewals_only: Schema.optional(
        Result.boolean("True while the wallet is unlocked for renewals of names alone; otherwise missing")
      ),
      renewals_until: Schema.optional(Result.time("End of the time in which it renews names; else missing")),
      private_keys_enabled: Result.boolean("Whether the wallet may hold private keys"),
      avoid_reuse: Result.boolean("Whether payments leave out coins of addresses that the wallet has spent from"),
      scanning: Result.any("false, or the duration of a scan in seconds and its progress from 0 to 1"),
      descriptors: Result.boolean("true"),
      external_signer: Result.boolean("false"),
      blank: Result.boolean("Whether the wallet was created without keys and has none"),
      phrase_kept: Schema.optional(
        Result.boolean(
          "Whether the words of the wallet were shown or its file was copied; only for a wallet with words"
        )
      ),
      phrase_checked: Schema.optional(
        Result.time("When the owner last gave words of the wallet back (checkrecoverywords); missing if never")
      ),
      addresses_left: Schema.optional(
        Result.integer(
          "Addresses that can be given out before one of them is paid, of the type with the fewest: the recovery " +
            "words do not find more. Missing for a wallet without a seed, and until it has seen all blocks"
        )
      ),
      addresses_beyond: Schema.optional(
        Result.integer(
          "Addresses that were given out and that the recovery words find only if an earlier one is paid"
        )
      ),
      addresses_lost: Schema.optional(
        Result.integer("Addresses that were paid and that the recovery words do not find")
      ),
      birthtime: Schema.optional(Result.time("Earliest time at which the wallet may have been used")),
      flags: Schema.Array(Result.string("A flag")).annotations({ description: "The properties above as words" }),
      lastprocessedblock: LAST_BLOCK
    })
  }],
  examples: [[]]
})
