import { Flag } from "../../consensus/flags.ts"
import { checkSignatureEncoding } from "../../consensus/interpreter/signatureEncoding.ts"
import { Sighash } from "../../consensus/sighash.ts"
import { verifyEcdsa } from "../../consensus/signature.ts"
import { binaryString, type Bytes, EMPTY } from "../../protocol/bytes.ts"
import { isFinalInput, type PsbtInput } from "../../protocol/psbt/Psbt.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import { produceSignature } from "./produce.ts"
import { dataOfInput } from "./psbtData.ts"
import { DUMMY_CREATOR, type SignatureCreator } from "./SignatureCreator.ts"
import type { SigningContext } from "./SigningContext.ts"
import type { SigningProvider } from "./SigningProvider.ts"
import { isSpendableInput } from "./signPsbt.ts"

/** How far an input is signed, by signatures that are valid and not only there. */
export interface SignedSoFar {
  readonly state: "complete" | "partial" | "none"
  readonly have: number
  /** 1 unless the script is a multisig. */
  readonly need: number
}

/** "2 of 3 keys". */
export interface KeyPolicy {
  readonly required: number
  readonly keys: number
}

/** `undefined` for scripts with one key, and for others than multisig. */
export const policyOf = (script: Bytes | undefined): KeyPolicy | undefined => {
  if (script === undefined) return undefined
  const template = scriptTemplate(script)
  return template.type === "multisig" ? { required: template.required, keys: template.pubkeys.length } : undefined
}

/** Finds the signatures that are given, and drops those that do not verify. */
const checker = (
  context: SigningContext,
  index: number,
  input: PsbtInput
): { readonly creator: SignatureCreator; readonly count: () => number } => {
  const given = dataOfInput(input).signatures
  const valid = new Set<string>()
  return {
    count: () => valid.size,
    creator: {
      ...DUMMY_CREATOR,
      ecdsa: (keyHash, scriptCode, inWitness) => {
        const found = given.get(binaryString(keyHash))
        if (found === undefined) return undefined
        const { pubkey, signature } = found
        if (checkSignatureEncoding(signature, Flag.DERSIG | Flag.STRICTENC) !== undefined) return undefined
        const hashType = signature.at(-1) ?? 0
        const hash = inWitness
          ? context.witnessV0(index, scriptCode, hashType)
          : context.legacy(index, scriptCode, hashType)
        if (!verifyEcdsa(signature.subarray(0, -1), hash, pubkey)) return undefined
        valid.add(binaryString(keyHash))
        return signature
      },
      schnorr: () => undefined
    }
  }
}

/** `provider` needs public keys and scripts only. */
export const signedSoFar = (
  { context, index, input }: { readonly context: SigningContext; readonly index: number; readonly input: PsbtInput },
  provider: SigningProvider
): SignedSoFar => {
  const spent = context.spent[index]
  if (spent === undefined) return { state: "none", have: 0, need: 1 }
  if (isFinalInput(input)) {
    return isSpendableInput(context, index, input)
      ? { state: "complete", have: 1, need: 1 }
      : { state: "none", have: 0, need: 1 }
  }
  if (input.taprootKeySignature !== undefined) {
    return context.verify(index, EMPTY, [input.taprootKeySignature]) === undefined
      ? { state: "complete", have: 1, need: 1 }
      : { state: "none", have: 0, need: 1 }
  }
  const data = dataOfInput(input)
  for (const [keyHash, { pubkey }] of data.signatures) data.pubkeys.set(keyHash, pubkey)
  data.signatures.clear()
  const { count, creator } = checker(context, index, input)
  const complete = produceSignature({ provider, creator, data }, spent.script)
  const policy = policyOf(data.witnessScript) ?? policyOf(data.redeemScript) ?? policyOf(spent.script)
  const have = count()
  return { state: complete ? "complete" : have > 0 ? "partial" : "none", have, need: policy?.required ?? 1 }
}

/** Hash types of an input other than ALL: what is asked for, and those of its signatures. */
export const otherHashTypes = (input: PsbtInput, script: Bytes | undefined): ReadonlyArray<number> => {
  const isTaproot = script !== undefined && scriptTemplate(script).type === "witness_v1_taproot"
  const schnorr = [
    input.taprootKeySignature,
    ...[...input.taprootScriptSignatures.values()].map((each) => each.signature)
  ].flatMap((signature) => signature === undefined || signature.length === 64 ? [] : [signature.at(-1) ?? 0])
  const ecdsa = [...input.partialSignatures.values()].map(({ signature }) => signature.at(-1) ?? 0)
  const asked = input.sighashType === undefined ? [] : [input.sighashType]
  const isAll = (type: number): boolean => type === Sighash.ALL || isTaproot && type === Sighash.DEFAULT
  return [...new Set([...asked, ...ecdsa, ...schnorr])].filter((type) => !isAll(type))
}
