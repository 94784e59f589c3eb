import * as Effect from "effect/Effect"
import { Wallets } from "../../../wallet/Wallets.ts"
import { ABORTRESCAN, RESCANBLOCKCHAIN } from "../../contract/wallet/rescan.ts"
import { SCANNING } from "../../contract/wallet/walletContext.ts"
import type { Method } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { walletMethod } from "./walletContext.ts"

/** Methods that scan the chain for a wallet (reference/rpc.md 3.9). */

export const rescanMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const rescanblockchain = make(RESCANBLOCKCHAIN, ({ start_height, stop_height }, wallet) =>
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
    }))

  const abortrescan = make(ABORTRESCAN, (_, wallet) => Effect.sync(() => wallet.ledger.abortRescan()))

  return [rescanblockchain, abortrescan]
})
