import { TAPSCRIPT_LEAF } from "../../consensus/interpreter/limits.ts"
import { binaryString, type Bytes, concat, EMPTY } from "../../protocol/bytes.ts"
import { sortedHashes, sortedLeaves } from "../../protocol/psbt/codecs.ts"
import { leafKey, type TaprootLeaf } from "../../protocol/psbt/Psbt.ts"
import { Op, ScriptCursor } from "../../protocol/script.ts"
import { minimalNumber } from "../../protocol/scriptOperations.ts"
import { tapLeafHash } from "../../protocol/taproot.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import { satisfyTapMiniscript } from "./miniscript.ts"
import { findByX } from "./SigningProvider.ts"
import type { Work } from "./Work.ts"

/**
 * Satisfies taproot (BIP 341) by key path, otherwise by the leaf with the smallest witness. Supported leaves: a single
 * key with OP_CHECKSIG, `multi_a` of BIP 387, and miniscript.
 */

/** x-only keys, and the required number of signatures. */
interface LeafKeys {
  readonly required: number
  readonly keys: ReadonlyArray<Bytes>
}

const X_SIZE = 32

/** BIP 387. */
const MAX_KEYS = 999

/** The keys with a check at the beginning of a script, and the offset after them. */
const checkedKeys = (script: Bytes): { readonly keys: ReadonlyArray<Bytes>; readonly end: number } => {
  const keys: Array<Bytes> = []
  let at = 0
  while (keys.length < MAX_KEYS) {
    const check = at + 1 + X_SIZE
    if (script[at] !== X_SIZE || script[check] !== (at === 0 ? Op.OP_CHECKSIG : Op.OP_CHECKSIGADD)) break
    keys.push(script.subarray(at + 1, check))
    at = check + 1
  }
  return { keys, end: at }
}

export const leafKeys = (script: Bytes): LeafKeys | undefined => {
  const { end, keys } = checkedKeys(script)
  if (keys.length === 1 && end === script.length) return { required: 1, keys }
  const cursor = new ScriptCursor(script, end)
  if (!cursor.next()) return undefined
  const required = minimalNumber(cursor.opcode, cursor.data)
  const isLast = cursor.offset + 1 === script.length && script[cursor.offset] === Op.OP_NUMEQUAL
  if (!isLast || required === undefined || required < 1 || required > keys.length) return undefined
  return { required, keys }
}

const noteOrigin = ({ data, provider }: Work, xonly: Bytes, leafHash: Bytes | undefined): void => {
  const origin = findByX(xonly, provider.origin)
  if (origin === undefined) return
  const key = binaryString(xonly)
  const before = data.taprootOrigins.get(key)
  const leafHashes = sortedHashes([...before?.leafHashes ?? [], ...leafHash === undefined ? [] : [leafHash]])
  data.taprootOrigins.set(key, { xonly, origin: before?.origin ?? origin, leafHashes })
}

const leafSignature = (work: Work, xonly: Bytes, leafHash: Bytes): Bytes | undefined => {
  const { creator, data } = work
  noteOrigin(work, xonly, leafHash)
  const key = binaryString(concat(xonly, leafHash))
  const known = data.taprootScriptSignatures.get(key)
  if (known !== undefined) return known.signature
  const signature = creator.schnorr(xonly, leafHash, undefined)
  if (signature !== undefined) data.taprootScriptSignatures.set(key, { xonly, leafHash, signature })
  return signature
}

const satisfyLeaf = (work: Work, leaf: TaprootLeaf): ReadonlyArray<Bytes> | undefined => {
  const [control] = leaf.controlBlocks
  if (leaf.leafVersion !== TAPSCRIPT_LEAF || control === undefined) return undefined
  const asked = leafKeys(leaf.script)
  const leafHash = tapLeafHash(leaf.leafVersion, leaf.script)
  if (asked === undefined) {
    const items = satisfyTapMiniscript(work, leaf.script, (key) => leafSignature(work, key, leafHash))
    return items === undefined ? undefined : [...items, leaf.script, control]
  }
  const signatures = asked.keys.map((key) => leafSignature(work, key, leafHash))
  let left = asked.required
  const items = signatures.map((signature) => signature !== undefined && left-- > 0 ? signature : EMPTY)
  // The signature of the first key is on top of the stack.
  return left > 0 ? undefined : [...items.reverse(), leaf.script, control]
}

const witnessSize = (items: ReadonlyArray<Bytes>): number =>
  items.reduce((size, { length }) => size + compactSizeLength(length) + length, 0)

const keySignature = (work: Work, outputKey: Bytes): Bytes | undefined => {
  const { creator, data } = work
  const { taprootInternalKey: internal } = data
  if (internal !== undefined) noteOrigin(work, internal, undefined)
  noteOrigin(work, outputKey, undefined)
  data.taprootKeySignature ??=
    (internal === undefined ? undefined : creator.schnorr(internal, undefined, data.taprootMerkleRoot ?? EMPTY)) ??
      creator.schnorr(outputKey, undefined, undefined)
  return data.taprootKeySignature
}

/** `undefined` if signatures are missing. Source: upstream `script/sign.cpp`, `SignTaproot`. */
export const satisfyTaproot = (work: Work, outputKey: Bytes): ReadonlyArray<Bytes> | undefined => {
  const { data, provider } = work
  const known = provider.taproot(outputKey)
  data.taprootInternalKey ??= known?.internalKey
  data.taprootMerkleRoot ??= known?.merkleRoot
  if (known !== undefined && known.tree.length > 0) data.taprootTree ??= known.tree
  for (const leaf of known?.leaves.values() ?? []) {
    if (!data.taprootLeaves.has(leafKey(leaf))) data.taprootLeaves.set(leafKey(leaf), leaf)
  }
  const signature = keySignature(work, outputKey)
  if (signature !== undefined) return [signature]
  let smallest: ReadonlyArray<Bytes> | undefined
  for (const leaf of sortedLeaves(data.taprootLeaves)) {
    const items = satisfyLeaf(work, leaf)
    if (items !== undefined && (smallest === undefined || witnessSize(items) < witnessSize(smallest))) smallest = items
  }
  return smallest
}
