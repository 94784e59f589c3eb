import { secp256k1 } from "@noble/curves/secp256k1.js"
import { binaryString, type Bytes, concat } from "../../protocol/bytes.ts"
import { hash160, ripemd160 } from "../../protocol/hash.ts"
import type { KeyOrigin, Records, TaprootLeaf, TreeLeaf } from "../../protocol/psbt/Psbt.ts"
import { runSteps, type Steps } from "../../protocol/steps.ts"

/** 32 bytes big-endian, and the form of its public key. Must never be in a message or a log. */
export interface SigningKey {
  readonly privateKey: Bytes
  readonly compressed: boolean
}

/** BIP 341. */
export interface TaprootSpendData {
  /** x-only, 32 bytes. */
  readonly internalKey: Bytes | undefined
  /** `undefined` without a script tree. */
  readonly merkleRoot: Bytes | undefined
  /** By `leafKey`. */
  readonly leaves: Records<TaprootLeaf>
  /** The same leaves as a tree, depth first. */
  readonly tree: ReadonlyArray<TreeLeaf>
}

export interface SigningProvider {
  /** By HASH160 of its public key. */
  readonly key: (keyHash: Bytes) => SigningKey | undefined
  /** By HASH160, with or without a known private key. */
  readonly pubkey: (keyHash: Bytes) => Bytes | undefined
  /** By HASH160. */
  readonly redeemScript: (scriptHash: Bytes) => Bytes | undefined
  /** By SHA-256. */
  readonly witnessScript: (scriptHash: Bytes) => Bytes | undefined
  /** By x-only output key. */
  readonly taproot: (outputKey: Bytes) => TaprootSpendData | undefined
  /** By HASH160 of the public key, if the origin may be disclosed. */
  readonly origin: (keyHash: Bytes) => KeyOrigin | undefined
}

/** Only combines existing signatures. */
export const NO_PROVIDER: SigningProvider = {
  key: () => undefined,
  pubkey: () => undefined,
  redeemScript: () => undefined,
  witnessScript: () => undefined,
  taproot: () => undefined,
  origin: () => undefined
}

/** The second provider fills in for the first. */
export const joined = (first: SigningProvider, second: SigningProvider): SigningProvider => ({
  key: (hash) => first.key(hash) ?? second.key(hash),
  pubkey: (hash) => first.pubkey(hash) ?? second.pubkey(hash),
  redeemScript: (hash) => first.redeemScript(hash) ?? second.redeemScript(hash),
  witnessScript: (hash) => first.witnessScript(hash) ?? second.witnessScript(hash),
  taproot: (key) => first.taproot(key) ?? second.taproot(key),
  origin: (hash) => first.origin(hash) ?? second.origin(hash)
})

export const withoutKeys = (provider: SigningProvider): SigningProvider => ({ ...provider, key: () => undefined })

export const publicKeyOf = ({ compressed, privateKey }: SigningKey): Uint8Array =>
  secp256k1.getPublicKey(privateKey, compressed)

export interface Knowledge {
  readonly keys?: ReadonlyArray<SigningKey>
  readonly pubkeys?: ReadonlyArray<Bytes>
  readonly scripts?: ReadonlyArray<Bytes>
  readonly taproot?: ReadonlyArray<{ readonly outputKey: Bytes; readonly spend: TaprootSpendData }>
  readonly origins?: ReadonlyArray<{ readonly pubkey: Bytes; readonly origin: KeyOrigin }>
}

/** One private key per step. */
export function* makeProviderSteps(knowledge: Knowledge): Steps<SigningProvider> {
  const { keys = [], origins = [], pubkeys = [], scripts = [], taproot = [] } = knowledge
  const keysByHash = new Map<string, SigningKey>()
  const pubkeysByHash = new Map<string, Bytes>()
  for (const pubkey of [...pubkeys, ...origins.map(({ pubkey }) => pubkey)]) {
    pubkeysByHash.set(binaryString(hash160(pubkey)), pubkey)
  }
  for (const key of keys) {
    const pubkey = publicKeyOf(key)
    const hash = binaryString(hash160(pubkey))
    keysByHash.set(hash, key)
    pubkeysByHash.set(hash, pubkey)
    yield
  }
  const scriptsByHash = new Map(scripts.map((script) => [binaryString(hash160(script)), script]))
  const taprootByKey = new Map(taproot.map(({ outputKey, spend }) => [binaryString(outputKey), spend]))
  const originsByHash = new Map(origins.map(({ origin, pubkey }) => [binaryString(hash160(pubkey)), origin]))
  return {
    key: (keyHash) => keysByHash.get(binaryString(keyHash)),
    pubkey: (keyHash) => pubkeysByHash.get(binaryString(keyHash)),
    redeemScript: (scriptHash) => scriptsByHash.get(binaryString(scriptHash)),
    // HASH160 is RIPEMD-160 of SHA-256.
    witnessScript: (scriptHash) => scriptsByHash.get(binaryString(ripemd160(scriptHash))),
    taproot: (outputKey) => taprootByKey.get(binaryString(outputKey)),
    origin: (keyHash) => originsByHash.get(binaryString(keyHash))
  }
}

export const makeProvider = (knowledge: Knowledge): SigningProvider => runSteps(makeProviderSteps(knowledge))

/** The hashes of both public keys with this x coordinate. */
export const keyHashesOfX = (xonly: Bytes): ReadonlyArray<Bytes> =>
  [0x02, 0x03].map((prefix) => hash160(concat(Uint8Array.of(prefix), xonly)))

/** `find` for one of the two keys with this x coordinate. */
export const findByX = <A>(xonly: Bytes, find: (keyHash: Bytes) => A | undefined): A | undefined => {
  for (const keyHash of keyHashesOfX(xonly)) {
    const found = find(keyHash)
    if (found !== undefined) return found
  }
  return undefined
}
