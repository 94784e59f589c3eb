import { isStrictDer } from "../../consensus/der.ts"
import { addressOf } from "../../protocol/address.ts"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { descriptorOf } from "../../protocol/descriptor/descriptor.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { scriptText } from "../../protocol/scriptText.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import type { Members, ShapeContext } from "./context.ts"
import { nameOpJson } from "./name.ts"

/** Scripts in answers (reference/rpc.md 3.0). Source: upstream `core_io.cpp`, `ScriptToUniv`. */

/** An output script. `desc` overrides the inferred descriptor; `hex` can be omitted. */
export const scriptJson = (
  context: ShapeContext,
  script: Bytes,
  options: { readonly desc?: string; readonly hex?: boolean } = {}
): Members => {
  const { network } = context
  const nameScript = parseNameScript(script)
  return {
    nameOp: nameScript === undefined ? undefined : nameOpJson(nameScript.operation, context),
    asm: scriptText(script),
    desc: options.desc ?? descriptorOf(network, script),
    hex: options.hex === false ? undefined : toHex(script),
    address: addressOf(network, nameScript?.address ?? script),
    type: scriptTemplate(script).type
  }
}

/** An input's scriptSig. Signatures show their hash type as a word. */
export const scriptSigJson = (scriptSig: Bytes): Members => ({
  asm: scriptText(scriptSig, isStrictDer),
  hex: toHex(scriptSig)
})
