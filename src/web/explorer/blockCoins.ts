import type { Undo } from "../../chain/state/coinCodec.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { outpointKey, prevoutIndex, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"

/** Finds the coins that the transactions of one block spend. */
export interface BlockCoins {
  /** The coin at an outpoint (36 bytes, as on the wire); `undefined` if the undo data lack it. */
  readonly coin: (prevout: Bytes) => Coin | undefined
  /** The fee of a transaction in smallest units; `undefined` for a coinbase, or if a coin is missing. */
  readonly fee: (transaction: Transaction) => number | undefined
}

/**
 * The coins come from the undo data, or were made in the block itself. The txids of all transactions are computed only
 * if a coin was made in the block.
 */
export const blockCoins = (
  { block, height }: { readonly block: Block; readonly height: number },
  { removed }: Undo
): BlockCoins => {
  let made: ReadonlyMap<string, Transaction> | undefined
  const coin = (prevout: Bytes): Coin | undefined => {
    const known = removed.get(outpointKey(prevout))
    if (known !== undefined) return known
    made ??= new Map(block.transactions.map((transaction) => [transaction.txidKey, transaction]))
    const parent = made.get(txidKey(prevoutTxid(prevout)))
    const output = parent?.outputs[prevoutIndex(prevout)]
    return parent === undefined || output === undefined
      ? undefined
      : { ...output, height, coinbase: parent.isCoinbase }
  }
  const fee = ({ inputs, isCoinbase, outputs }: Transaction): number | undefined => {
    if (isCoinbase) return undefined
    let left = 0
    for (const { prevout } of inputs) {
      const found = coin(prevout)
      if (found === undefined) return undefined
      left += found.value
    }
    for (const { value } of outputs) left -= value
    return left
  }
  return { coin, fee }
}
