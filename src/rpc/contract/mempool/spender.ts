import * as Schema from "effect/Schema"
import { mempoolContract } from "../../method/contract.ts"
import {
  boolean,
  hash,
  int32,
  longArray,
  namedOptions,
  object,
  optional,
  refined,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { EXAMPLE_TXID } from "../examples.ts"

const SPENDING = Schema.Array(Schema.Struct({
  txid: Result.hex("The output's transaction"),
  vout: Result.integer("Its index"),
  spendingtxid: Schema.optional(Result.hex("The spending transaction, if any")),
  blockhash: Schema.optional(Result.hex("The block of that transaction; not if it is in the mempool")),
  spendingtx: Schema.optional(Result.hex("That transaction, if requested"))
}))

const outputIndex = refined(int32("The index of the output."), (vout) => {
  if (vout < 0) return RpcError.invalidParameter("Invalid parameter, vout cannot be negative")
  return vout
})

export const GETTXSPENDINGPREVOUT = mempoolContract({
  name: "gettxspendingprevout",
  right: "read",
  summary: "Lists the transactions that spend given outputs: of the mempool, and with -txospenderindex of the chain.",
  params: {
    outputs: longArray(
      object({ txid: hash("The output's transaction."), vout: outputIndex }, "An output.", "refuse"),
      "The outputs."
    ),
    options: optional(namedOptions({
      mempool_only: optional(
        boolean("Whether to search only the mempool. If false, the index is needed."),
        "true without -txospenderindex"
      ),
      return_spending_tx: withDefault(boolean("Whether to return the whole transactions."), false)
    }, "Options."))
  },
  results: [{ schema: SPENDING }],
  examples: [[[{ txid: EXAMPLE_TXID, vout: 0 }]], [[{ txid: EXAMPLE_TXID, vout: 0 }], { return_spending_tx: true }]],
  errors: [
    "-8 Invalid parameter, outputs are missing",
    "-8 Invalid parameter, vout cannot be negative",
    "-1 No spending tx for the outpoint <txid>:<vout> in mempool, and txospenderindex is unavailable."
  ]
})
