import { scriptOf } from "../../protocol/address.ts"
import { type Bytes, concat, EMPTY, equal } from "../../protocol/bytes.ts"
import { hash160, sha256 } from "../../protocol/hash.ts"
import { Op, pushData } from "../../protocol/script.ts"
import { type ScriptTemplate, scriptTemplate, type ScriptType } from "../../protocol/scriptType.ts"
import { satisfyMiniscript } from "./miniscript.ts"
import type { SignatureData } from "./SignatureData.ts"
import { satisfyTaproot } from "./taproot.ts"
import { ecdsaSignature, findPubkey, type Work } from "./Work.ts"

/** In the order of upstream `script/sign.cpp`, `ProduceSignature` and `SignStep`. */

interface Step {
  readonly type: ScriptType
  readonly solved: boolean
  readonly items: ReadonlyArray<Bytes>
}

const multisig = (
  work: Work,
  { pubkeys, required }: Extract<ScriptTemplate, { type: "multisig" }>,
  { inWitness, script }: { readonly script: Bytes; readonly inWitness: boolean }
): Step => {
  // Signs with all keys, even beyond the required number: other signers may need any of the signatures.
  const signatures = pubkeys.flatMap((pubkey) => ecdsaSignature(work, pubkey, { script, inWitness }) ?? [])
  const chosen = signatures.slice(0, required)
  const padding = Array.from({ length: required - chosen.length }, () => EMPTY)
  // OP_CHECKMULTISIG pops one element more than it needs.
  return { type: "multisig", solved: padding.length === 0, items: [EMPTY, ...chosen, ...padding] }
}

const givenScript = (
  { redeemScript, witnessScript }: SignatureData,
  isIt: (script: Bytes) => boolean
): Bytes | undefined => [redeemScript, witnessScript].find((script) => script !== undefined && isIt(script))

const redeem = ({ data, provider }: Work, hash: Bytes): Step => {
  const script = provider.redeemScript(hash) ?? givenScript(data, (given) => equal(hash160(given), hash))
  if (script === undefined) data.missing.redeemScript = hash
  return { type: "scripthash", solved: script !== undefined, items: script === undefined ? [] : [script] }
}

const witnessScript = ({ data, provider }: Work, hash: Bytes): Step => {
  const script = provider.witnessScript(hash) ?? givenScript(data, (given) => equal(sha256(given), hash))
  if (script === undefined) data.missing.witnessScript = hash
  return { type: "witness_v0_scripthash", solved: script !== undefined, items: script === undefined ? [] : [script] }
}

const step = (work: Work, script: Bytes, inWitness: boolean): Step => {
  const template = scriptTemplate(script)
  const { type } = template
  const unsolved: Step = { type, solved: false, items: [] }
  switch (template.type) {
    case "pubkey": {
      const signature = ecdsaSignature(work, template.pubkey, { script, inWitness })
      return signature === undefined ? unsolved : { type, solved: true, items: [signature] }
    }
    case "pubkeyhash": {
      const pubkey = findPubkey(work, template.hash)
      if (pubkey === undefined) {
        work.data.missing.pubkeys.push(template.hash)
        return unsolved
      }
      const signature = ecdsaSignature(work, pubkey, { script, inWitness })
      return signature === undefined ? unsolved : { type, solved: true, items: [signature, pubkey] }
    }
    case "scripthash":
      return redeem(work, template.hash)
    case "multisig":
      return multisig(work, template, { script, inWitness })
    case "witness_v0_keyhash":
      return { type, solved: true, items: [template.hash] }
    case "witness_v0_scripthash":
      return witnessScript(work, template.hash)
    case "witness_v1_taproot": {
      const items = satisfyTaproot(work, template.key)
      return items === undefined ? unsolved : { type, solved: true, items }
    }
    case "anchor":
      return { type, solved: true, items: [] }
    case "nonstandard":
    case "nulldata":
    case "witness_unknown":
      return unsolved
  }
}

/** With minimal pushes. */
export const pushAll = (items: ReadonlyArray<Bytes>): Uint8Array =>
  concat(...items.map((item) => {
    const [first = 0] = item
    if (item.length !== 1) return pushData(item)
    if (first >= 1 && first <= 16) return Uint8Array.of(Op.OP_1 + first - 1)
    return first === 0x81 ? Uint8Array.of(Op.OP_1NEGATE) : pushData(item)
  }))

const WRAPPED: ReadonlySet<ScriptType> = new Set<ScriptType>([
  "scripthash",
  "witness_v0_scripthash",
  "witness_v0_keyhash"
])

const solveWitnessScript = (work: Work, script: Bytes): Pick<Step, "solved" | "items"> => {
  work.data.witnessScript = script
  const inner = step(work, script, true)
  let { items, solved } = inner
  if (WRAPPED.has(inner.type)) solved = false
  if (!solved && items.length === 0) {
    const satisfied = satisfyMiniscript(work, script)
    if (satisfied !== undefined) [solved, items] = [true, satisfied]
  }
  return { solved, items: [...items, script] }
}

/** Returns whether the known data and new signatures suffice. The data has partial results in any case. */
export const produceSignature = (work: Work, script: Bytes): boolean => {
  const { creator, data } = work
  if (data.complete) return true
  let { items, solved, type } = step(work, script, false)
  let redeemScript: Bytes | undefined
  if (solved && type === "scripthash") {
    redeemScript = items[0] ?? EMPTY
    data.redeemScript = redeemScript
    const inner = step(work, redeemScript, false)
    items = inner.items
    type = inner.type
    solved = inner.solved && inner.type !== "scripthash"
  }
  if (solved && type === "witness_v0_keyhash") {
    const inner = step(work, scriptOf({ kind: "pubkeyhash", hash: items[0] ?? EMPTY }), true)
    solved = inner.solved
    data.usesWitness = true
    data.witness = inner.items
    items = []
  } else if (solved && type === "witness_v0_scripthash") {
    const inner = solveWitnessScript(work, items[0] ?? EMPTY)
    solved = inner.solved
    data.usesWitness = true
    data.witness = inner.items
    items = []
  } else if (type === "witness_v1_taproot" && redeemScript === undefined) {
    data.usesWitness = true
    data.witness = solved ? items : []
    items = []
  }
  if (!data.usesWitness) data.witness = []
  data.scriptSig = pushAll(redeemScript === undefined ? items : [...items, redeemScript])
  data.complete = solved && creator.verify(data.scriptSig, data.witness)
  return data.complete
}
