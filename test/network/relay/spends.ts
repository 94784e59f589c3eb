import { fromBinaryString } from "../../../src/protocol/bytes.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../../src/protocol/transaction.ts"

/** An outpoint without a transaction. */
export const nowhere = (seed: number): Uint8Array => outpoint(new Uint8Array(32).fill(seed), seed)

export interface SpendOptions {
  /** Outpoints to spend; default is one without a transaction. */
  readonly of?: ReadonlyArray<Uint8Array>
  readonly outputs?: number
  /** Distinguishes transactions. */
  readonly seed?: number
  /** The witness of the first input. */
  readonly witness?: ReadonlyArray<Uint8Array>
  /** Bytes of the script of the first input. */
  readonly bulk?: number
}

/** A transaction that needs no key. */
export const spend = ({ bulk = 0, of, outputs = 1, seed = 0, witness = NO_WITNESS }: SpendOptions = {}): Transaction =>
  makeTransaction({
    version: 2,
    lockTime: seed,
    inputs: (of ?? [nowhere(seed)]).map((prevout, i) => ({
      prevout,
      scriptSig: new Uint8Array(i === 0 ? bulk : 0),
      sequence: 0xffffffff,
      witness: i === 0 ? witness : NO_WITNESS
    })),
    outputs: Array.from({ length: outputs }, () => ({ value: 1000, script: Uint8Array.of(0x51) }))
  })

/** The outpoint of an output. */
export const coinOf = ({ txid }: Transaction, index = 0): Uint8Array => outpoint(txid, index)

export const keyBytes = fromBinaryString
