/** Records of one page of the block index. */
export const PAGE_RECORDS = 512

/** 32-bit words of a record. */
export const WORDS = 36

export const PAGE_BYTES = PAGE_RECORDS * WORDS * 4

/** Whether words have the order of bytes that is stored. */
export const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** The same memory as bytes and as words. */
export interface HeaderPage {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
}

/**
 * A page of given bytes, which begin at a multiple of 4 in their buffer, or an empty one. The driver's bytes are a `Buffer`, whose `slice`
 * is a view: a hash that a caller copied would be a part of the page.
 */
export const makePage = (bytes: Uint8Array = new Uint8Array(PAGE_BYTES)): HeaderPage => ({
  bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, PAGE_BYTES),
  words: new Uint32Array(bytes.buffer, bytes.byteOffset, PAGE_RECORDS * WORDS)
})
