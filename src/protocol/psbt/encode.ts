import { type Bytes, compare, concat, concatAll, EMPTY } from "../bytes.ts"
import { runSteps, type Steps } from "../steps.ts"
import { Writer } from "../Writer.ts"
import { PSBT_MAGIC } from "./decode.ts"
import type {
  GlobalXpub,
  KeyOrigin,
  Musig2Share,
  Psbt,
  PsbtInput,
  PsbtMap,
  PsbtOutput,
  Records,
  TaprootLeaf,
  TreeLeaf,
  UnknownRecord
} from "./Psbt.ts"
import { isFinalInput } from "./Psbt.ts"
import { GlobalType, InputType, OutputType } from "./types.ts"

/**
 * Encodes a PSBT. Records are in the reference node's order, and records of one type in the order of their keys. So the
 * same content always has the same bytes. Upstream `psbt.h`, the `Serialize` members.
 */

class RecordWriter {
  readonly writer = new Writer(1024)

  record(type: number, data: Bytes, value: Bytes): void {
    this.writer.compactSize(1 + data.length).u8(type).bytes(data).varBytes(value)
  }

  /** A record without data in its key. Written only if there is a value. */
  single(type: number, value: Bytes | undefined): void {
    if (value !== undefined) this.record(type, EMPTY, value)
  }

  unknown(records: Records<UnknownRecord>): void {
    for (const { key, value } of sorted(records)) this.writer.varBytes(key).varBytes(value)
  }

  end(): void {
    this.writer.u8(0)
  }
}

/** Sorts records by their keys, which compare as their bytes do. */
export const sorted = <A>(records: Records<A>): ReadonlyArray<A> =>
  [...records].sort(([a], [b]) => a < b ? -1 : 1).map(([, record]) => record)

const made = (write: (writer: Writer) => void): Uint8Array => {
  const writer = new Writer(64)
  write(writer)
  return writer.toBytes()
}

const originBytes = ({ fingerprint, path }: KeyOrigin): Uint8Array =>
  made((writer) => {
    writer.bytes(fingerprint)
    for (const child of path) writer.u32(child)
  })

/** Records that both inputs and outputs have, and their type there. */
interface SharedRecords {
  readonly type: number
  readonly kind: "origins" | "taprootOrigins" | "musig2Participants"
}

const writeShared = (to: RecordWriter, map: PsbtMap, { kind, type }: SharedRecords): void => {
  switch (kind) {
    case "origins":
      for (const { origin, pubkey } of sorted(map.origins)) to.record(type, pubkey, originBytes(origin))
      return
    case "taprootOrigins":
      for (const { leafHashes, origin, xonly } of sorted(map.taprootOrigins)) {
        const value = made((writer) => writer.compactSize(leafHashes.length).bytes(concatAll(leafHashes)))
        to.record(type, xonly, concat(value, originBytes(origin)))
      }
      return
    case "musig2Participants":
      for (const { aggregate, participants } of sorted(map.musig2Participants)) {
        to.record(type, aggregate, concatAll(participants))
      }
  }
}

/** Sorts leaves by their scripts, then by their versions. */
export const sortedLeaves = (leaves: Records<TaprootLeaf>): ReadonlyArray<TaprootLeaf> =>
  [...leaves.values()].sort((a, b) => compare(a.script, b.script) || a.leafVersion - b.leafVersion)

const writeShares = (to: RecordWriter, type: number, shares: Records<Musig2Share>): void => {
  for (const { aggregate, leafHash, participant, value } of sorted(shares)) {
    to.record(type, concat(participant, aggregate, leafHash ?? EMPTY), value)
  }
}

const writeTaproot = (to: RecordWriter, input: PsbtInput): void => {
  to.single(InputType.TAP_KEY_SIGNATURE, input.taprootKeySignature)
  for (const { leafHash, signature, xonly } of sorted(input.taprootScriptSignatures)) {
    to.record(InputType.TAP_SCRIPT_SIGNATURE, concat(xonly, leafHash), signature)
  }
  for (const { controlBlocks, leafVersion, script } of sortedLeaves(input.taprootLeaves)) {
    const value = concat(script, Uint8Array.of(leafVersion))
    for (const control of controlBlocks) to.record(InputType.TAP_LEAF_SCRIPT, control, value)
  }
  writeShared(to, input, { type: InputType.TAP_BIP32_DERIVATION, kind: "taprootOrigins" })
  to.single(InputType.TAP_INTERNAL_KEY, input.taprootInternalKey)
  to.single(InputType.TAP_MERKLE_ROOT, input.taprootMerkleRoot)
  writeShared(to, input, { type: InputType.MUSIG2_PARTICIPANTS, kind: "musig2Participants" })
  writeShares(to, InputType.MUSIG2_NONCE, input.musig2Nonces)
  writeShares(to, InputType.MUSIG2_SIGNATURE, input.musig2Signatures)
}

