import * as Schema from "effect/Schema"
import { utilContract, walletContract } from "../../method/contract.ts"
import { boolean, freeText, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NO_SIGNER } from "./walletFile.ts"
import { LAST_BLOCK } from "./walletTransactions.ts"

export const NO_OLD_WALLETS = "Error: This wallet is already a descriptor wallet"

export const NO_SIGNER_OF_ADDRESS = "There is no ScriptPubKeyManager for this address"

export const SETWALLETFLAG = walletContract({
  name: "setwalletflag",
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

export const MIGRATEWALLET = walletContract({
  name: "migratewallet",
  coins: "any",
  writes: true,
  summary: "Always fails: svcd has no legacy wallets to convert to descriptors.",
  params: {
    wallet_name: freeText(optional(string("Name of the wallet."), "the wallet of the path")),
    passphrase: freeText(optional(string("Its passphrase.")))
  },
  results: [{ schema: Result.nothing("never") }],
  examples: [["old"]],
  errors: [`-4 ${NO_OLD_WALLETS}`]
})

export const WALLETDISPLAYADDRESS = walletContract({
  name: "walletdisplayaddress",
  coins: "any",
  summary: "Always fails: svcd has no external signers that could show an address.",
  params: { address: string("The address.") },
  results: [{ schema: Result.nothing("never") }],
  examples: [["N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"]],
  errors: ["-5 Invalid address", `-1 ${NO_SIGNER_OF_ADDRESS}`]
})

export const ENUMERATESIGNERS = utilContract({
  name: "enumeratesigners",
  coins: "any",
  summary: "Always fails: svcd has no external signers.",
  params: {},
  results: [{ schema: Result.nothing("never") }],
  examples: [[]],
  errors: [`-1 ${NO_SIGNER}`]
})

export const GETWALLETINFO = walletContract({
  name: "getwalletinfo",
  coins: "any",
  right: "names",
  summary: "Returns the properties and the state of the wallet.",
  params: {},
  results: [{
    schema: Schema.Struct({
      walletname: Result.string("The wallet; empty for the default one"),
      walletversion: Result.integer("The version that Namecoin Core reports for every wallet"),
      format: Result.string("json"),
      txcount: Result.integer("Transactions"),
      keypoolsize: Result.integer("Watched receiving addresses that have not been issued"),
      keypoolsize_hd_internal: Result.integer("Watched change addresses that have not been issued"),
      unlocked_until: Schema.optional(
        Result.time("Time at which it locks again, 0 while locked; only for an encrypted wallet")
      ),
      renewals_only: Schema.optional(
        Result.boolean("True while the wallet is unlocked only for renewals; otherwise missing")
      ),
      renewals_until: Schema.optional(Result.time("End of the time during which it renews names; otherwise missing")),
      private_keys_enabled: Result.boolean("Whether the wallet may hold private keys"),
      avoid_reuse: Result.boolean("Whether payments leave out coins of addresses that the wallet has spent from"),
      scanning: Result.any("false, or the duration of a scan in seconds and its progress from 0 to 1"),
      descriptors: Result.boolean("true"),
      external_signer: Result.boolean("false"),
      blank: Result.boolean("Whether the wallet was created without keys and has none"),
      phrase_kept: Schema.optional(
        Result.boolean(
          "Whether the seed phrase was shown or the wallet file backed up; only for a wallet with a seed phrase"
        )
      ),
      phrase_checked: Schema.optional(
        Result.time(
          "Time of the owner's last successful check of the seed phrase (checkrecoverywords); missing if never"
        )
      ),
      addresses_left: Schema.optional(
        Result.integer(
          "Addresses that can be issued before one of them is paid, for the type with the fewest: the seed " +
            "phrase does not recover more. Missing for a wallet without a seed, and until it has seen all blocks"
        )
      ),
      addresses_beyond: Schema.optional(
        Result.integer(
          "Issued addresses that a recovery finds only if an earlier one is paid"
        )
      ),
      addresses_lost: Schema.optional(
        Result.integer("Paid addresses that a recovery does not find")
      ),
      birthtime: Schema.optional(Result.time("Earliest time at which the wallet may have been used")),
      flags: Schema.Array(Result.string("A flag")).annotations({ description: "The properties above, by name" }),
      lastprocessedblock: LAST_BLOCK
    })
  }],
  examples: [[]]
})
