import { type Bytes, concatAll } from "../../protocol/bytes.ts"
import { decodeSetNumber, encodeSetNumber, MuHash, settledSets } from "../../protocol/muhash.ts"
import { Reader } from "../../protocol/Reader.ts"

// The set hash after each block of a batch: the long part of the coin statistics, which runs in its own thread
// (`SetThread`). Batches are packed block by block: the numbers of added and removed members (u32 each), then the
// members with their lengths.

export const DIGEST_BYTES = 32

export const SET_BYTES = 384

export const EMPTY_SET: Bytes = encodeSetNumber(1n)

/** Per block its hash (wire order) and the number of the set, each list in one piece. */
export interface SettledBlocks {
  readonly digests: Uint8Array<ArrayBuffer>
  readonly numbers: Uint8Array<ArrayBuffer>
}

/** Applies a packed batch to the set with a number. */
export const settleBlocks = (start: Bytes, packed: Bytes): SettledBlocks => {
  const reader = new Reader(packed)
  const set = new MuHash({ numerator: decodeSetNumber(start) })
  const after: Array<MuHash> = []
  while (reader.remaining > 0) {
    const added = reader.u32("added")
    const removed = reader.u32("removed")
    for (let i = 0; i < added; i++) set.add(reader.varBytes("member"))
    for (let i = 0; i < removed; i++) set.remove(reader.varBytes("member"))
    after.push(new MuHash(set))
  }
  const settled = settledSets(after)
  return {
    digests: concatAll(settled.map(({ digest }) => digest)),
    numbers: concatAll(settled.map(({ number }) => number))
  }
}

/** A batch for the thread. Without `start`, it follows the previous one. */
export interface ToSetThread {
  readonly start: Bytes | undefined
  readonly packed: Bytes
}

/** Applies batches one after the other. */
export const settler = (): (batch: ToSetThread) => SettledBlocks => {
  let number = EMPTY_SET
  return ({ packed, start }) => {
    const settled = settleBlocks(start ?? number, packed)
    if (settled.numbers.length > 0) number = settled.numbers.slice(-SET_BYTES)
    return settled
  }
}
