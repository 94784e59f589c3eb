import * as Schema from "effect/Schema"
import { isStrictDer } from "../../consensus/der.ts"
import { addressOf } from "../../protocol/address.ts"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { descriptorOf } from "../../protocol/descriptor/descriptor.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { scriptText } from "../../protocol/scriptText.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import * as Result from "../method/results.ts"
import type { ShapeContext } from "./context.ts"
import { NAME_OP, nameOpJson } from "./name.ts"

/** Scripts (reference/rpc.md 3.0). Source: upstream `core_io.cpp`, `ScriptToUniv`. */

export const SCRIPT = Schema.Struct({
  nameOp: Schema.optional(NAME_OP.annotations({ description: "The name operation, if it is a name script" })),
  asm: Result.string("The operations as text"),
  desc: Result.string("The output descriptor, with its checksum"),
  hex: Result.hex("The script"),
  address: Schema.optional(Result.string("The address, if there is one; in a name script, the owner's")),
  type: Result.string("Script type, as pubkeyhash or nonstandard; in a name script, of the part after the name")
})

/** Without the bytes, which the caller sent. `desc` overrides the inferred descriptor. */
export const scriptPartsJson = (
  context: ShapeContext,
  script: Bytes,
  desc?: string
): Omit<Result.ValueOf<typeof SCRIPT>, "hex"> => {
  const { network } = context
  const nameScript = parseNameScript(script)
  return {
    nameOp: nameScript === undefined ? undefined : nameOpJson(nameScript.operation, context),
    asm: scriptText(script),
    desc: desc ?? descriptorOf(network, script),
    address: addressOf(network, nameScript?.address ?? script),
    type: scriptTemplate(script).type
  }
}

/** `given` overrides the inferred descriptor. */
export const scriptJson = (
  context: ShapeContext,
  script: Bytes,
  given?: string
): Result.ValueOf<typeof SCRIPT> => {
  const { address, asm, desc, nameOp, type } = scriptPartsJson(context, script, given)
  return { nameOp, asm, desc, hex: toHex(script), address, type }
}

export const SCRIPT_SIG = Schema.Struct({
  asm: Result.string("The operations as text, hash types as words"),
  hex: Result.hex("The script")
})

/** Signatures show their hash type as a word. */
export const scriptSigJson = (scriptSig: Bytes): Result.ValueOf<typeof SCRIPT_SIG> => ({
  asm: scriptText(scriptSig, isStrictDer),
  hex: toHex(scriptSig)
})
