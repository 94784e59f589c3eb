import type { OptionName } from "./options.ts"
import type { Values } from "./values.ts"

/** Megabytes of the mempool of a node that takes no transactions from peers, by default. */
const BLOCKS_ONLY_MEMPOOL = 5

/**
 * With -blocksonly, other options have other defaults (upstream `init.cpp`, `InitParameterInteraction`;
 * `wallet/init.cpp`).
 */
export const withBlocksOnly = (
  values: Values,
  { isDefault }: { readonly isDefault: (name: OptionName) => boolean }
): Values => {
  if (!values.blocksonly) return values
  return {
    ...values,
    ...(isDefault("whitelistrelay") ? { whitelistrelay: false } : {}),
    ...(isDefault("maxmempool") ? { maxmempool: BLOCKS_ONLY_MEMPOOL } : {}),
    ...(isDefault("walletbroadcast") ? { walletbroadcast: false } : {})
  }
}
