import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import { int32, optional, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { SCANNING } from "./walletParams.ts"

export const RESCANBLOCKCHAIN = walletContract({
  name: "rescanblockchain",
  coins: "any",
  writes: true,
  summary: "Scans blocks again for transactions of the wallet.",
  params: {
    start_height: withDefault(int32("The first block."), 0),
    stop_height: optional(int32("The last block."), "the tip")
  },
  results: [{
    schema: Schema.Struct({
      start_height: Result.integer("The first block"),
      stop_height: Result.integer("The last scanned block")
    })
  }],
  examples: [[], [100_000, 120_000]],
  errors: [
    `-4 ${SCANNING}`,
    "-8 Invalid start_height",
    "-8 Invalid stop_height",
    "-8 stop_height must be greater than start_height",
    "-1 Rescan aborted."
  ]
})

export const ABORTRESCAN = walletContract({
  name: "abortrescan",
  coins: "any",
  writes: true,
  summary: "Aborts the wallet's running block scan, which then fails. Transactions found so far stay.",
  params: {},
  results: [{ schema: Result.boolean("Whether a scan was running") }],
  examples: [[]]
})
