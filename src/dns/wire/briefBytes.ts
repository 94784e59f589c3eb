const BLOCK = 65_536

/** Larger pieces are blocks of their own. */
const LARGEST = BLOCK / 16

let block = new Uint8Array(BLOCK)
let used = 0

/**
 * Zeros for a message that is sent and forgotten. V8 keeps arrays of more than 64 bytes outside of its heap, where each
 * takes half a microsecond; a piece of a block takes a tenth of that. A block stays as long as one of its pieces is used,
 * so what is kept must be a copy.
 */
export const briefBytes = (size: number): Uint8Array<ArrayBuffer> => {
  if (size > LARGEST) return new Uint8Array(size)
  if (used + size > BLOCK) {
    block = new Uint8Array(BLOCK)
    used = 0
  }
  const piece = new Uint8Array(block.buffer, used, size)
  used += size
  return piece
}
