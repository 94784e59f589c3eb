import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import type { SyncStatus } from "../../../chain/SyncStatus.ts"
import type { Miner } from "../../../mempool/mining/Miner.ts"
import type { PeerManager } from "../../../network/PeerManager.ts"
import { type Bytes, displayHash } from "../../../protocol/bytes.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { GETAUXBLOCK } from "../../contract/mining/aux.ts"
import { methodHelp } from "../../method/help.ts"
import type { Method } from "../../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { auxMining, candidateJson } from "../auxMethods.ts"
import { ensureKeys } from "./spending.ts"
import { asRpcError, walletMethod } from "./walletContext.ts"

/** Source: upstream `wallet/rpc/auxpow.cpp` (reference/rpc.md 3.5). */

const NAME = "getauxblock"

interface Payout {
  readonly script: Bytes
  /** In display order. */
  readonly blocks: Set<string>
}

/** Unmined blocks remembered: one per second of a day. */
const MAX_BLOCKS = 86_400

export const auxWalletMethod: Effect.Effect<
  Method,
  never,
  Wallets | Chain | Miner | PeerManager | SyncStatus
> = Effect.gen(function*() {
  const { params: { powLimit } } = yield* Chain
  const mining = yield* auxMining
  const make = walletMethod(yield* Wallets)
  /** Concurrent calls share one new address. */
  const alone = yield* Effect.makeSemaphore(1)
  const payouts = new WeakMap<Wallet, Payout>()

  /** A fresh address, kept until a block that pays it is in the chain. */
  const payoutOf = (wallet: Wallet): Effect.Effect<Payout, RpcError> =>
    alone.withPermits(1)(Effect.gen(function*() {
      const known = payouts.get(wallet)
      if (known !== undefined) return known
      const { script } = yield* wallet.keys.reserveAddress(wallet.rules.addressType).pipe(
        Effect.map(({ own }) => own),
        Effect.mapError((failure) => {
          const { message } = asRpcError(failure)
          return new RpcError({
            code: RPC_CODE.keypoolRanOut,
            message: `Failed to generate mining address: ${message}`
          })
        })
      )
      const payout: Payout = { script, blocks: new Set() }
      payouts.set(wallet, payout)
      return payout
    }))

  return make(GETAUXBLOCK, ({ auxpow, hash }, wallet, { methods }) =>
    Effect.gen(function*() {
      if ((hash === undefined) !== (auxpow === undefined)) {
        const self = methods.get(NAME)
        return yield* RpcError.misc(self === undefined ? NAME : methodHelp(self))
      }
      yield* ensureKeys(wallet)
      if (hash === undefined || auxpow === undefined) {
        const payout = yield* payoutOf(wallet)
        const candidate = yield* mining.create(payout.script)
        if (payout.blocks.size >= MAX_BLOCKS) payout.blocks.clear()
        payout.blocks.add(displayHash(candidate.header.hash))
        return candidateJson(candidate, powLimit)
      }
      const accepted = yield* mining.submit({ hash, auxpow })
      if (accepted && payouts.get(wallet)?.blocks.has(hash.toLowerCase()) === true) payouts.delete(wallet)
      return accepted
    }))
})
