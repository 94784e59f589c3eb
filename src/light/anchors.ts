import type { ChainAnchor, ConsensusParams } from "../consensus/params.ts"
import type { Height } from "../protocol/keys.ts"

/** Blocks of the window beyond those that a name lives: for reorganizations at its start. */
const SPARE_BLOCKS = 100

/** The lowest block that a window with this tip needs: every name that lives at the tip has an operation from there on. */
export const firstOfWindow = (tip: Height, lifetime: number): Height => Math.max(1, tip - lifetime - SPARE_BLOCKS + 1)

/** The parameters with other anchors: those of `-anchor`. The least work of a chain stays that of the network. */
export const withAnchors = (params: ConsensusParams, anchors: ReadonlyArray<ChainAnchor>): ConsensusParams => ({
  ...params,
  anchors
})
