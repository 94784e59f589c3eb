import { ripemd160 as nobleRipemd160 } from "@noble/hashes/legacy.js"
import { sha1 as nobleSha1 } from "@noble/hashes/legacy.js"
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js"
import { type Bytes, concat } from "./bytes.ts"

/**
 * The hash functions of the protocol. @noble/hashes is the reference everywhere and the only one in a browser;
 * on Node the native one-shot SHA-256 takes its place (a property test holds the two together). RIPEMD-160 and
 * SHA-1 stay with noble: OpenSSL builds exist that lack them, and they are not hot.
 */

type Digest = (data: Bytes) => Uint8Array

interface NativeCrypto {
  readonly hash?: (algorithm: string, data: Uint8Array, encoding: "buffer") => Uint8Array
  readonly createHash: (algorithm: string) => { update(data: Uint8Array): { digest(): Uint8Array } }
}

/** Node's crypto module without importing it, so that this file loads in a browser too. */
const nativeCrypto = (): NativeCrypto | undefined => {
  const host: { readonly process?: { readonly getBuiltinModule?: (id: string) => NativeCrypto | undefined } } = globalThis
  return host.process?.getBuiltinModule?.("node:crypto")
}

const nativeSha256 = (): Digest | undefined => {
  const crypto = nativeCrypto()
  if (crypto === undefined) return undefined
  const oneShot = crypto.hash
  if (oneShot !== undefined) return (data) => oneShot("sha256", data, "buffer")
  return (data) => crypto.createHash("sha256").update(data).digest()
}

/** SHA-256. 32 bytes. */
export const sha256: Digest = nativeSha256() ?? nobleSha256

/** Double SHA-256, the hash of blocks, transactions and merkle nodes, in wire order. 32 bytes. */
export const hash256: Digest = (data) => sha256(sha256(data))

export const ripemd160: Digest = nobleRipemd160

export const sha1: Digest = nobleSha1

/** RIPEMD-160 of SHA-256, the hash in addresses and name commitments. 20 bytes. */
export const hash160: Digest = (data) => nobleRipemd160(sha256(data))

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
