import { meetsTarget } from "../../consensus/difficulty.ts"
import { type Auxpow, makeAuxpow } from "../../protocol/auxpow.ts"
import { type Bytes, concat, reversed } from "../../protocol/bytes.ts"
import { hash256 } from "../../protocol/hash.ts"
import { Header, makeHeader } from "../../protocol/header.ts"
import { pushData } from "../../protocol/script.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../protocol/transaction.ts"

// The smallest merged-mining proof: a parent block with only a coinbase that commits to our block
// (reference/protocol.md 2.5; upstream `auxpow.cpp`, `createAuxPow`).

/** Tree size 1, nonce 0: the parent commits only to our chain. */
const SINGLE_CHAIN = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)

const NULL_OUTPOINT = outpoint(new Uint8Array(32), 0xffffffff)

const NONCE_AT = 76

/** The parent's coinbase, which commits to a block hash in wire order. */
export const parentCoinbase = (hash: Bytes): Transaction =>
  makeTransaction({
    version: 1,
    inputs: [{
      prevout: NULL_OUTPOINT,
      scriptSig: pushData(concat(reversed(hash), SINGLE_CHAIN)),
      sequence: 0xffffffff,
      witness: NO_WITNESS
    }],
    outputs: [],
    lockTime: 0
  })

const parentHeader = (coinbase: Transaction, nonce: number): Header =>
  makeHeader({ version: 1, prevHash: new Uint8Array(32), merkleRoot: coinbase.txid, time: 0, bits: 0, nonce })

/** The input of a nonce search. The target is our block's, whatever bits the parent has. */
export interface AuxpowWork {
  readonly coinbase: Transaction
  readonly bits: number
  readonly powLimit: bigint
}

/** Tries `count` nonces from `first`. Returns the parent with the first one that meets the target. */
export const mineParent = (
  { bits, coinbase, powLimit }: AuxpowWork,
  { count, first }: { readonly first: number; readonly count: number }
): Header | undefined => {
  const bytes = parentHeader(coinbase, first).bytes.slice()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let nonce = first; nonce < first + count; nonce++) {
    view.setUint32(NONCE_AT, nonce, true)
    if (meetsTarget(hash256(bytes), bits, powLimit)) return new Header(bytes)
  }
  return undefined
}

export const minimalAuxpow = (coinbase: Transaction, parent: Header): Auxpow =>
  makeAuxpow({ coinbase, coinbaseBranch: [], chainBranch: [], chainIndex: 0, parent })
