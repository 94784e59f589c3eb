import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { hash160 } from "../../protocol/hash.ts"
import type { SignatureCreator } from "./SignatureCreator.ts"
import type { SignatureData } from "./SignatureData.ts"
import type { SigningProvider } from "./SigningProvider.ts"

export interface Work {
  readonly provider: SigningProvider
  readonly creator: SignatureCreator
  readonly data: SignatureData
}

/** By HASH160, from the data or the provider. */
export const findPubkey = ({ data, provider }: Work, keyHash: Bytes): Bytes | undefined => {
  const key = binaryString(keyHash)
  return data.signatures.get(key)?.pubkey ?? data.pubkeys.get(key) ?? provider.pubkey(keyHash)
}

export const ecdsaSignature = (
  work: Work,
  pubkey: Bytes,
  { inWitness, script }: { readonly script: Bytes; readonly inWitness: boolean }
): Bytes | undefined => {
  const { creator, data, provider } = work
  const keyHash = hash160(pubkey)
  const known = data.signatures.get(binaryString(keyHash))
  if (known !== undefined) return known.signature
  const origin = provider.origin(keyHash)
  if (origin !== undefined) data.addOrigin({ pubkey, origin })
  const signature = creator.ecdsa(keyHash, script, inWitness)
  if (signature === undefined) data.missing.signatures.push(keyHash)
  else data.addSignature(pubkey, signature)
  return signature
}
