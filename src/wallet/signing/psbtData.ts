import { type Bytes, equal } from "../../protocol/bytes.ts"
import { binaryString, concat } from "../../protocol/bytes.ts"
import { hash160 } from "../../protocol/hash.ts"
import {
  both,
  EMPTY_INPUT,
  type Psbt,
  type PsbtInput,
  type PsbtMap,
  type PsbtOutput,
  type Records
} from "../../protocol/psbt/Psbt.ts"
import { prevoutIndex, prevoutTxid, type TransactionOutput } from "../../protocol/transaction.ts"
import { SignatureData } from "./SignatureData.ts"

/** PSBT maps to signing data and back. Upstream `psbt.cpp`. */

/** From the previous transaction if present, otherwise from the witness UTXO. */
export const spentOutput = (psbt: Psbt, index: number): TransactionOutput | undefined => {
  const map = psbt.inputs[index]
  const input = psbt.transaction.inputs[index]
  if (map === undefined || input === undefined) return undefined
  const { nonWitnessUtxo, witnessUtxo } = map
  if (nonWitnessUtxo === undefined) return witnessUtxo
  const isIt = equal(nonWitnessUtxo.txid, prevoutTxid(input.prevout))
  return isIt ? nonWitnessUtxo.outputs[prevoutIndex(input.prevout)] : undefined
}

const fill = <A>(to: Map<string, A>, from: Records<A>): void => {
  for (const [key, record] of from) if (!to.has(key)) to.set(key, record)
}

/** Even and odd y. */
const keysOfX = (xonly: Bytes): ReadonlyArray<Bytes> => [2, 3].map((parity) => concat(Uint8Array.of(parity), xonly))

const fillMap = (data: SignatureData, map: PsbtMap): void => {
  data.redeemScript = map.redeemScript
  data.witnessScript = map.witnessScript
  for (const entry of map.origins.values()) data.addOrigin(entry)
  data.taprootInternalKey = map.taprootInternalKey
  fill(data.taprootOrigins, map.taprootOrigins)
  for (const { xonly } of map.taprootOrigins.values()) {
    for (const pubkey of keysOfX(xonly)) {
      data.pubkeys.set(binaryString(hash160(pubkey)), pubkey)
      // A script tree has hashes of the x coordinate alone.
      data.pubkeys.set(binaryString(hash160(xonly)), pubkey)
    }
  }
}

export const dataOfInput = (input: PsbtInput): SignatureData => {
  const data = new SignatureData()
  data.scriptSig = input.finalScriptSig ?? data.scriptSig
  data.witness = input.finalScriptWitness ?? data.witness
  data.complete = input.finalScriptSig !== undefined || input.finalScriptWitness !== undefined
  if (data.complete) return data
  fillMap(data, input)
  fill(data.signatures, input.partialSignatures)
  data.taprootKeySignature = input.taprootKeySignature
  data.taprootMerkleRoot = input.taprootMerkleRoot
  fill(data.taprootScriptSignatures, input.taprootScriptSignatures)
  fill(data.taprootLeaves, input.taprootLeaves)
  for (const kind of ["ripemd160", "sha256", "hash160", "hash256"] as const) {
    fill(data.preimages[kind], input[kind])
  }
  return data
}

export const dataOfOutput = (output: PsbtOutput): SignatureData => {
  const data = new SignatureData()
  fillMap(data, output)
  data.taprootTree = output.taprootTree
  return data
}

const mergedMap = <M extends PsbtMap>(map: M, data: SignatureData): M => ({
  ...map,
  redeemScript: map.redeemScript ?? data.redeemScript,
  witnessScript: map.witnessScript ?? data.witnessScript,
  origins: both(map.origins, data.origins),
  taprootInternalKey: data.taprootInternalKey ?? map.taprootInternalKey,
  taprootOrigins: both(data.taprootOrigins, map.taprootOrigins)
})

/** They replace all other data. */
const finished = (input: PsbtInput, { scriptSig, witness }: SignatureData): PsbtInput => ({
  ...input,
  partialSignatures: EMPTY_INPUT.partialSignatures,
  origins: EMPTY_INPUT.origins,
  redeemScript: undefined,
  witnessScript: undefined,
  finalScriptSig: scriptSig.length > 0 ? scriptSig : input.finalScriptSig,
  finalScriptWitness: witness.length > 0 ? witness : input.finalScriptWitness
})

export const inputWith = (input: PsbtInput, data: SignatureData, finalize: boolean): PsbtInput => {
  if (data.complete && finalize) return finished(input, data)
  return {
    ...mergedMap(input, data),
    partialSignatures: both(input.partialSignatures, data.signatures),
    taprootKeySignature: data.taprootKeySignature ?? input.taprootKeySignature,
    taprootScriptSignatures: both(input.taprootScriptSignatures, data.taprootScriptSignatures),
    taprootLeaves: both(input.taprootLeaves, data.taprootLeaves),
    taprootMerkleRoot: data.taprootMerkleRoot ?? input.taprootMerkleRoot
  }
}

export const outputWith = (output: PsbtOutput, data: SignatureData): PsbtOutput => ({
  ...mergedMap(output, data),
  taprootTree: data.taprootTree
})
