import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { boolean, freeText, namedOptions, orEmpty, string, withDefault } from "../../method/params.ts"

export const DOWNLOADING = "Can only import the mempool after the block download and sync is done."

export const UNUSABLE = "Unable to import mempool file, see debug.log for details."

export const IMPORTMEMPOOL = contract({
  name: "importmempool",
  coins: "any",
  writes: true,
  group: "Mempool",
  summary: "Offers the transactions of a file to the mempool. The file is that of savemempool, or the mempool.dat " +
    "of Namecoin Core. The log tells how many were accepted. Do not take over the rest of the file of another " +
    "operator.",
  params: {
    filepath: freeText(string("The file.")),
    options: orEmpty(namedOptions({
      use_current_time: withDefault(
        boolean("Whether the transactions count as arriving now, not at the times of the file."),
        true
      ),
      apply_fee_delta_priority: withDefault(
        boolean("Whether to add the fee changes of the file to those of the node."),
        false
      ),
      apply_unbroadcast_set: withDefault(
        boolean("Whether to announce transactions that no peer of the other node had requested until a peer does."),
        false
      )
    }, "Options."))
  },
  results: [{ schema: Schema.Struct({}) }],
  examples: [["/path/to/mempool.dat"]],
  errors: [`-10 ${DOWNLOADING}`, `-1 ${UNUSABLE}`]
})
