/** Records of one page of the block index. */
export const PAGE_RECORDS = 512

/** 32-bit words of a record. */
export const WORDS = 36

export const PAGE_BYTES = PAGE_RECORDS * WORDS * 4

/** Whether this machine's words have the stored byte order. */
export const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** The same memory as bytes and as words. */
export interface HeaderPage {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
}

/**
 * A page over given bytes, aligned to 4 in their buffer, or an empty one. Not over the driver's `Buffer` itself: its
 * `slice` is a view, and a copied hash would keep the page.
 */
export const makePage = (bytes: Uint8Array = new Uint8Array(PAGE_BYTES)): HeaderPage => ({
  bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, PAGE_BYTES),
  words: new Uint32Array(bytes.buffer, bytes.byteOffset, PAGE_RECORDS * WORDS)
})
