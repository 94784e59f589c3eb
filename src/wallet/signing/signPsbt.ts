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

/** `mismatch`: not signed, because the hash type differs from the requested one. */
export type InputStatus = "complete" | "incomplete" | "mismatch"

export interface SignedPsbtInput {
  readonly input: PsbtInput
  readonly status: InputStatus
  readonly missing: Missing
}

const NOTHING_MISSING: Missing = { pubkeys: [], signatures: [], redeemScript: undefined, witnessScript: undefined }

export const psbtContext = (psbt: Psbt): SigningContext =>
  new SigningContext(psbt.transaction, psbt.inputs.map((_, index) => spentOutput(psbt, index)))

export const isSpendableInput = (context: SigningContext, index: number, input: PsbtInput): boolean =>
  context.spent[index] !== undefined &&
  context.verify(index, input.finalScriptSig ?? EMPTY, input.finalScriptWitness ?? []) === undefined

/** The default type is recognized by the length. */
const saysType = (signature: Uint8Array, hashType: number): boolean =>
  hashType === Sighash.DEFAULT ? signature.length === 64 : signature.length === 65 && signature[64] === hashType

const matchesType = (input: PsbtInput, hashType: number): boolean => {
  const { partialSignatures, taprootKeySignature, taprootScriptSignatures } = input
  if (taprootKeySignature !== undefined && !saysType(taprootKeySignature, hashType)) return false
  if (![...taprootScriptSignatures.values()].every(({ signature }) => saysType(signature, hashType))) return false
  return hashType === Sighash.DEFAULT ||
    [...partialSignatures.values()].every(({ signature }) => signature[signature.length - 1] === hashType)
}

export interface PsbtSigning {
  /** By default the one for the kind of output. */
  readonly hashType?: number | undefined
  readonly finalize?: boolean
  /** Placeholder signatures, for their sizes. */
  readonly dummy?: boolean
}

/** Adds the provider's data about the input, too. */
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
  // Final scripts that do not spend the output cannot be completed. Upstream verifies them for witness outputs only.
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

const updateOutput = (psbt: Psbt, index: number, provider: SigningProvider): Psbt["outputs"][number] => {
  const map = psbt.outputs[index]
  const output = psbt.transaction.outputs[index]
  if (map === undefined || output === undefined) throw new RangeError(`the PSBT has no output ${index}`)
  const data = dataOfOutput(map)
  // A creator that signs everything visits all scripts and keys; its result is discarded.
  produceSignature({ provider, creator: { ...DUMMY_CREATOR, schnorr: () => undefined }, data }, output.script)
  return outputWith(map, data)
}

/** Signatures commit to all amounts if every input is taproot and none has ANYONECANPAY. */
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

/** As far as possible, with the provider's data about inputs and outputs. */
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

/** In one step: for a PSBT that this node made. */
export const signPsbt = (psbt: Psbt, provider: SigningProvider, options?: PsbtSigning): SignedPsbt =>
  runSteps(signPsbtSteps(psbt, provider, options))

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

/** Inputs that are not finalized stay unsigned. */
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
