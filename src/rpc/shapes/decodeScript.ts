import * as Schema from "effect/Schema"
import { encodeAddress, scriptOf } from "../../protocol/address.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { descriptorOf, witnessDescriptorOf } from "../../protocol/descriptor/descriptor.ts"
import { hash160, sha256 } from "../../protocol/hash.ts"
import type { Network } from "../../protocol/networks.ts"
import { isUnspendable, Op, ScriptCursor } from "../../protocol/script.ts"
import { hasValidOperations, isCompressedKey } from "../../protocol/scriptOperations.ts"
import { type ScriptTemplate, scriptTemplate, type ScriptType } from "../../protocol/scriptType.ts"
import * as Result from "../method/results.ts"
import type { ShapeContext } from "./context.ts"
import { SCRIPT, scriptJson, scriptPartsJson } from "./script.ts"

/** The script and the outputs to its hash. Source: upstream `rpc/rawtransaction.cpp`, `decodescript`. */

const { address, asm, desc, nameOp, type } = SCRIPT.fields

const SEGWIT = Schema.Struct({
  asm,
  desc,
  hex: Result.hex("The witness output script"),
  address: Schema.optional(Result.string("The address of the witness output")),
  type: Result.string("witness_v0_keyhash or witness_v0_scripthash"),
  "p2sh-segwit": Result.string("The address that pays to the hash of the witness output")
}).annotations({ description: "The script as a witness output, if possible" })

export const DECODED_SCRIPT = Schema.Struct({
  nameOp,
  asm,
  desc,
  address,
  type,
  p2sh: Schema.optional(Result.string("The address that pays to the script's hash")),
  segwit: Schema.optional(SEGWIT)
})

const NEVER_WRAPPED: ReadonlySet<ScriptType> = new Set<ScriptType>([
  "nulldata",
  "scripthash",
  "witness_unknown",
  "witness_v1_taproot",
  "anchor"
])

/** Ranges of opcodes that are unused in legacy scripts and OP_SUCCESS in tapscript (BIP 342). */
const SUCCESSES: ReadonlyArray<readonly [number, number]> = [
  [Op.OP_RESERVED, Op.OP_RESERVED],
  [Op.OP_VER, Op.OP_VER],
  [Op.OP_CAT, Op.OP_RIGHT],
  [Op.OP_INVERT, Op.OP_XOR],
  [Op.OP_RESERVED1, Op.OP_RESERVED2],
  [Op.OP_2MUL, Op.OP_2DIV],
  [Op.OP_MUL, Op.OP_RSHIFT]
]

const isSuccess = (opcode: number): boolean => SUCCESSES.some(([first, last]) => opcode >= first && opcode <= last)

const canWrap = (type: ScriptType, script: Bytes): boolean => {
  if (NEVER_WRAPPED.has(type) || !hasValidOperations(script) || isUnspendable(script)) return false
  const cursor = new ScriptCursor(script)
  while (cursor.next()) if (isSuccess(cursor.opcode)) return false
  return true
}

const p2sh = (network: Network, script: Bytes): string =>
  encodeAddress(network, { kind: "scripthash", hash: hash160(script) })

const witnessOutput = (program: Bytes): Uint8Array => scriptOf({ kind: "witness", version: 0, program })

/**
 * The key hash of a script with one key, else the script hash. `undefined` for scripts with keys that are invalid in
 * witness scripts, and for witness outputs.
 */
const segwitOf = (
  template: ScriptTemplate,
  script: Bytes
): { readonly output: Bytes; readonly desc?: string | undefined } | undefined => {
  switch (template.type) {
    case "pubkey":
      return isCompressedKey(template.pubkey) ? { output: witnessOutput(hash160(template.pubkey)) } : undefined
    case "pubkeyhash":
      return { output: witnessOutput(template.hash) }
    case "multisig":
      if (!template.pubkeys.every(isCompressedKey)) return undefined
      break
    case "nonstandard":
      break
    default:
      return undefined
  }
  return { output: witnessOutput(sha256(script)), desc: witnessDescriptorOf(script) }
}

const segwitJson = (
  context: ShapeContext,
  template: ScriptTemplate,
  script: Bytes
): Result.ValueOf<typeof SEGWIT> | undefined => {
  const segwit = segwitOf(template, script)
  if (segwit === undefined) return undefined
  const { desc = descriptorOf(context.network, segwit.output), output } = segwit
  return { ...scriptJson(context, output, desc), "p2sh-segwit": p2sh(context.network, output) }
}

export const decodeScriptJson = (
  context: ShapeContext,
  script: Bytes
): Result.ValueOf<typeof DECODED_SCRIPT> => {
  const template = scriptTemplate(script)
  const wraps = canWrap(template.type, script)
  return {
    ...scriptPartsJson(context, script),
    p2sh: wraps ? p2sh(context.network, script) : undefined,
    segwit: wraps ? segwitJson(context, template, script) : undefined
  }
}
