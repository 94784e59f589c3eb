import { COIN } from "../protocol/amount.ts"
import type { Height } from "../protocol/keys.ts"
import type { ConsensusParams } from "./params.ts"

/** Smallest units (consensus); 0 from the 33rd halving on. Source: upstream `validation.cpp`, `GetBlockSubsidy`. */
export const blockSubsidy = (height: Height, { halvingInterval }: ConsensusParams): number =>
  Math.floor(50 * COIN / 2 ** Math.floor(height / halvingInterval))
