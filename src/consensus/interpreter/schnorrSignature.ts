import type { Bytes } from "../../protocol/bytes.ts"
import { Flag } from "../flags.ts"
import { Sighash, type TaprootSpend } from "../sighash.ts"
import { verifySchnorr } from "../signature.ts"
import { VALIDATION_WEIGHT_PER_SIGOP } from "./limits.ts"
import type { InputCheck, Machine, TapscriptRun } from "./Machine.ts"
import type { ScriptError } from "./scriptError.ts"

export interface SignatureOfKey {
  readonly signature: Bytes
  readonly pubkey: Bytes
}

/**
 * With or without a hash type, by a 32-byte key (BIP 341). Source: upstream `script/interpreter.cpp`,
 * `CheckSchnorrSignature`.
 */
export const checkSchnorrSignature = (
  { context, index }: InputCheck,
  { pubkey, signature }: SignatureOfKey,
  spend: TaprootSpend
): ScriptError | undefined => {
  if (signature.length !== 64 && signature.length !== 65) return "SCHNORR_SIG_SIZE"
  const hashType = signature[64]
  // The default must be encoded by leaving out the byte.
  if (hashType === Sighash.DEFAULT) return "SCHNORR_SIG_HASHTYPE"
  const hash = context.taproot(index, spend, hashType ?? Sighash.DEFAULT)
  if (hash === undefined) return "SCHNORR_SIG_HASHTYPE"
  return verifySchnorr(signature.subarray(0, 64), hash, pubkey) ? undefined : "SCHNORR_SIG"
}

/**
 * An empty signature does not count, and any other must be valid. A key of an unknown form accepts every signature.
 * Source: upstream `script/interpreter.cpp`, `EvalChecksigTapscript` (BIP 342).
 */
export const checkTapscriptSignature = (
  machine: Machine,
  run: TapscriptRun,
  { pubkey, signature }: SignatureOfKey
): boolean | ScriptError => {
  const given = signature.length > 0
  if (given) {
    run.weightLeft -= VALIDATION_WEIGHT_PER_SIGOP
    if (run.weightLeft < 0) return "TAPSCRIPT_VALIDATION_WEIGHT"
  }
  if (pubkey.length === 0) return "TAPSCRIPT_EMPTY_PUBKEY"
  if (pubkey.length !== 32) {
    return machine.has(Flag.DISCOURAGE_UPGRADABLE_PUBKEYTYPE) ? "DISCOURAGE_UPGRADABLE_PUBKEYTYPE" : given
  }
  if (!given) return false
  const { annexHash, leafHash } = run
  const spend = { annexHash, leafHash, codeSeparator: machine.codeSeparator }
  return checkSchnorrSignature(machine.check, { signature, pubkey }, spend) ?? true
}
