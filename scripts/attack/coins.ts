import { EMPTY } from "../../src/protocol/bytes.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../src/protocol/transaction.ts"
import type { Target } from "./Target.ts"

/** Pay to anchor: a standard output that anyone can spend, without a signature. */
export const ANCHOR = Uint8Array.of(0x51, 0x02, 0x4e, 0x73)

/** The fee of a transaction, in smallest units for each byte: twice the lowest fee rate that is relayed. */
const FEE_RATE = 200

/** Coins that one transaction makes from a reward. */
const FAN_OUT = 1_000

const input = (txid: Uint8Array, vout: number) => ({
  prevout: outpoint(txid, vout),
  scriptSig: EMPTY,
  sequence: 0xfffffffd,
  witness: NO_WITNESS
})

/** Makes many coins of equal value from the first output of a transaction. */
export const fanOut = (reward: Transaction): Transaction => {
  const total = reward.outputs[0]?.value ?? 0
  const size = 100 + FAN_OUT * (9 + ANCHOR.length)
  const value = Math.floor((total - FEE_RATE * size) / FAN_OUT)
  if (value <= 0) throw new RangeError(`a reward of ${total} is too little for ${FAN_OUT} coins`)
  return makeTransaction({
    version: 2,
    inputs: [input(reward.txid, 0)],
    outputs: Array.from({ length: FAN_OUT }, () => ({ value, script: ANCHOR })),
    lockTime: 0
  })
}

/** Spends a coin; `times` multiplies the usual fee, so that it replaces a transaction that paid less. */
const spend = (txid: Uint8Array, vout: number, value: number, times: number): Transaction => {
  const outputs = (fee: number) => [{ value: value - fee, script: ANCHOR }, { value: 0, script: Uint8Array.of(0x6a) }]
  const make = (fee: number) =>
    makeTransaction({ version: 2, inputs: [input(txid, vout)], outputs: outputs(fee), lockTime: 0 })
  return make(times * FEE_RATE * make(0).bytes.length)
}

/** Valid transactions, each spending one of the target's coins; with a higher `times` they replace each other. */
export const payments = ({ coinValue, coins }: Target, times: number): ReadonlyArray<Transaction> =>
  coins.map(({ txid, vout }) => spend(Buffer.from(txid, "hex").reverse(), vout, coinValue, times))

/** Valid transactions in chains of a length, from the first coins of the target. */
export const chains = ({ coinValue, coins }: Target, count: number, length: number): ReadonlyArray<Transaction> =>
  coins.slice(0, count).flatMap(({ txid, vout }) => {
    const chain: Array<Transaction> = []
    let last = spend(Buffer.from(txid, "hex").reverse(), vout, coinValue, 1)
    while (chain.push(last) < length) last = spend(last.txid, 0, last.outputs[0]?.value ?? 0, 1)
    return chain
  })
