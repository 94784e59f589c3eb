import { TAPSCRIPT_LEAF } from "../../consensus/interpreter/limits.ts"
import { scriptOf } from "../../protocol/address.ts"
import { type Bytes, compare, concat, toHex } from "../../protocol/bytes.ts"
import { hash160, sha256 } from "../../protocol/hash.ts"
import { miniscriptScript, multiAScript, multiScript } from "../../protocol/miniscript/script.ts"
import type { TreeLeaf } from "../../protocol/psbt/Psbt.ts"
import { Op, pushData, witnessVersion } from "../../protocol/script.ts"
import { treeHash } from "../signing/taprootTree.ts"
import {
  type Descriptor,
  markedPosition,
  type MiniscriptDescriptor,
  treeText,
  writtenDescriptor
} from "./descriptors.ts"
import { taprootOutputKey } from "./hd.ts"
import { type DerivedKey, derivedKeyText } from "./keyExpression.ts"
import type { AddressType } from "./WalletKeys.ts"

/** A script of a descriptor and its spending data, without signatures. */
export interface DescribedScript {
  readonly script: Bytes
  readonly type: AddressType | "other"
  /** In descriptor order; none for addresses and raw scripts. */
  readonly keys: ReadonlyArray<DerivedKey>
  readonly required: number
  readonly redeemScript?: Bytes
  readonly witnessScript?: Bytes
  /** x-only. The internal key is `undefined` if the output key's origin is unknown. */
  readonly taproot?: {
    readonly outputKey: Bytes
    readonly internalKey: Bytes | undefined
    /** Depth first. */
    readonly leaves: ReadonlyArray<TreeLeaf>
  }
  /** Without checksum. */
  readonly text: () => string
}

export type KeyAt = (position: number) => DerivedKey

const witness = (version: number, program: Bytes): Uint8Array => scriptOf({ kind: "witness", version, program })

const scriptHash = (script: Bytes): Uint8Array => scriptOf({ kind: "scripthash", hash: hash160(script) })

const single = (
  { key, name, script, type, xonly = false }: {
    readonly name: string
    readonly key: DerivedKey
    readonly script: Bytes
    readonly type: DescribedScript["type"]
    readonly xonly?: boolean
  }
): DescribedScript => ({
  script,
  type,
  keys: [key],
  required: 1,
  text: () => `${name}(${derivedKeyText(key, xonly)})`
})

const pk = (key: DerivedKey): DescribedScript =>
  single({ name: "pk", key, script: concat(pushData(key.publicKey), Uint8Array.of(Op.OP_CHECKSIG)), type: "other" })

const pkh = (key: DerivedKey): DescribedScript =>
  single({ name: "pkh", key, script: scriptOf({ kind: "pubkeyhash", hash: hash160(key.publicKey) }), type: "legacy" })

const wpkh = (key: DerivedKey): DescribedScript =>
  single({ name: "wpkh", key, script: witness(0, hash160(key.publicKey)), type: "bech32" })

const rawTaproot = (key: DerivedKey): DescribedScript => {
  const outputKey = key.publicKey.subarray(-32)
  return {
    ...single({ name: "rawtr", key, script: witness(1, outputKey), type: "bech32m", xonly: true }),
    taproot: { outputKey, internalKey: undefined, leaves: [] }
  }
}

const xOf = (key: DerivedKey): Bytes => key.publicKey.length === 33 ? key.publicKey.subarray(1) : key.publicKey

const taproot = (descriptor: Extract<Descriptor, { readonly name: "tr" }>, keyAt: KeyAt): DescribedScript => {
  const key = keyAt(descriptor.key.position)
  const internalKey = xOf(key)
  const scripts = descriptor.leaves.map(({ depth, inner }) => ({ depth, leaf: leafScript(inner, keyAt) }))
  const leaves = scripts.map(({ depth, leaf }) => ({ depth, leafVersion: TAPSCRIPT_LEAF, script: leaf.script }))
  const outputKey = taprootOutputKey(internalKey, treeHash(leaves))
  return {
    script: witness(1, outputKey),
    type: "bech32m",
    keys: [key, ...scripts.flatMap(({ leaf }) => leaf.keys)],
    required: 1,
    taproot: { outputKey, internalKey, leaves },
    text: () => {
      const tree = treeText(scripts.map(({ depth, leaf }) => ({ depth, text: leaf.text() })))
      return `tr(${derivedKeyText(key, true)}${tree === "" ? "" : `,${tree}`})`
    }
  }
}

const leafScript = (descriptor: Descriptor, keyAt: KeyAt): DescribedScript => {
  switch (descriptor.name) {
    case "pk": {
      const key = keyAt(descriptor.key.position)
      const script = concat(pushData(xOf(key)), Uint8Array.of(Op.OP_CHECKSIG))
      return single({ name: "pk", key, script, type: "other", xonly: true })
    }
    case "multi_a":
    case "sortedmulti_a":
      return multisig(descriptor, keyAt)
    case "miniscript":
      return miniscript(descriptor, keyAt)
    default:
      throw new TypeError(`${descriptor.name} is not in a script tree`)
  }
}

