import { Flag } from "../../consensus/flags.ts"
import type { ScriptError } from "../../consensus/interpreter/scriptError.ts"
import { SighashContext } from "../../consensus/sighash.ts"
import { verifyInput } from "../../consensus/verifyInput.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"
import { type Bytes, EMPTY } from "../../protocol/bytes.ts"
import type { Transaction, TransactionInput } from "../../protocol/transaction.ts"

/** The output that an input spends, as far as it is known. */
export interface SpentOutput {
  /** The whole scriptPubKey, a name prefix included. */
  readonly script: Bytes
  /** Smallest units; `undefined` where nobody said. Signatures in witnesses cover it. */
  readonly value: number | undefined
}

/**
 * The rules that a signed input has to meet: all there are for scripts, those of policy included. That a scriptSig
 * only pushes follows from how it is made.
 */
export const SIGNING_FLAGS: number = Object.values(Flag).reduce((all: number, flag) => all | flag, 0) &
  ~(Flag.SIGPUSHONLY | Flag.NAMES_MEMPOOL | Flag.NAMES_LONG_SALT)

/** What stands in for an amount that nobody said; no signature with it is worth anything. */
const UNKNOWN_VALUE = MAX_MONEY

const placeholder = (output: SpentOutput | undefined) => ({
  script: output?.script ?? EMPTY,
  value: output?.value ?? UNKNOWN_VALUE,
  height: 0,
  coinbase: false
})

/** A transaction that is being signed: its hashes, and whether an input could be spent with a given unlocking. */
export class SigningContext extends SighashContext {
  readonly spent: ReadonlyArray<SpentOutput | undefined>
  /** Whether all outputs that it spends are known, as taproot signatures need. */
  readonly allKnown: boolean
  private tried: { readonly index: number; readonly input: TransactionInput } | undefined

  /** The outputs are in the order of the inputs, and as many. */
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
