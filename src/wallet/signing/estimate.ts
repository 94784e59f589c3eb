import type { Bytes } from "../../protocol/bytes.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import { produceSignature } from "./produce.ts"
import { DUMMY_CREATOR, LONGEST_CREATOR } from "./SignatureCreator.ts"
import { SignatureData } from "./SignatureData.ts"
import type { SigningProvider } from "./SigningProvider.ts"

export interface InputSize {
  /** Bytes, without the length prefix. */
  readonly scriptSig: number
  /** Bytes, including the item count; 0 without a witness. */
  readonly witness: number
  /** Weight of the whole input. In a transaction with witnesses, an input without one takes one unit more. */
  readonly weight: number
}

const SEQUENCE_SIZE = 4
const NON_WITNESS_WEIGHT = 4

const sizeOf = (scriptSig: Bytes, witness: ReadonlyArray<Bytes>): InputSize => {
  const items = witness.reduce((size, { length }) => size + compactSizeLength(length) + length, 0)
  const witnessSize = witness.length === 0 ? 0 : compactSizeLength(witness.length) + items
  const base = OUTPOINT_SIZE + compactSizeLength(scriptSig.length) + scriptSig.length + SEQUENCE_SIZE
  return { scriptSig: scriptSig.length, witness: witnessSize, weight: base * NON_WITNESS_WEIGHT + witnessSize }
}

/**
 * Maximum size of a signed input. Assumes signatures by `signEcdsa`, or the longest possible ones if another program
 * signs (upstream `CWallet::CanGrindR`), a key path spend for taproot, and the shortest miniscript path, even if it needs
 * other people's keys. `provider` needs only public keys and scripts.
 */
export const estimateInput = (
  script: Bytes,
  provider: SigningProvider,
  signer: "wallet" | "other" = "wallet"
): InputSize | undefined => {
  const data = new SignatureData()
  const creator = signer === "wallet" ? DUMMY_CREATOR : LONGEST_CREATOR
  const solved = produceSignature({ provider, creator, data }, script)
  return solved ? sizeOf(data.scriptSig, data.witness) : undefined
}

export const estimateInputWeight = (
  script: Bytes,
  provider: SigningProvider,
  signer: "wallet" | "other" = "wallet"
): number | undefined => estimateInput(script, provider, signer)?.weight