/** Writes the records that only an input without final scripts needs. */
const writeUnfinished = (to: RecordWriter, input: PsbtInput): void => {
  const { preimages, sighashType } = input
  for (const { pubkey, signature } of sorted(input.partialSignatures)) {
    to.record(InputType.PARTIAL_SIGNATURE, pubkey, signature)
  }
  if (sighashType !== undefined) to.single(InputType.SIGHASH, made((writer) => writer.i32(sighashType)))
  to.single(InputType.REDEEM_SCRIPT, input.redeemScript)
  to.single(InputType.WITNESS_SCRIPT, input.witnessScript)
  writeShared(to, input, { type: InputType.BIP32_DERIVATION, kind: "origins" })
  for (const { hash, preimage } of sorted(preimages.ripemd160)) to.record(InputType.RIPEMD160, hash, preimage)
  for (const { hash, preimage } of sorted(preimages.sha256)) to.record(InputType.SHA256, hash, preimage)
  for (const { hash, preimage } of sorted(preimages.hash160)) to.record(InputType.HASH160, hash, preimage)
  for (const { hash, preimage } of sorted(preimages.hash256)) to.record(InputType.HASH256, hash, preimage)
  writeTaproot(to, input)
}

const writeInput = (to: RecordWriter, input: PsbtInput): void => {
  const { finalScriptWitness, nonWitnessUtxo, witnessUtxo } = input
  to.single(InputType.NON_WITNESS_UTXO, nonWitnessUtxo?.strippedBytes())
  if (witnessUtxo !== undefined) {
    to.single(InputType.WITNESS_UTXO, made((writer) => writer.i64(witnessUtxo.value).varBytes(witnessUtxo.script)))
  }
  if (!isFinalInput(input)) writeUnfinished(to, input)
  to.single(InputType.SCRIPT_SIG, input.finalScriptSig)
  if (finalScriptWitness !== undefined) {
    const items = made((writer) => {
      writer.compactSize(finalScriptWitness.length)
      for (const item of finalScriptWitness) writer.varBytes(item)
    })
    to.single(InputType.SCRIPT_WITNESS, items)
  }
  to.unknown(input.proprietary)
  to.unknown(input.unknown)
  to.end()
}

const treeBytes = (leaves: ReadonlyArray<TreeLeaf>): Uint8Array =>
  made((writer) => {
    for (const { depth, leafVersion, script } of leaves) writer.u8(depth).u8(leafVersion).varBytes(script)
  })

const writeOutput = (to: RecordWriter, output: PsbtOutput): void => {
  to.single(OutputType.REDEEM_SCRIPT, output.redeemScript)
  to.single(OutputType.WITNESS_SCRIPT, output.witnessScript)
  writeShared(to, output, { type: OutputType.BIP32_DERIVATION, kind: "origins" })
  to.unknown(output.proprietary)
  to.single(OutputType.TAP_INTERNAL_KEY, output.taprootInternalKey)
  if (output.taprootTree.length > 0) to.single(OutputType.TAP_TREE, treeBytes(output.taprootTree))
  writeShared(to, output, { type: OutputType.TAP_BIP32_DERIVATION, kind: "taprootOrigins" })
  writeShared(to, output, { type: OutputType.MUSIG2_PARTICIPANTS, kind: "musig2Participants" })
  to.unknown(output.unknown)
  to.end()
}

const compareOrigins = (a: KeyOrigin, b: KeyOrigin): number => {
  const byLength = compare(a.fingerprint, b.fingerprint) || a.path.length - b.path.length
  if (byLength !== 0) return byLength
  const at = a.path.findIndex((child, n) => child !== b.path[n])
  return at < 0 ? 0 : (a.path[at] ?? 0) - (b.path[at] ?? 0)
}

/** Sorts extended keys by their origin. */
export const sortedXpubs = (xpubs: Records<GlobalXpub>): ReadonlyArray<GlobalXpub> =>
  [...sorted(xpubs)].sort((a, b) => compareOrigins(a.origin, b.origin))

/** Returns a PSBT as bytes. `decodePsbt` is the inverse, except for witnesses of previous transactions. */
export function* encodePsbtSteps(psbt: Psbt): Steps<Uint8Array> {
  const to = new RecordWriter()
  to.writer.bytes(PSBT_MAGIC)
  to.single(GlobalType.UNSIGNED_TX, psbt.transaction.strippedBytes())
  for (const { origin, xpub } of sortedXpubs(psbt.xpubs)) to.record(GlobalType.XPUB, xpub, originBytes(origin))
  to.unknown(psbt.proprietary)
  to.unknown(psbt.unknown)
  to.end()
  for (const input of psbt.inputs) {
    writeInput(to, input)
    yield
  }
  for (const output of psbt.outputs) {
    writeOutput(to, output)
    yield
  }
  return to.writer.toBytes()
}

export const encodePsbt = (psbt: Psbt): Uint8Array => runSteps(encodePsbtSteps(psbt))
