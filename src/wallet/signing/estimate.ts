import type { Bytes } from "../../protocol/bytes.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import { produceSignature } from "./produce.ts"
import { DUMMY_CREATOR, LONGEST_CREATOR } from "./SignatureCreator.ts"
import { SignatureData } from "./SignatureData.ts"
import type { SigningProvider } from "./SigningProvider.ts"

/** Estimates the size of a signed input before signing. */

export interface InputSize {
  /** Bytes of the scriptSig, without its length prefix. */
  readonly scriptSig: number
  /** Bytes of the witness, including the item count; 0 without a witness. */
  readonly witness: number
  /** Weight units of the whole input. In a transaction with witnesses, an input without one takes one unit more. */
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
 * Returns the maximum size of an input that spends an output script, with signatures of `signEcdsa`, or the longest ones
 * if another program signs, such as the holder of a watch-only wallet's keys (upstream `CWallet::CanGrindR`). For taproot it
 * assumes a key path spend, for miniscript the shortest way, even if its keys are not the wallet's. `provider` needs
 * public keys and scripts, but no private keys. `undefined` if the provider lacks data.
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

/** The weight of an input that spends an output script. */
export const estimateInputWeight = (
  script: Bytes,
  provider: SigningProvider,
  signer: "wallet" | "other" = "wallet"
): number | undefined => estimateInput(script, provider, signer)?.weight
