/**
 * An index of text has the names of a range of ids. So a search costs no more than its range, wherever it begins: FTS5
 * reads a list of ids from its start.
 */

const RANGE_BITS = 16

/** The number of the range of an id. */
export const rangeOf = (id: number): number => Math.floor(id / 2 ** RANGE_BITS)

/** The last id of a range. */
export const endOfRange = (range: number): number => (range + 1) * 2 ** RANGE_BITS - 1

export const textTable = (range: number): string => `name_text_${range}`
