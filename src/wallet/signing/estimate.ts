import type { Bytes } from "../../protocol/bytes.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import { produceSignature } from "./produce.ts"
import { DUMMY_CREATOR } from "./SignatureCreator.ts"
import { SignatureData } from "./SignatureData.ts"
import type { SigningProvider } from "./SigningProvider.ts"

/** How large an input becomes when it is signed, before it is. */

/** What a signed input takes. */
export interface InputSize {
  /** Bytes of the scriptSig, without its length. */
  readonly scriptSig: number
  /** Bytes of the witness with the count of its items; 0 without one. */
  readonly witness: number
  /**
   * Weight units of the whole input. In a transaction that has witnesses, an input without one takes a unit more, for
   * its count.
   */
  readonly weight: number
}

const SEQUENCE_SIZE = 4
const NON_WITNESS_WEIGHT = 4

/** The bytes of an unlocking. */
const sizeOf = (scriptSig: Bytes, witness: ReadonlyArray<Bytes>): InputSize => {
  const items = witness.reduce((size, { length }) => size + compactSizeLength(length) + length, 0)
  const witnessSize = witness.length === 0 ? 0 : compactSizeLength(witness.length) + items
  const base = OUTPOINT_SIZE + compactSizeLength(scriptSig.length) + scriptSig.length + SEQUENCE_SIZE
  return { scriptSig: scriptSig.length, witness: witnessSize, weight: base * NON_WITNESS_WEIGHT + witnessSize }
}

/**
 * Returns the size of an input that spends an output script, at most: for signatures as `signEcdsa` makes them.
 * Of taproot a spend by key is expected, of miniscript the shortest way whose keys need not be ours.
 * `provider` has to know public keys and scripts behind hashes, but no private keys; `undefined` where it does not
 * know enough.
 */
export const estimateInput = (script: Bytes, provider: SigningProvider): InputSize | undefined => {
  const data = new SignatureData()
  const solved = produceSignature({ provider, creator: DUMMY_CREATOR, data }, script)
  return solved ? sizeOf(data.scriptSig, data.witness) : undefined
}

/** The weight alone. */
export const estimateInputWeight = (script: Bytes, provider: SigningProvider): number | undefined =>
  estimateInput(script, provider)?.weight
