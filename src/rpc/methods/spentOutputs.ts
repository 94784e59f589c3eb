import * as Effect from "effect/Effect"
import type { Coin } from "../../consensus/view.ts"
import { knownCoin } from "../../mempool/knownCoin.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { RpcError } from "../method/RpcError.ts"
import type { CallTurns } from "../SlowLane.ts"
import { storageError } from "./errors.ts"

/** By `outpointKey`, as far as the mempool and the chain have them. Other mempool transactions may spend them, too. */
export const findSpentOutputs = (
  node: Parameters<typeof knownCoin>[0],
  { inputs }: Transaction,
  turns: CallTurns
): Effect.Effect<ReadonlyMap<OutpointKey, Coin>, RpcError> =>
  Effect.gen(function*() {
    const found = new Map<OutpointKey, Coin>()
    for (const { prevout } of inputs) {
      const key = outpointKey(prevout)
      const coin = yield* knownCoin(node, key)
      if (coin !== undefined) found.set(key, coin)
      if (turns.isOver()) yield* turns.next
    }
    return found
  }).pipe(Effect.mapError(storageError))
