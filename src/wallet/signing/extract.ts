import { isStrictDer } from "../../consensus/der.ts"
import { verifyEcdsa } from "../../consensus/signature.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { ScriptCursor } from "../../protocol/script.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import { SignatureData } from "./SignatureData.ts"
import type { SigningContext } from "./SigningContext.ts"

/** Scripts and valid signatures from a signed input. Source: upstream `script/sign.cpp`, `DataFromTransaction`. */

/** Empty for scripts with more than pushes, which no signer makes. */
const pushedItems = (script: Bytes): ReadonlyArray<Bytes> => {
  const items: Array<Bytes> = []
  const cursor = new ScriptCursor(script)
  while (cursor.next()) {
    // Signatures, keys and scripts are longer than the constants that opcodes push.
    if (cursor.opcode > 0x60) return []
    items.push(cursor.data)
  }
  return cursor.failed ? [] : items
}

interface Layer {
  readonly script: Bytes
  readonly items: ReadonlyArray<Bytes>
  readonly inWitness: boolean
}

/** Follows hashes to the signed script, and records the scripts in between. */
const innermost = (data: SignatureData, script: Bytes): Layer => {
  let layer: Layer = { script, items: pushedItems(data.scriptSig), inWitness: false }
  const redeem = layer.items[layer.items.length - 1]
  if (scriptTemplate(script).type === "scripthash" && redeem !== undefined && redeem.length > 0) {
    data.redeemScript = redeem
    layer = { script: redeem, items: layer.items.slice(0, -1), inWitness: false }
  }
  const { type } = scriptTemplate(layer.script)
  if (type === "witness_v0_keyhash") return { ...layer, items: data.witness, inWitness: true }
  const witnessScript = data.witness[data.witness.length - 1]
  if (type === "witness_v0_scripthash" && witnessScript !== undefined && witnessScript.length > 0) {
    data.witnessScript = witnessScript
    return { script: witnessScript, items: data.witness.slice(0, -1), inWitness: true }
  }
  return layer
}

/** Both lists have the same order. */
const matchMultisig = (
  data: SignatureData,
  { items }: Layer,
  { isBy, pubkeys }: {
    readonly pubkeys: ReadonlyArray<Bytes>
    readonly isBy: (signature: Bytes, pubkey: Bytes) => boolean
  }
): void => {
  let from = 0
  for (const signature of items) {
    const at = pubkeys.findIndex((pubkey, n) => n >= from && isBy(signature, pubkey))
    const pubkey = pubkeys[at]
    if (pubkey === undefined) continue
    data.addSignature(pubkey, signature)
    from = at + 1
  }
}

export const extractData = (context: SigningContext, index: number): SignatureData => {
  const data = new SignatureData()
  const { scriptSig, witness } = context.input(index)
  const { script } = context.coin(index)
  data.scriptSig = scriptSig
  data.witness = witness
  if (scriptSig.length === 0 && witness.length === 0) return data
  if (context.verify(index, scriptSig, witness) === undefined) {
    data.complete = true
    return data
  }
  const layer = innermost(data, script)
  const isBy = (signature: Bytes, pubkey: Bytes): boolean => {
    if (!isStrictDer(signature)) return false
    const hashType = signature[signature.length - 1] ?? 0
    const hash = layer.inWitness
      ? context.witnessV0(index, layer.script, hashType)
      : context.legacy(index, layer.script, hashType)
    return verifyEcdsa(signature.subarray(0, -1), hash, pubkey)
  }
  const template = scriptTemplate(layer.script)
  if (template.type === "multisig") matchMultisig(data, layer, { pubkeys: template.pubkeys, isBy })
  return data
}
