import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { Method } from "../../method/methodTable.ts"
import { int32, optional, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { SCANNING, walletMethod } from "./walletContext.ts"

/** Methods that scan the chain for a wallet (reference/rpc.md 3.9). */

export const rescanMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const rescanblockchain = make({
    name: "rescanblockchain",
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
    ],
    handler: ({ start_height, stop_height }, wallet) =>
      Effect.gen(function*() {
        if (wallet.ledger.scanning() !== undefined) return yield* RpcError.wallet(SCANNING)
        const { height } = wallet.ledger.lastBlock()
        if (start_height < 0 || start_height > height) return yield* RpcError.invalidParameter("Invalid start_height")
        if (stop_height !== undefined) {
          if (stop_height < 0 || stop_height > height) return yield* RpcError.invalidParameter("Invalid stop_height")
          if (stop_height < start_height) {
            return yield* RpcError.invalidParameter("stop_height must be greater than start_height")
          }
        }
        return { start_height, stop_height: yield* wallet.ledger.rescan(start_height, stop_height) }
      })
  })

  const abortrescan = make({
    name: "abortrescan",
    writes: true,
    summary: "Stops the running scan of blocks for the wallet, which then fails. Its transactions so far stay.",
    params: {},
    results: [{ schema: Result.boolean("Whether a scan was running") }],
    examples: [[]],
    handler: (_, wallet) => Effect.sync(() => wallet.ledger.abortRescan())
  })

  return [rescanblockchain, abortrescan]
})
