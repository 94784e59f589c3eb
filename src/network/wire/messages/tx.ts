import { readTransaction, type Transaction } from "../../../protocol/transaction.ts"
import { type Codec, codec, emptyCodec } from "../codec.ts"

export interface Tx {
  readonly type: "tx"
  readonly transaction: Transaction
}

/** With witnesses where there are some; the payload for those who did not ask for them is `strippedBytes()`. */
export const tx: Codec<Tx> = {
  decode: (reader) => ({ type: "tx", transaction: readTransaction(reader) }),
  encode: ({ transaction }) => [transaction.bytes]
}

/** Announce no transactions that pay less (BIP 133). */
export interface FeeFilter {
  readonly type: "feefilter"
  /** Smallest units for 1,000 virtual bytes. A peer may send any number: one that is no money means nothing. */
  readonly feeRate: number
}

export const feefilter = codec<FeeFilter>(
  (reader) => ({ type: "feefilter", feeRate: reader.i64("fee rate") }),
  (writer, { feeRate }) => writer.i64(feeRate)
)

/** Asks for an `inv` of the mempool (BIP 35). */
export interface Mempool {
  readonly type: "mempool"
}

export const mempool = emptyCodec<Mempool>({ type: "mempool" })
