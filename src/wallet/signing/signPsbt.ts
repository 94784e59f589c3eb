import { Sighash } from "../../consensus/sighash.ts"
import { EMPTY } from "../../protocol/bytes.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import { isFinalInput, type Psbt, type PsbtInput } from "../../protocol/psbt/Psbt.ts"
import { witnessVersion } from "../../protocol/script.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import { mapSteps, runSteps, type Steps } from "../../protocol/steps.ts"
import { makeTransaction, type Transaction } from "../../protocol/transaction.ts"
import { produceSignature } from "./produce.ts"
import { dataOfInput, dataOfOutput, inputWith, outputWith, spentOutput } from "./psbtData.ts"
import { DUMMY_CREATOR, keyCreator, type SignatureCreator } from "./SignatureCreator.ts"
import type { Missing } from "./SignatureData.ts"
import { SigningContext } from "./SigningContext.ts"
import { NO_PROVIDER, type SigningProvider } from "./SigningProvider.ts"

/** The updater, signer, finalizer and extractor of BIP 174. Upstream `psbt.cpp`. */

/** `mismatch`: the hash type differs from the requested one, so nothing was signed. */
export type InputStatus = "complete" | "incomplete" | "mismatch"

export interface SignedPsbtInput {
  readonly input: PsbtInput
  readonly status: InputStatus
  readonly missing: Missing
}

const NOTHING_MISSING: Missing = { pubkeys: [], signatures: [], redeemScript: undefined, witnessScript: undefined }

/** The signing context of a PSBT, with the outputs that it contains. */
export const psbtContext = (psbt: Psbt): SigningContext =>
  new SigningContext(psbt.transaction, psbt.inputs.map((_, index) => spentOutput(psbt, index)))

/** Whether a finalized input is spendable. */
export const isSpendableInput = (context: SigningContext, index: number, input: PsbtInput): boolean =>
  context.spent[index] !== undefined &&
  context.verify(index, input.finalScriptSig ?? EMPTY, input.finalScriptWitness ?? []) === undefined

/** Whether a Schnorr signature has this hash type; the default is recognized by the length. */
const saysType = (signature: Uint8Array, hashType: number): boolean =>
  hashType === Sighash.DEFAULT ? signature.length === 64 : signature.length === 65 && signature[64] === hashType

/** Whether the existing signatures have the requested hash type. */
const matchesType = (input: PsbtInput, hashType: number): boolean => {
  const { partialSignatures, taprootKeySignature, taprootScriptSignatures } = input
  if (taprootKeySignature !== undefined && !saysType(taprootKeySignature, hashType)) return false
  if (![...taprootScriptSignatures.values()].every(({ signature }) => saysType(signature, hashType))) return false
  return hashType === Sighash.DEFAULT ||
    [...partialSignatures.values()].every(({ signature }) => signature[signature.length - 1] === hashType)
}

export interface PsbtSigning {
  /** The requested hash type; by default the one for the kind of output. */
  readonly hashType?: number | undefined
  /** Whether to finalize complete inputs. */
  readonly finalize?: boolean
  /** Whether to create placeholder signatures, for their sizes. */
  readonly dummy?: boolean
}

/** Signs one input of a PSBT, and adds the provider's data about it. */
export const signPsbtInput = (
  { context, index, psbt }: { readonly context: SigningContext; readonly psbt: Psbt; readonly index: number },
  provider: SigningProvider,
  { dummy = false, finalize = true, hashType }: PsbtSigning = {}
): SignedPsbtInput => {
  const before = psbt.inputs[index]
  if (before === undefined) throw new RangeError(`the PSBT has no input ${index}`)
  const untouched = (status: InputStatus): SignedPsbtInput => ({ input: before, status, missing: NOTHING_MISSING })
  if (isSpendableInput(context, index, before)) return untouched("complete")
  const utxo = spentOutput(psbt, index)
  // Final scripts that do not spend the output cannot be completed. Upstream verifies them for witness outputs alone.
  if (utxo === undefined || isFinalInput(before)) return untouched("incomplete")
  const isTaproot = scriptTemplate(utxo.script).type === "witness_v1_taproot"
  const asked = hashType ?? (isTaproot ? Sighash.DEFAULT : Sighash.ALL)
  if (before.sighashType !== undefined && before.sighashType !== asked) return untouched("mismatch")
  const isUsual = asked === Sighash.DEFAULT || (!isTaproot && asked === Sighash.ALL)
  const input = isUsual ? before : { ...before, sighashType: asked }
  if (!matchesType(input, asked)) return { ...untouched("mismatch"), input }

  const data = dataOfInput(input)
  const creator: SignatureCreator = dummy ? DUMMY_CREATOR : keyCreator(context, index, { provider, hashType: asked })
  const complete = produceSignature({ provider, creator, data }, utxo.script)
  // Without the previous transaction, only a signature that commits to the amount protects it.
  if (input.nonWitnessUtxo === undefined && !data.usesWitness) {
    return { ...untouched("incomplete"), input }
  }
  const after = inputWith(input, data, finalize)
  return {
    input: data.usesWitness ? { ...after, witnessUtxo: utxo } : after,
    status: complete ? "complete" : "incomplete",
    missing: data.missing
  }
}