const miniscript = (descriptor: MiniscriptDescriptor, keyAt: KeyAt): DescribedScript => {
  const { context, tree } = descriptor
  const xonly = context === "tapscript"
  const keys = descriptor.keys.map(({ position }) => keyAt(position))
  const bytes = (mark: string): Bytes => {
    const key = keyAt(markedPosition(mark))
    return xonly ? xOf(key) : key.publicKey
  }
  return {
    script: miniscriptScript(tree, bytes),
    type: "other",
    keys,
    // How many suffice depends on the path; with one, the wallet tries.
    required: 1,
    text: () => writtenDescriptor(descriptor, ({ position }) => derivedKeyText(keyAt(position), xonly))
  }
}

const multisig = (
  descriptor: Extract<Descriptor, { readonly required: number }>,
  keyAt: KeyAt
): DescribedScript => {
  const { name, required } = descriptor
  const xonly = name === "multi_a" || name === "sortedmulti_a"
  const keys = descriptor.keys.map(({ position }) => keyAt(position))
  const pubkeys = keys.map((key) => ({ key, bytes: xonly ? xOf(key) : key.publicKey }))
  const ordered = name === "sortedmulti" || name === "sortedmulti_a"
    ? pubkeys.toSorted((a, b) => compare(a.bytes, b.bytes))
    : pubkeys
  const script = (xonly ? multiAScript : multiScript)(required, ordered.map(({ bytes }) => bytes))
  const texts = ordered.map(({ key }) => derivedKeyText(key, xonly))
  return {
    script,
    type: "other",
    keys,
    required,
    text: () => `${xonly ? "multi_a" : "multi"}(${[required, ...texts].join(",")})`
  }
}

const inScriptHash = (inner: DescribedScript): DescribedScript => ({
  ...inner,
  script: scriptHash(inner.script),
  type: witnessVersion(inner.script) === -1 ? "legacy" : "p2sh-segwit",
  redeemScript: inner.script,
  text: () => `sh(${inner.text()})`
})

const inWitnessScriptHash = (inner: DescribedScript): DescribedScript => ({
  ...inner,
  script: witness(0, sha256(inner.script)),
  type: "bech32",
  witnessScript: inner.script,
  text: () => `wsh(${inner.text()})`
})

/** BIP 384, without taproot; segwit only for compressed keys. */
const combo = (key: DerivedKey): ReadonlyArray<DescribedScript> =>
  key.publicKey.length === 65 ? [pk(key), pkh(key)] : [pk(key), pkh(key), wpkh(key), inScriptHash(wpkh(key))]

const fixed = (script: Bytes, text: string): DescribedScript => ({
  script,
  type: typeOfScript(script),
  keys: [],
  required: 0,
  text: () => text
})

/** Upstream `OutputTypeFromDestination`. */
const typeOfScript = (script: Bytes): DescribedScript["type"] => {
  const version = witnessVersion(script)
  if (version === 0) return "bech32"
  if (version > 0) return "bech32m"
  // The script behind a script hash is unknown.
  return script.length === 25 && script[0] === Op.OP_DUP ? "legacy" : "other"
}

/** One script, except for `combo`. */
export const describedScripts = (descriptor: Descriptor, keyAt: KeyAt): ReadonlyArray<DescribedScript> => {
  switch (descriptor.name) {
    case "pk":
      return [pk(keyAt(descriptor.key.position))]
    case "pkh":
      return [pkh(keyAt(descriptor.key.position))]
    case "wpkh":
      return [wpkh(keyAt(descriptor.key.position))]
    case "combo":
      return combo(keyAt(descriptor.key.position))
    case "tr":
      return [taproot(descriptor, keyAt)]
    case "rawtr":
      return [rawTaproot(keyAt(descriptor.key.position))]
    case "multi":
    case "sortedmulti":
    case "multi_a":
    case "sortedmulti_a":
      return [multisig(descriptor, keyAt)]
    case "miniscript":
      return [miniscript(descriptor, keyAt)]
    case "sh":
      return describedScripts(descriptor.inner, keyAt).map(inScriptHash)
    case "wsh":
      return describedScripts(descriptor.inner, keyAt).map(inWitnessScriptHash)
    case "addr":
      return [fixed(descriptor.script, `addr(${descriptor.address})`)]
    case "raw":
      return [fixed(descriptor.script, `raw(${toHex(descriptor.script)})`)]
  }
}

/** `undefined` if it gives out no addresses, or several types. */
export const outputTypeOf = (descriptor: Descriptor): AddressType | undefined => {
  switch (descriptor.name) {
    case "pkh":
      return "legacy"
    case "wpkh":
    case "wsh":
      return "bech32"
    case "sh":
      return descriptor.inner.name === "wpkh" || descriptor.inner.name === "wsh" ? "p2sh-segwit" : "legacy"
    case "tr":
    case "rawtr":
      return "bech32m"
    default:
      return undefined
  }
}
