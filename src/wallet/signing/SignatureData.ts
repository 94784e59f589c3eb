import { binaryString, type Bytes, EMPTY } from "../../protocol/bytes.ts"
import { hash160 } from "../../protocol/hash.ts"
import type {
  PartialSignature,
  Preimage,
  PreimageKind,
  PubkeyOrigin,
  TaprootLeaf,
  TaprootOrigin,
  TaprootScriptSignature,
  TreeLeaf
} from "../../protocol/psbt/Psbt.ts"

export interface Missing {
  /** HASH160 of unknown public keys. */
  readonly pubkeys: Array<Bytes>
  /** HASH160 of public keys without a signature. */
  readonly signatures: Array<Bytes>
  /** HASH160. */
  redeemScript: Bytes | undefined
  /** SHA-256. */
  witnessScript: Bytes | undefined
}

/** Unlocking data of one input, from other signers and from signing. Changed in place. */
export class SignatureData {
  complete = false
  usesWitness = false
  scriptSig: Bytes = EMPTY
  witness: ReadonlyArray<Bytes> = []
  redeemScript: Bytes | undefined
  witnessScript: Bytes | undefined
  /** By HASH160 of the public key. */
  readonly signatures = new Map<string, PartialSignature>()
  /** By public key. */
  readonly origins = new Map<string, PubkeyOrigin>()
  /** Public keys of `origins` and `taprootOrigins`, by HASH160. */
  readonly pubkeys = new Map<string, Bytes>()
  taprootKeySignature: Bytes | undefined
  taprootInternalKey: Bytes | undefined
  taprootMerkleRoot: Bytes | undefined
  /** Depth first. */
  taprootTree: ReadonlyArray<TreeLeaf> | undefined
  readonly taprootScriptSignatures = new Map<string, TaprootScriptSignature>()
  readonly taprootLeaves = new Map<string, TaprootLeaf>()
  readonly taprootOrigins = new Map<string, TaprootOrigin>()
  readonly preimages: Readonly<Record<PreimageKind, Map<string, Preimage>>> = {
    ripemd160: new Map(),
    sha256: new Map(),
    hash160: new Map(),
    hash256: new Map()
  }
  readonly missing: Missing = { pubkeys: [], signatures: [], redeemScript: undefined, witnessScript: undefined }

  addSignature(pubkey: Bytes, signature: Bytes): void {
    const key = binaryString(hash160(pubkey))
    if (!this.signatures.has(key)) this.signatures.set(key, { pubkey, signature })
  }

  addOrigin(entry: PubkeyOrigin): void {
    const key = binaryString(entry.pubkey)
    if (!this.origins.has(key)) this.origins.set(key, entry)
    this.pubkeys.set(binaryString(hash160(entry.pubkey)), entry.pubkey)
  }

  /** Adds the data of another attempt for the same input. */
  merge(other: SignatureData): void {
    if (this.complete) return
    if (other.complete) {
      this.complete = true
      this.scriptSig = other.scriptSig
      this.witness = other.witness
      return
    }
    this.redeemScript ??= other.redeemScript
    this.witnessScript ??= other.witnessScript
    for (const { pubkey, signature } of other.signatures.values()) this.addSignature(pubkey, signature)
  }
}
