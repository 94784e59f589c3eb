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

/** `mismatch`: the hash type is not the one that is asked for, so that nothing was signed. */
export type InputStatus = "complete" | "incomplete" | "mismatch"

export interface SignedPsbtInput {
  readonly input: PsbtInput
  readonly status: InputStatus
  readonly missing: Missing
}

const NOTHING_MISSING: Missing = { pubkeys: [], signatures: [], redeemScript: undefined, witnessScript: undefined }

/** The context in which the inputs of a PSBT are signed: with the outputs that it knows. */
export const psbtContext = (psbt: Psbt): SigningContext =>
  new SigningContext(psbt.transaction, psbt.inputs.map((_, index) => spentOutput(psbt, index)))

/** Whether a finished input can be spent as it is. */
export const isSpendableInput = (context: SigningContext, index: number, input: PsbtInput): boolean =>
  context.spent[index] !== undefined &&
  context.verify(index, input.finalScriptSig ?? EMPTY, input.finalScriptWitness ?? []) === undefined

/** Whether a Schnorr signature says this hash type, the default by its length. */
const saysType = (signature: Uint8Array, hashType: number): boolean =>
  hashType === Sighash.DEFAULT ? signature.length === 64 : signature.length === 65 && signature[64] === hashType

/** Whether the signatures that are there have the hash type that is asked for. */
const matchesType = (input: PsbtInput, hashType: number): boolean => {
  const { partialSignatures, taprootKeySignature, taprootScriptSignatures } = input
  if (taprootKeySignature !== undefined && !saysType(taprootKeySignature, hashType)) return false
  if (![...taprootScriptSignatures.values()].every(({ signature }) => saysType(signature, hashType))) return false
  return hashType === Sighash.DEFAULT ||
    [...partialSignatures.values()].every(({ signature }) => signature[signature.length - 1] === hashType)
}

export interface PsbtSigning {
  /** What the signer asks for; left out: the default for the kind of output. */
  readonly hashType?: number | undefined
  /** Whether inputs that have all they need become finished. */
  readonly finalize?: boolean
  /** Whether only the sizes of signatures matter. */
  readonly dummy?: boolean
}

/** Signs one input of a PSBT and takes over what the provider knows of it. */
export const signPsbtInput = (
  context: SigningContext,
  psbt: Psbt,
  index: number,
  provider: SigningProvider,
  { dummy = false, finalize = true, hashType }: PsbtSigning = {}
): SignedPsbtInput => {
  const before = psbt.inputs[index]
  if (before === undefined) throw new RangeError(`the PSBT has no input ${index}`)
  const untouched = (status: InputStatus): SignedPsbtInput => ({ input: before, status, missing: NOTHING_MISSING })
  if (isSpendableInput(context, index, before)) return untouched("complete")
  const utxo = spentOutput(psbt, index)
  if (utxo === undefined) return untouched("incomplete")
  const isTaproot = scriptTemplate(utxo.script).type === "witness_v1_taproot"
  const asked = hashType ?? (isTaproot ? Sighash.DEFAULT : Sighash.ALL)
  if (before.sighashType !== undefined && before.sighashType !== asked) return untouched("mismatch")
  const isUsual = asked === Sighash.DEFAULT || (!isTaproot && asked === Sighash.ALL)
  const input = isUsual ? before : { ...before, sighashType: asked }
  if (!matchesType(input, asked)) return { ...untouched("mismatch"), input }

  const data = dataOfInput(input)
  const creator: SignatureCreator = dummy ? DUMMY_CREATOR : keyCreator(context, index, provider, asked)
  const complete = produceSignature({ provider, creator, data }, utxo.script)
  // Without the whole transaction nothing vouches for the amount, but a signature that covers it.
  if (input.nonWitnessUtxo === undefined && !data.usesWitness && !isFinalInput(before)) {
    return { ...untouched("incomplete"), input }
  }
  const after = inputWith(input, data, finalize)
  return {
    input: data.usesWitness ? { ...after, witnessUtxo: utxo } : after,
    status: complete ? "complete" : "incomplete",
    missing: data.missing
  }
}

/** Adds what a provider knows of an output: scripts and where keys come from. */
const updateOutput = (psbt: Psbt, index: number, provider: SigningProvider): Psbt["outputs"][number] => {
  const map = psbt.outputs[index]
  const output = psbt.transaction.outputs[index]
  if (map === undefined || output === undefined) throw new RangeError(`the PSBT has no output ${index}`)
  const data = dataOfOutput(map)
  // A signature that stops at nothing finds all scripts and keys; what it makes is thrown away.
  produceSignature({ provider, creator: { ...DUMMY_CREATOR, schnorr: () => undefined }, data }, output.script)
  return outputWith(map, data)
}

/**
 * Leaves whole previous transactions out where signatures cover all amounts anyway: if every input is taproot, and none
 * is signed for itself alone.
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
  /** Whether every input has what it needs to be spent. */
  readonly complete: boolean
  /** What came of each input. */
  readonly statuses: ReadonlyArray<InputStatus>
}

/** Signs what can be signed of a PSBT, and adds what the provider knows of inputs and outputs. */
export function* signPsbtSteps(psbt: Psbt, provider: SigningProvider, options: PsbtSigning = {}): Steps<SignedPsbt> {
  const context = psbtContext(psbt)
  const signed = yield* mapSteps(psbt.inputs, (_, index) => signPsbtInput(context, psbt, index, provider, options))
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

/** The same in one step: for a PSBT that this node made itself. */
export const signPsbt = (psbt: Psbt, provider: SigningProvider, options?: PsbtSigning): SignedPsbt =>
  runSteps(signPsbtSteps(psbt, provider, options))

/** Makes scriptSigs and witnesses of the signatures that are there. */
export function* finalizePsbtSteps(psbt: Psbt): Steps<SignedPsbt> {
  const context = psbtContext(psbt)
  const signed = yield* mapSteps(
    psbt.inputs,
    (input, index) => signPsbtInput(context, psbt, index, NO_PROVIDER, { hashType: input.sighashType })
  )
  const statuses = signed.map(({ status }) => status)
  return {
    psbt: { ...psbt, inputs: signed.map(({ input }) => input) },
    complete: statuses.every((status) => status === "complete"),
    statuses
  }
}

/** The same in one step. */
export const finalizePsbt = (psbt: Psbt): SignedPsbt => runSteps(finalizePsbtSteps(psbt))

/** The transaction of a PSBT whose inputs are all finished; of others, with what there is. */
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
