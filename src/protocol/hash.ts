import { ripemd160 as nobleRipemd160, sha1 as nobleSha1 } from "@noble/hashes/legacy.js"
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js"
import { type Bytes, concat, equal } from "./bytes.ts"

// The hash functions of the protocol. @noble/hashes is the reference, and the only implementation in a browser. On
// Node, native SHA-256 and RIPEMD-160 replace it; a property test compares the two. Bundlers leave out what is marked as
// pure and not used.

type Digest = (data: Bytes) => Uint8Array

/** Writes the digest into other bytes at `at`, saving 230 bytes of heap. Throws `RangeError` if it does not fit. */
type DigestInto = (data: Bytes, into: Uint8Array, at: number) => void

interface NativeCrypto {
  readonly hash?: (algorithm: string, data: Uint8Array, encoding: "latin1") => string
  readonly createHash: (algorithm: string) => NativeHash
}

interface NativeHash {
  update(data: Uint8Array): NativeHash
  digest(): Uint8Array
}

export interface StreamingDigest {
  update(data: Bytes): void
  /** Ends the input and returns the digest. Works once. */
  digest(): Uint8Array
}

/** Node's crypto module without an import, as this file also loads in a browser. */
const nativeCrypto = (): NativeCrypto | undefined => {
  const host: { readonly process?: { readonly getBuiltinModule?: (id: string) => NativeCrypto | undefined } } =
    globalThis
  return host.process?.getBuiltinModule?.("node:crypto")
}

/**
 * Native if it agrees with noble's on a sample (some OpenSSL builds lack RIPEMD-160). The digest is text because
 * creating a `Buffer` takes longer than hashing a short input.
 */
const checked = (algorithm: string, noble: Digest): DigestInto => {
  const plain: DigestInto = (data, into, at) => into.set(noble(data), at)
  const oneShot = nativeCrypto()?.hash
  if (oneShot === undefined) return plain
  const digest: DigestInto = (data, into, at) => {
    const text = oneShot(algorithm, data, "latin1")
    if (at + text.length > into.length) throw new RangeError("a digest does not fit")
    for (let i = 0; i < text.length; i++) into[at + i] = text.charCodeAt(i)
  }
  try {
    const sample = Uint8Array.of(1, 2, 3)
    const expected = noble(sample)
    return equal(returned(digest, expected.length)(sample), expected) ? digest : plain
  } catch {
    return plain
  }
}

/** `checked` on first use: most svcd-cli calls hash nothing, and Node's module takes 3 ms to load. */
const native = (algorithm: string, noble: Digest): DigestInto => {
  let chosen: DigestInto | undefined
  return (data, into, at) => (chosen ??= checked(algorithm, noble))(data, into, at)
}

const returned = (digest: DigestInto, size: number): Digest => (data) => {
  const bytes = new Uint8Array(size)
  digest(data, bytes, 0)
  return bytes
}

const sha256Into = /* @__PURE__ */ native("sha256", nobleSha256)

/** The first of two digests, until the second one is made. */
const first = new Uint8Array(32)

export const sha256: Digest = /* @__PURE__ */ returned(sha256Into, 32)

export const createSha256 = (): StreamingDigest => nativeCrypto()?.createHash("sha256") ?? nobleSha256.create()

/** `hash256` into other bytes, which may be the hashed ones. */
export const hash256Into: DigestInto = (data, into, at) => {
  sha256Into(data, first, 0)
  sha256Into(first, into, at)
}

/** Double SHA-256 of blocks, transactions and merkle nodes, in wire order. 32 bytes. */
export const hash256: Digest = /* @__PURE__ */ returned(hash256Into, 32)

export const ripemd160: Digest = /* @__PURE__ */ returned(/* @__PURE__ */ native("ripemd160", nobleRipemd160), 20)

export const sha1: Digest = nobleSha1

/** RIPEMD-160 of SHA-256, for addresses and name commitments. 20 bytes. */
export const hash160: Digest = (data) => {
  sha256Into(data, first, 0)
  return ripemd160(first)
}

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
