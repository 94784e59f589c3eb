import type { OptionSource } from "./sources.ts"
import type { Values } from "./values.ts"

/** Megabytes of the mempool of a node that takes no transactions from peers, by default. */
const BLOCKS_ONLY_MEMPOOL = 5

/**
 * With -blocksonly, other options have other defaults (upstream `init.cpp`, `InitParameterInteraction`;
 * `wallet/init.cpp`).
 */
export const withBlocksOnly = (values: Values, source: OptionSource): Values => {
  if (!values.blocksonly) return values
  const isDefault = (name: keyof Values): boolean => source.get(name)?.from === "default"
  return {
    ...values,
    ...(isDefault("whitelistrelay") ? { whitelistrelay: false } : {}),
    ...(isDefault("maxmempool") ? { maxmempool: BLOCKS_ONLY_MEMPOOL } : {}),
    ...(isDefault("walletbroadcast") ? { walletbroadcast: false } : {})
  }
}
