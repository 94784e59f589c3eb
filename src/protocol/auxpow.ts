import type { Bytes } from "./bytes.ts"
import { type Header, readHeader } from "./header.ts"
import type { Reader } from "./Reader.ts"
import { readTransaction, type Transaction } from "./transaction.ts"
import { Writer } from "./Writer.ts"

/**
 * A merged-mining proof (reference/protocol.md 2.4): a block of another chain whose coinbase commits to our block. The
 * index of the parent coinbase counts as 0 whatever its field says, and the parent's hash is computed, not read.
 */
export interface Auxpow {
  readonly bytes: Bytes
  readonly coinbase: Transaction
  /** Merkle branch from the parent coinbase to the parent's merkle root. */
  readonly coinbaseBranch: ReadonlyArray<Bytes>
  /** Merkle branch from our hash to the root in the parent coinbase. */
  readonly chainBranch: ReadonlyArray<Bytes>
  /** Signed 32-bit. */
  readonly chainIndex: number
  readonly parent: Header
}

const readBranch = (reader: Reader, field: string): ReadonlyArray<Bytes> => {
  const count = reader.count(field, 32)
  const branch = new Array<Bytes>(count)
  for (let i = 0; i < count; i++) branch[i] = reader.bytes(32, field)
  return branch
}

/** Throws `DecodeError`. */
export const readAuxpow = (reader: Reader): Auxpow => {
  const start = reader.offset
  const coinbase = readTransaction(reader)
  reader.skip(32, "auxpow parent hash")
  const coinbaseBranch = readBranch(reader, "auxpow coinbase branch")
  reader.skip(4, "auxpow coinbase index")
  const chainBranch = readBranch(reader, "auxpow chain branch")
  const chainIndex = reader.i32("auxpow chain index")
  const parent = readHeader(reader)
  const bytes = reader.source.subarray(start, reader.offset)
  return { bytes, coinbase, coinbaseBranch, chainBranch, chainIndex, parent }
}

/** Writes a proof with zeros in the fields that the reference node ignores (reference/protocol.md 2.4). */
export const writeAuxpow = (writer: Writer, auxpow: Omit<Auxpow, "bytes">): Writer => {
  writer.bytes(auxpow.coinbase.bytes).bytes(new Uint8Array(32))
  writer.compactSize(auxpow.coinbaseBranch.length)
  for (const hash of auxpow.coinbaseBranch) writer.bytes(hash)
  writer.u32(0).compactSize(auxpow.chainBranch.length)
  for (const hash of auxpow.chainBranch) writer.bytes(hash)
  return writer.i32(auxpow.chainIndex).bytes(auxpow.parent.bytes)
}

export const makeAuxpow = (parts: Omit<Auxpow, "bytes">): Auxpow => ({
  ...parts,
  bytes: writeAuxpow(new Writer(1024), parts).toBytes()
})

const isNormal = (auxpow: Auxpow): boolean => {
  const { bytes, coinbase, coinbaseBranch } = auxpow
  const hashAt = coinbase.bytes.length
  // The branch begins with its length as a CompactSize. The index follows the branch.
  const lead = bytes[hashAt + 32] ?? 0
  const indexAt = hashAt + 32 + (lead < 0xfd ? 1 : lead === 0xfd ? 3 : 5) + 32 * coinbaseBranch.length
  for (let i = 0; i < 32; i++) if (bytes[hashAt + i] !== 0) return false
  for (let i = 0; i < 4; i++) if (bytes[indexAt + i] !== 0) return false
  return true
}

/** As the reference node stores and serves it, with zeros in ignored fields. */
export const normalizeAuxpow = (auxpow: Auxpow): Auxpow => isNormal(auxpow) ? auxpow : makeAuxpow(auxpow)
