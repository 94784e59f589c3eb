/** When a name counts as expiring soon, for the pages, the desk and svcd-cli. */

const FOUR_WEEKS = 4_032

const WEEK = 1_008

/** A name expires soon within this many blocks: four weeks, or a sixth of a short life. */
export const soonWithin = (depth: number): number => Math.min(FOUR_WEEKS, Math.floor(depth / 6))

/** A name has to be renewed now within this many blocks: a week, or a fifteenth. */
export const nowWithin = (depth: number): number => Math.min(WEEK, Math.floor(depth / 15))
