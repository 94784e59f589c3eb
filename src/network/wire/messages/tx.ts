import { readTransaction, type Transaction } from "../../../protocol/transaction.ts"
import { type Codec, codec, emptyCodec } from "../codec.ts"

export interface Tx {
  readonly type: "tx"
  readonly transaction: Transaction
}

/** With witnesses if any. Peers that did not request witnesses get `strippedBytes()`. */
export const tx: Codec<Tx> = {
  decode: (reader) => ({ type: "tx", transaction: readTransaction(reader) }),
  encode: ({ transaction }) => [transaction.bytes]
}

/** Requests no announcements of transactions with a lower fee rate (BIP 133). */
export interface FeeFilter {
  readonly type: "feefilter"
  /** Smallest units per 1,000 virtual bytes. A peer may send any number; an invalid amount has no effect. */
  readonly feeRate: number
}

export const feefilter = codec<FeeFilter>(
  (reader) => ({ type: "feefilter", feeRate: reader.i64("fee rate") }),
  (writer, { feeRate }) => writer.i64(feeRate)
)

/** Requests an `inv` of the mempool (BIP 35). */
export interface MempoolRequest {
  readonly type: "mempool"
}

export const mempool = emptyCodec<MempoolRequest>({ type: "mempool" })
