import { ripemd160 as nobleRipemd160, sha1 as nobleSha1 } from "@noble/hashes/legacy.js"
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js"
import { type Bytes, concat, equal } from "./bytes.ts"

/**
 * The hash functions of the protocol. @noble/hashes is the reference, and the only implementation in a browser. On
 * Node, native one-shot SHA-256 and RIPEMD-160 replace it; a property test compares the two. SHA-1 always uses noble:
 * it is rarely called.
 */

type Digest = (data: Bytes) => Uint8Array

interface NativeCrypto {
  readonly hash?: (algorithm: string, data: Uint8Array, encoding: "latin1") => string
  readonly createHash: (algorithm: string) => NativeHash
}

interface NativeHash {
  update(data: Uint8Array): NativeHash
  digest(): Uint8Array
}

/** A hash of input that arrives in parts. */
export interface StreamingDigest {
  update(data: Bytes): void
  /** Ends the input and returns the digest. Works once. */
  digest(): Uint8Array
}

/** Node's crypto module, without an import: this file also loads in a browser. */
const nativeCrypto = (): NativeCrypto | undefined => {
  const host: { readonly process?: { readonly getBuiltinModule?: (id: string) => NativeCrypto | undefined } } =
    globalThis
  return host.process?.getBuiltinModule?.("node:crypto")
}

/**
 * A native hash function that agrees with noble's on a sample. Otherwise noble's, as in OpenSSL builds without
 * RIPEMD-160. The digest is text: creating a `Buffer` takes longer than hashing a short input.
 */
const native = (algorithm: string, size: number, noble: Digest): Digest => {
  const oneShot = nativeCrypto()?.hash
  if (oneShot === undefined) return noble
  const digest: Digest = (data) => {
    const text = oneShot(algorithm, data, "latin1")
    const bytes = new Uint8Array(size)
    for (let i = 0; i < size; i++) bytes[i] = text.charCodeAt(i)
    return bytes
  }
  try {
    const sample = Uint8Array.of(1, 2, 3)
    return equal(digest(sample), noble(sample)) ? digest : noble
  } catch {
    return noble
  }
}

export const sha256: Digest = native("sha256", 32, nobleSha256)

export const createSha256: () => StreamingDigest = (() => {
  const crypto = nativeCrypto()
  return crypto === undefined ? () => nobleSha256.create() : () => crypto.createHash("sha256")
})()

/** Double SHA-256, the hash of blocks, transactions and merkle nodes, in wire order. 32 bytes. */
export const hash256: Digest = (data) => sha256(sha256(data))

export const ripemd160: Digest = native("ripemd160", 20, nobleRipemd160)

export const sha1: Digest = nobleSha1

/** RIPEMD-160 of SHA-256, the hash in addresses and name commitments. 20 bytes. */
export const hash160: Digest = (data) => ripemd160(sha256(data))

const tagHashes = new Map<string, Uint8Array>()

/** BIP 340's tagged hash: SHA-256(SHA-256(tag) ‖ SHA-256(tag) ‖ data). */
export const taggedHash = (tag: string, ...data: ReadonlyArray<Bytes>): Uint8Array => {
  let prefix = tagHashes.get(tag)
  if (prefix === undefined) {
    const once = sha256(new TextEncoder().encode(tag))
    prefix = concat(once, once)
    tagHashes.set(tag, prefix)
  }
  return sha256(concat(prefix, ...data))
}
