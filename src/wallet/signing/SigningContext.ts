import { Flag } from "../../consensus/flags.ts"
import type { ScriptError } from "../../consensus/interpreter/scriptError.ts"
import { SighashContext } from "../../consensus/sighash.ts"
import { verifyInput } from "../../consensus/verifyInput.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"
import { type Bytes, EMPTY } from "../../protocol/bytes.ts"
import type { Transaction, TransactionInput } from "../../protocol/transaction.ts"

export interface SpentOutput {
  /** Complete, including a name prefix. */
  readonly script: Bytes
  /** Smallest units. Witness signatures commit to it. */
  readonly value: number | undefined
}

/** All script rules, including policy. A scriptSig has pushes only. */
export const SIGNING_FLAGS: number = Object.values(Flag).reduce((all: number, flag) => all | flag, 0) &
  ~(Flag.SIGPUSHONLY | Flag.NAMES_MEMPOOL | Flag.NAMES_LONG_SALT)

/** A signature that commits to this placeholder is invalid. */
const UNKNOWN_VALUE = MAX_MONEY

const placeholder = (output: SpentOutput | undefined) => ({
  script: output?.script ?? EMPTY,
  value: output?.value ?? UNKNOWN_VALUE,
  height: 0,
  coinbase: false
})

export class SigningContext extends SighashContext {
  readonly spent: ReadonlyArray<SpentOutput | undefined>
  /** Required by taproot signatures. */
  readonly allKnown: boolean
  private tried: { readonly index: number; readonly input: TransactionInput } | undefined

  /** `spent` has one entry per input, in order. */
  constructor(transaction: Transaction, spent: ReadonlyArray<SpentOutput | undefined>) {
    super(transaction, spent.map(placeholder))
    this.spent = spent
    this.allKnown = spent.every((output) => output?.value !== undefined)
  }

  override input(index: number): TransactionInput {
    const { tried } = this
    return tried !== undefined && tried.index === index ? tried.input : super.input(index)
  }

  verify(index: number, scriptSig: Bytes, witness: ReadonlyArray<Bytes>): ScriptError | undefined {
    this.tried = { index, input: { ...super.input(index), scriptSig, witness } }
    try {
      return verifyInput({ context: this, index, flags: SIGNING_FLAGS })
    } finally {
      this.tried = undefined
    }
  }
}
