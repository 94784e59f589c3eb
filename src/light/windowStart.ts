import type { Height } from "../protocol/keys.ts"

/** Blocks of the window beyond the lifetime of a name, for reorgs at its start. */
const SPARE_BLOCKS = 100

/** The lowest block that a window with this tip needs: every living name has an operation from there on. */
export const firstOfWindow = (tip: Height, lifetime: number): Height => Math.max(1, tip - lifetime - SPARE_BLOCKS + 1)
