import { Flag } from "../../consensus/flags.ts"
import type { ScriptError } from "../../consensus/interpreter/scriptError.ts"
import { SighashContext } from "../../consensus/sighash.ts"
import { verifyInput } from "../../consensus/verifyInput.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"
import { type Bytes, EMPTY } from "../../protocol/bytes.ts"
import type { Transaction, TransactionInput } from "../../protocol/transaction.ts"

/** The output that an input spends, as far as known. */
export interface SpentOutput {
  /** The complete scriptPubKey, including a name prefix. */
  readonly script: Bytes
  /** Smallest units; `undefined` if unknown. Signatures in witnesses commit to it. */
  readonly value: number | undefined
}

/** The rules for a signed input: all script rules, including policy. A scriptSig is made of pushes only. */
export const SIGNING_FLAGS: number = Object.values(Flag).reduce((all: number, flag) => all | flag, 0) &
  ~(Flag.SIGPUSHONLY | Flag.NAMES_MEMPOOL | Flag.NAMES_LONG_SALT)

/** Placeholder for an unknown amount. A signature that commits to it is invalid. */
const UNKNOWN_VALUE = MAX_MONEY

const placeholder = (output: SpentOutput | undefined) => ({
  script: output?.script ?? EMPTY,
  value: output?.value ?? UNKNOWN_VALUE,
  height: 0,
  coinbase: false
})

/** A transaction being signed: its signature hashes, and the verification of an input. */
export class SigningContext extends SighashContext {
  readonly spent: ReadonlyArray<SpentOutput | undefined>
  /** Whether all spent outputs are known, as taproot signatures require. */
  readonly allKnown: boolean
  private tried: { readonly index: number; readonly input: TransactionInput } | undefined

  /** `spent` has one entry for each input, in the same order. */
  constructor(transaction: Transaction, spent: ReadonlyArray<SpentOutput | undefined>) {
    super(transaction, spent.map(placeholder))
    this.spent = spent
    this.allKnown = spent.every((output) => output?.value !== undefined)
  }

  override input(index: number): TransactionInput {
    const { tried } = this
    return tried !== undefined && tried.index === index ? tried.input : super.input(index)
  }

  /** Why an input cannot be spent with this scriptSig and witness; `undefined` if it can. */
  verify(index: number, scriptSig: Bytes, witness: ReadonlyArray<Bytes>): ScriptError | undefined {
    this.tried = { index, input: { ...super.input(index), scriptSig, witness } }
    try {
      return verifyInput({ context: this, index, flags: SIGNING_FLAGS })
    } finally {
      this.tried = undefined
    }
  }
}
