import type { Bytes } from "../bytes.ts"
import { Reader } from "../Reader.ts"
import type { Steps } from "../steps.ts"
import { type PsbtOutput, slimMap, type TreeLeaf } from "./Psbt.ts"
import { PsbtFault, RecordReader } from "./RecordReader.ts"
import { newMapDraft, sharedReaders } from "./sharedRecords.ts"
import { OutputType } from "./types.ts"

/** Reads the map of an output. Upstream `psbt.h`, `PSBTOutput::Unserialize`. */

/** The most branches between a leaf and the root (BIP 341). */
const MAX_DEPTH = 128

/** Whether depths, listed depth first, are exactly the leaf depths of one binary tree. */
export const isWholeTree = (depths: ReadonlyArray<number>): boolean => {
  const open: Array<number> = []
  for (const depth of depths) {
    const last = open[open.length - 1]
    if (last !== undefined && depth < last) return false
    open.push(depth)
    for (;;) {
      const [left, right] = open.slice(-2)
      if (right === undefined || left !== right || right === 0) break
      open.splice(-2, 2, right - 1)
    }
  }
  return open.length === 1 && open[0] === 0
}

const readTree = (value: Bytes): ReadonlyArray<TreeLeaf> => {
  if (value.length === 0) throw new PsbtFault("Output Taproot tree must not be empty")
  const reader = new Reader(value)
  const leaves: Array<TreeLeaf> = []
  while (reader.remaining > 0) {
    const depth = reader.u8("depth")
    const leafVersion = reader.u8("leaf version")
    const script = reader.varBytes("leaf script")
    if (depth > MAX_DEPTH) throw new PsbtFault("Output Taproot tree has as leaf greater than Taproot maximum depth")
    if ((leafVersion & 1) !== 0) throw new PsbtFault("Output Taproot tree has a leaf with an invalid leaf version")
    leaves.push({ depth, leafVersion, script })
  }
  if (!isWholeTree(leaves.map(({ depth }) => depth))) throw new PsbtFault("Output Taproot tree is malformed")
  return leaves
}

/** Reads the map of an output up to its separator, one record per step. */
export function* readOutputMap(reader: Reader): Steps<PsbtOutput> {
  const records = new RecordReader(reader, "output")
  const draft = newMapDraft()
  let taprootTree: ReadonlyArray<TreeLeaf> = []
  for (let record = records.next(); record !== undefined; record = records.next()) {
    switch (record.type) {
      case OutputType.REDEEM_SCRIPT:
        sharedReaders.redeemScript(draft, records, record)
        break
      case OutputType.WITNESS_SCRIPT:
        sharedReaders.witnessScript(draft, records, record)
        break
      case OutputType.BIP32_DERIVATION:
        sharedReaders.origin(draft, records, record)
        break
      case OutputType.TAP_INTERNAL_KEY:
        sharedReaders.internalKey(draft, records, record)
        break
      case OutputType.TAP_TREE:
        taprootTree = readTree(
          records.single(record, { duplicate: "output Taproot tree", name: "Output Taproot tree" })
        )
        break
      case OutputType.TAP_BIP32_DERIVATION:
        sharedReaders.taprootOrigin(draft, records, record)
        break
      case OutputType.MUSIG2_PARTICIPANTS:
        sharedReaders.musig2(draft, records, record)
        break
      case OutputType.PROPRIETARY:
        sharedReaders.proprietary(draft, records, record)
        break
      default:
        records.unknown(record, draft.unknown)
    }
    yield
  }
  return { ...slimMap(draft), taprootTree }
}
