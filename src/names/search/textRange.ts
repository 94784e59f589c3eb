// A text index has the names of a range of ids, so that a search costs no more than its range: FTS5 reads a list of ids
// from its start.

const RANGE_BITS = 16

export const rangeOf = (id: number): number => Math.floor(id / 2 ** RANGE_BITS)

export const endOfRange = (range: number): number => (range + 1) * 2 ** RANGE_BITS - 1

export const textTable = (range: number): string => `name_text_${range}`
