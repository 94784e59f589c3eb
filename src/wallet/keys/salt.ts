import { hkdf } from "@noble/hashes/hkdf.js"
import { sha256 } from "@noble/hashes/sha2.js"
import type { Bytes } from "../../protocol/bytes.ts"

const INFO = new TextEncoder().encode("Namecoin Registration Salt")
const HKDF_BYTES = 32
const SALT_BYTES = 20

/** Derived from name and private key, so that the owner can recompute it. reference/protocol.md 9.2. */
export const deterministicSalt = (privateKey: Bytes, name: Bytes): Uint8Array =>
  hkdf(sha256, privateKey, name, INFO, HKDF_BYTES).subarray(0, SALT_BYTES)
