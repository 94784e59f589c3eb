import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

export const GETINFO = contract({
  name: "getinfo",
  right: "read",
  group: "Control",
  summary: "Returns a summary of the node.",
  params: {},
  results: [{
    schema: Schema.Struct({
      version: Result.integer("Version of svcd, two digits for each part"),
      protocolversion: Result.integer("Version of the network protocol"),
      walletversion: Schema.optional(
        Result.needing(
          "names",
          Result.integer("As in getwalletinfo. This and the other wallet members are only present with a wallet")
        )
      ),
      balance: Schema.optional(
        Result.needing("names", Result.amount("Spendable balance of the wallet, as in getbalance"))
      ),
      blocks: Result.integer("Height of the tip"),
      timeoffset: Result.integer("Always 0: svcd does not correct the clock"),
      connections: Result.integer("Connected peers"),
      proxy: Result.string("The proxy, if any"),
      difficulty: Result.number("The tip's difficulty"),
      testnet: Result.boolean("Whether this is the test network"),
      keypoololdest: Schema.optional(
        Result.needing("names", Result.time("Earliest time at which the wallet may have been used"))
      ),
      keypoolsize: Schema.optional(
        Result.needing("names", Result.integer("Watched addresses that are not handed out yet"))
      ),
      unlocked_until: Schema.optional(
        Result.needing("names", Result.time("End of the unlocked time; only for an encrypted wallet"))
      ),
      paytxfee: Result.amount("Fee per kvB that the wallet pays, if it is set"),
      relayfee: Result.amount("Minimum fee per kvB for relay"),
      errors: Result.string("Warnings"),
      chain: Result.string("main, test or regtest"),
      initialblockdownload: Result.boolean("Whether the node is still catching up")
    })
  }],
  examples: [[]]
})
