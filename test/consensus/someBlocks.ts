import { checkBlockContext } from "../../src/consensus/block.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, EMPTY } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionInput
} from "../../src/protocol/transaction.ts"
import { ANYONE, BLOCK_VERSION, currency, makeCoinbase, minimalAuxpow } from "../support/regtest.ts"

export const output = (value: number, script: Bytes = ANYONE) => ({ value, script })

export const spending = (n: number, overrides: Partial<TransactionInput> = {}): TransactionInput => {
  const txid = new Uint8Array(32).fill(7)
  new DataView(txid.buffer).setUint32(0, n)
  return { prevout: outpoint(txid, 0), scriptSig: EMPTY, sequence: 0xffffffff, witness: NO_WITNESS, ...overrides }
}

export const spender = (n: number): Transaction => currency([spending(n)], [output(1)])

export const COINBASE = makeCoinbase(100, [output(50)])

/** A block without proof of work. */
export const blockOf = (transactions: ReadonlyArray<Transaction>, root?: Bytes, time = 1_700_000_000): Block => {
  const header = makeHeader({
    version: BLOCK_VERSION,
    prevHash: new Uint8Array(32),
    merkleRoot: root ?? merkleRoot(transactions.map(({ txid }) => txid)).root,
    time,
    bits: 0x207fffff,
    nonce: 0
  })
  return makeBlock({ header, auxpow: undefined }, transactions)
}

/** The same block with a merged-mining proof of at least this many bytes. */
export const withProof = (block: Block, size: number): Block => {
  const auxpow = minimalAuxpow(block.header)
  const coinbase = makeTransaction({ ...auxpow.coinbase, outputs: [output(0, new Uint8Array(size))] })
  return makeBlock({ header: block.header, auxpow: makeAuxpow({ ...auxpow, coinbase }) }, block.transactions)
}

export const context = (height: number, params = regtestParams, medianTimePast = 1_699_999_000) => ({
  height,
  medianTimePast,
  params
})

export const contextual = (block: Block, ...rest: Parameters<typeof context>): string | undefined => {
  const broken = checkBlockContext(block, context(...rest))
  return broken === undefined ? undefined : `${broken.kind}: ${broken.reason}`
}