/** Adds the provider's data about an output: scripts and key origins. */
const updateOutput = (psbt: Psbt, index: number, provider: SigningProvider): Psbt["outputs"][number] => {
  const map = psbt.outputs[index]
  const output = psbt.transaction.outputs[index]
  if (map === undefined || output === undefined) throw new RangeError(`the PSBT has no output ${index}`)
  const data = dataOfOutput(map)
  // A creator that signs everything visits all scripts and keys; its result is discarded.
  produceSignature({ provider, creator: { ...DUMMY_CREATOR, schnorr: () => undefined }, data }, output.script)
  return outputWith(map, data)
}

/**
 * Removes the previous transactions if the signatures commit to all amounts: every input is taproot, and none has
 * ANYONECANPAY.
 */
export const withoutNeedlessTransactions = (psbt: Psbt): Psbt => {
  const needless = psbt.inputs.every(({ sighashType = 0, witnessUtxo }) =>
    witnessUtxo !== undefined && witnessVersion(addressScript(witnessUtxo.script)) > 0 &&
    (sighashType & Sighash.ANYONECANPAY) === 0
  )
  return needless ? { ...psbt, inputs: psbt.inputs.map((input) => ({ ...input, nonWitnessUtxo: undefined })) } : psbt
}

export interface SignedPsbt {
  readonly psbt: Psbt
  readonly complete: boolean
  readonly statuses: ReadonlyArray<InputStatus>
}

/** Signs a PSBT as far as possible, and adds the provider's data about inputs and outputs. */
export function* signPsbtSteps(psbt: Psbt, provider: SigningProvider, options: PsbtSigning = {}): Steps<SignedPsbt> {
  const context = psbtContext(psbt)
  const signed = yield* mapSteps(psbt.inputs, (_, index) => signPsbtInput({ context, psbt, index }, provider, options))
  const updated = {
    ...psbt,
    inputs: signed.map(({ input }) => input),
    outputs: yield* mapSteps(psbt.outputs, (_, index) => updateOutput(psbt, index, provider))
  }
  const statuses = signed.map(({ status }) => status)
  return {
    psbt: withoutNeedlessTransactions(updated),
    complete: statuses.every((status) => status === "complete"),
    statuses
  }
}

/** Like `signPsbtSteps`, in one step: for a PSBT that this node made. */
export const signPsbt = (psbt: Psbt, provider: SigningProvider, options?: PsbtSigning): SignedPsbt =>
  runSteps(signPsbtSteps(psbt, provider, options))

/** Makes scriptSigs and witnesses from the existing signatures. */
export function* finalizePsbtSteps(psbt: Psbt): Steps<SignedPsbt> {
  const context = psbtContext(psbt)
  const signed = yield* mapSteps(
    psbt.inputs,
    (input, index) => signPsbtInput({ context, psbt, index }, NO_PROVIDER, { hashType: input.sighashType })
  )
  const statuses = signed.map(({ status }) => status)
  return {
    psbt: { ...psbt, inputs: signed.map(({ input }) => input) },
    complete: statuses.every((status) => status === "complete"),
    statuses
  }
}

/** The transaction of a PSBT with finalized inputs; other inputs stay without scriptSig and witness. */
export const extractTransaction = ({ inputs, transaction }: Psbt): Transaction => {
  const { lockTime, outputs, version } = transaction
  return makeTransaction({
    version,
    inputs: transaction.inputs.map((input, index) => ({
      ...input,
      scriptSig: inputs[index]?.finalScriptSig ?? EMPTY,
      witness: inputs[index]?.finalScriptWitness ?? []
    })),
    outputs,
    lockTime
  })
}
