import type { Bytes } from "../../protocol/bytes.ts"
import { isLowS, isStrictDer } from "../der.ts"
import { Flag } from "../flags.ts"
import { Sighash } from "../sighash.ts"
import type { ScriptVersion } from "./Machine.ts"
import type { ScriptError } from "./scriptError.ts"

const isDefinedHashType = (hashType: number): boolean => {
  const covered = hashType & ~Sighash.ANYONECANPAY
  return covered >= Sighash.ALL && covered <= Sighash.SINGLE
}

/**
 * An empty signature is well formed and stands for a missing one. Source: upstream `script/interpreter.cpp`,
 * `CheckSignatureEncoding`.
 */
export const checkSignatureEncoding = (signature: Bytes, flags: number): ScriptError | undefined => {
  const hashType = signature[signature.length - 1]
  if (hashType === undefined) return undefined
  if ((flags & (Flag.DERSIG | Flag.LOW_S | Flag.STRICTENC)) !== 0 && !isStrictDer(signature)) return "SIG_DER"
  if ((flags & Flag.LOW_S) !== 0 && !isLowS(signature)) return "SIG_HIGH_S"
  return (flags & Flag.STRICTENC) !== 0 && !isDefinedHashType(hashType) ? "SIG_HASHTYPE" : undefined
}

const isCompressed = (pubkey: Bytes): boolean => pubkey.length === 33 && (pubkey[0] === 0x02 || pubkey[0] === 0x03)

const isUncompressed = (pubkey: Bytes): boolean => pubkey.length === 65 && pubkey[0] === 0x04

/** Source: upstream `script/interpreter.cpp`, `CheckPubKeyEncoding`. */
export const checkPubkeyEncoding = (
  pubkey: Bytes,
  flags: number,
  version: ScriptVersion
): ScriptError | undefined => {
  if ((flags & Flag.STRICTENC) !== 0 && !isCompressed(pubkey) && !isUncompressed(pubkey)) return "PUBKEYTYPE"
  const needsCompressed = (flags & Flag.WITNESS_PUBKEYTYPE) !== 0 && version === "witness-v0"
  return needsCompressed && !isCompressed(pubkey) ? "WITNESS_PUBKEYTYPE" : undefined
}
