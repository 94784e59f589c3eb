/** When a name is shown as one that expires soon: by the pages, the desk and svcd-cli. */

/** Blocks of four weeks. */
const FOUR_WEEKS = 4_032

/** Blocks of a week. */
const WEEK = 1_008

/** Blocks before its expiry from which a name expires soon: four weeks, or a sixth of a life that is short. */
export const soonWithin = (depth: number): number => Math.min(FOUR_WEEKS, Math.floor(depth / 6))

/** The same for a name that has to be renewed now: a week, or a fifteenth. */
export const nowWithin = (depth: number): number => Math.min(WEEK, Math.floor(depth / 15))
