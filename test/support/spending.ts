import type { ScriptError } from "../../src/consensus/interpreter/scriptError.ts"
import { SighashContext } from "../../src/consensus/sighash.ts"
import { verifyInput } from "../../src/consensus/verifyInput.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { type Bytes, EMPTY } from "../../src/protocol/bytes.ts"
import { Op } from "../../src/protocol/script.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../src/protocol/transaction.ts"

/** The coin that an output becomes, in an arbitrary block. */
export const coinOf = (script: Bytes, value = 0): Coin => ({ script, value, height: 1, coinbase: false })

/** The crediting transaction of upstream's script tests: two empty pushes unlock it, its output has the script. */
export const creditingTransaction = (script: Bytes, value = 0): Transaction =>
  makeTransaction({
    version: 1,
    inputs: [{
      prevout: outpoint(new Uint8Array(32), 0xffffffff),
      scriptSig: Uint8Array.of(Op.OP_0, Op.OP_0),
      sequence: 0xffffffff,
      witness: NO_WITNESS
    }],
    outputs: [{ value, script }],
    lockTime: 0
  })

/** What unlocks the input of a spending transaction, and its fields about time. */
export interface Unlock {
  readonly scriptSig?: Bytes
  readonly witness?: ReadonlyArray<Bytes>
  readonly sequence?: number
  readonly version?: number
  readonly lockTime?: number
}

/** The spending transaction of upstream's script tests: one input, one output without a script. */
export const spendingTransaction = (credit: Transaction, unlock: Unlock = {}): Transaction =>
  makeTransaction({
    version: unlock.version ?? 1,
    inputs: [{
      prevout: outpoint(credit.txid, 0),
      scriptSig: unlock.scriptSig ?? EMPTY,
      sequence: unlock.sequence ?? 0xffffffff,
      witness: unlock.witness ?? NO_WITNESS
    }],
    outputs: credit.outputs.map(({ value }) => ({ value, script: EMPTY })),
    lockTime: unlock.lockTime ?? 0
  })

/** The context of such a transaction before it is signed, and after. */
export const spendingContext = (script: Bytes, unlock: Unlock = {}, value = 0): SighashContext =>
  new SighashContext(spendingTransaction(creditingTransaction(script, value), unlock), [coinOf(script, value)])

/** Spends an output with this script; returns why that fails. */
export const spend = (script: Bytes, unlock: Unlock, flags: number, value = 0): ScriptError | undefined =>
  verifyInput({ context: spendingContext(script, unlock, value), index: 0, flags })
