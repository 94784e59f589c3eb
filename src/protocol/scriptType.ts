import type { Bytes } from "./bytes.ts"
import { addressScript } from "./nameOperation.ts"
import { isPayToPubkeyHash, isPayToScriptHash, isPushOnly, Op, ScriptCursor, witnessVersion } from "./script.ts"
import { isKeySized, minimalNumber } from "./scriptOperations.ts"

/** Parts are views. The names are those in the reference node's answers (reference/rpc.md 3.0). */
export type ScriptTemplate =
  | { readonly type: "nonstandard" | "nulldata" | "anchor" }
  | { readonly type: "pubkey"; readonly pubkey: Bytes }
  | {
    readonly type: "pubkeyhash" | "scripthash" | "witness_v0_keyhash" | "witness_v0_scripthash"
    readonly hash: Bytes
  }
  | { readonly type: "multisig"; readonly required: number; readonly pubkeys: ReadonlyArray<Bytes> }
  /** 32 bytes, which may not be on the curve. */
  | { readonly type: "witness_v1_taproot"; readonly key: Bytes }
  | { readonly type: "witness_unknown"; readonly version: number; readonly program: Bytes }

export type ScriptType = ScriptTemplate["type"]

/** Maximum keys in a multisig template (consensus: the limit of OP_CHECKMULTISIG). */
const MAX_MULTISIG_KEYS = 20

const NONSTANDARD: ScriptTemplate = { type: "nonstandard" }

/** Whether a script is pay-to-anchor: a witness program of version 1 with the bytes 4e73. */
const isAnchor = (script: Bytes): boolean =>
  script.length === 4 && script[0] === Op.OP_1 && script[1] === 2 && script[2] === 0x4e && script[3] === 0x73

const witnessTemplate = (version: number, whole: Bytes, script: Bytes): ScriptTemplate => {
  const program = script.subarray(2)
  if (version === 0) {
    if (program.length === 20) return { type: "witness_v0_keyhash", hash: program }
    return program.length === 32 ? { type: "witness_v0_scripthash", hash: program } : NONSTANDARD
  }
  if (version === 1 && program.length === 32) return { type: "witness_v1_taproot", key: program }
  // An anchor with a name prefix is not an anchor.
  return isAnchor(whole) ? { type: "anchor" } : { type: "witness_unknown", version, program }
}

const payToPubkey = (script: Bytes): Bytes | undefined => {
  const size = script.length - 2
  if (script[0] !== size || script[size + 1] !== Op.OP_CHECKSIG) return undefined
  const key = script.subarray(1, size + 1)
  return isKeySized(key) ? key : undefined
}

const multisig = (script: Bytes): ScriptTemplate | undefined => {
  if (script[script.length - 1] !== Op.OP_CHECKMULTISIG) return undefined
  const cursor = new ScriptCursor(script)
  if (!cursor.next()) return undefined
  const required = minimalNumber(cursor.opcode, cursor.data)
  if (required === undefined || required < 1 || required > MAX_MULTISIG_KEYS) return undefined
  const pubkeys: Array<Bytes> = []
  while (cursor.next() && isKeySized(cursor.data)) {
    if (pubkeys.push(cursor.data) > MAX_MULTISIG_KEYS) return undefined
  }
  if (cursor.failed) return undefined
  const count = minimalNumber(cursor.opcode, cursor.data)
  if (count !== pubkeys.length || count < required || cursor.offset + 1 !== script.length) return undefined
  return { type: "multisig", required, pubkeys }
}

/**
 * Only null data is matched against the whole script, so a name prefix followed by OP_RETURN is nonstandard
 * (reference/protocol.md 5.2). Source: upstream `script/solver.cpp`, `Solver`.
 */
export const scriptTemplate = (script: Bytes): ScriptTemplate => {
  const address = addressScript(script)
  if (isPayToScriptHash(address)) return { type: "scripthash", hash: address.subarray(2, 22) }
  const version = witnessVersion(address)
  if (version !== -1) return witnessTemplate(version, script, address)
  if (script[0] === Op.OP_RETURN && isPushOnly(script.subarray(1))) return { type: "nulldata" }
  const pubkey = payToPubkey(address)
  if (pubkey !== undefined) return { type: "pubkey", pubkey }
  if (isPayToPubkeyHash(address)) return { type: "pubkeyhash", hash: address.subarray(3, 23) }
  return multisig(address) ?? NONSTANDARD
}
