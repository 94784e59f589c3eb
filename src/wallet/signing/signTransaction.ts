import { type ScriptError, scriptErrorMessages } from "../../consensus/interpreter/scriptError.ts"
import { Sighash } from "../../consensus/sighash.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { mapSteps, runSteps, type Steps } from "../../protocol/steps.ts"
import {
  makeTransaction,
  prevoutIndex,
  prevoutTxid,
  type Transaction,
  type TransactionInput
} from "../../protocol/transaction.ts"
import { extractData } from "./extract.ts"
import { produceSignature } from "./produce.ts"
import { keyCreator } from "./SignatureCreator.ts"
import { SignatureData } from "./SignatureData.ts"
import { SigningContext, type SpentOutput } from "./SigningContext.ts"
import { NO_PROVIDER, type SigningProvider } from "./SigningProvider.ts"

/** Without a PSBT. Source: upstream `script/sign.cpp`, `SignTransaction`. */

/** An unsigned or incomplete input, as it is now. */
export interface SigningFailure {
  readonly index: number
  /** Display order. */
  readonly txid: string
  readonly vout: number
  readonly witness: ReadonlyArray<Bytes>
  readonly scriptSig: Bytes
  readonly sequence: number
  /** Upstream's text. */
  readonly error: string
}

export interface SignedTransaction {
  readonly transaction: Transaction
  readonly complete: boolean
  readonly errors: ReadonlyArray<SigningFailure>
}

export interface SignedInput {
  readonly input: TransactionInput
  readonly error: string | undefined
}

export const MISSING_COIN = "Input not found or already spent"
export const MISSING_AMOUNT = "Missing amount"

const errorText = (error: ScriptError): string => {
  switch (error) {
    case "INVALID_STACK_OPERATION":
      return "Unable to sign input, invalid stack size (possibly missing key)"
    case "SIG_NULLFAIL":
      return "CHECK(MULTI)SIG failing with non-zero signature (possibly need more signatures)"
    default:
      return scriptErrorMessages[error]
  }
}

/** SIGHASH_SINGLE without an output of the same index signs the constant 1, which others can reuse: refused. */
const canSign = (
  { transaction }: SigningContext,
  { hashType, index }: { readonly index: number; readonly hashType: number }
): boolean => (hashType & ~Sighash.ANYONECANPAY) !== Sighash.SINGLE || index < transaction.outputs.length

/** Keeps existing signatures. `hashType` 0 is the default: ALL, and for taproot a signature of 64 bytes. */
export const signInput = (
  context: SigningContext,
  index: number,
  { hashType = Sighash.DEFAULT, provider }: {
    readonly provider: SigningProvider
    readonly hashType?: number | undefined
  }
): SignedInput => {
  const before = context.input(index)
  const output = context.spent[index]
  if (output === undefined) return { input: before, error: MISSING_COIN }
  const data = extractData(context, index)
  if (canSign(context, { index, hashType })) {
    produceSignature({ provider, creator: keyCreator(context, index, { provider, hashType }), data }, output.script)
  }
  const input = { ...before, scriptSig: data.scriptSig, witness: data.witness }
  if (output.value === undefined && input.witness.length > 0) return { input, error: MISSING_AMOUNT }
  const error = data.complete ? undefined : context.verify(index, input.scriptSig, input.witness)
  return { input, error: error === undefined ? undefined : errorText(error) }
}

const failure = ({ error, input }: SignedInput, index: number): ReadonlyArray<SigningFailure> => {
  if (error === undefined) return []
  const { prevout, scriptSig, sequence, witness } = input
  const txid = displayHash(prevoutTxid(prevout))
  return [{ index, txid, vout: prevoutIndex(prevout), witness, scriptSig, sequence, error }]
}

const withInputs = (
  { lockTime, outputs, version }: Transaction,
  inputs: ReadonlyArray<TransactionInput>
): Transaction => makeTransaction({ version, inputs, outputs, lockTime })

/** `coins`: the spent outputs in input order, `undefined` if unknown. */
export function* signTransactionSteps(
  transaction: Transaction,
  coins: ReadonlyArray<SpentOutput | undefined>,
  { hashType = Sighash.DEFAULT, provider }: {
    readonly provider: SigningProvider
    readonly hashType?: number | undefined
  }
): Steps<SignedTransaction> {
  const context = new SigningContext(transaction, coins)
  const signed = yield* mapSteps(transaction.inputs, (_, index) => signInput(context, index, { provider, hashType }))
  const errors = signed.flatMap(failure)
  const inputs = signed.map(({ input }) => input)
  return { transaction: withInputs(transaction, inputs), complete: errors.length === 0, errors }
}

/** In one step: for a transaction that this node made. */
export const signTransaction = (
  transaction: Transaction,
  coins: ReadonlyArray<SpentOutput | undefined>,
  { hashType, provider }: { readonly provider: SigningProvider; readonly hashType?: number | undefined }
): SignedTransaction => runSteps(signTransactionSteps(transaction, coins, { provider, hashType }))

/** Later copies may have fewer inputs. Source: upstream `rpc/rawtransaction.cpp`, `combinerawtransaction`. */
export function* combineSignaturesSteps(
  first: Transaction,
  others: ReadonlyArray<Transaction>,
  coins: ReadonlyArray<SpentOutput>
): Steps<Transaction> {
  const contexts = [first, ...others].map((transaction) =>
    new SigningContext(transaction, transaction.inputs.map((_, index) => coins[index]))
  )
  const own = new SigningContext(first, coins)
  const inputs = yield* mapSteps(first.inputs, (input, index) => {
    const output = coins[index]
    if (output === undefined) return input
    const data = new SignatureData()
    for (const context of contexts) {
      if (index < context.transaction.inputs.length) data.merge(extractData(context, index))
    }
    produceSignature(
      {
        provider: NO_PROVIDER,
        creator: keyCreator(own, index, { provider: NO_PROVIDER, hashType: Sighash.ALL }),
        data
      },
      output.script
    )
    return { ...input, scriptSig: data.scriptSig, witness: data.witness }
  })
  return withInputs(first, inputs)
}
