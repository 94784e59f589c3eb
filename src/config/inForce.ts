import type { OptionName } from "./options.ts"
import { asksDns, isProxied } from "./peerSettings.ts"
import type { GivenSettings, Settings } from "./settings.ts"

/** Settings that depend on other options. */

/** Upstream `validation.h`, `MAX_SCRIPTCHECK_THREADS`. */
const MAX_DEFAULT_THREADS = 15

/** Default megabytes on a node without transactions of peers. */
const BLOCKS_ONLY_MEMPOOL = 5

export interface Origin {
  readonly isDefault: (name: OptionName) => boolean
  readonly cores: number
}

/** Sources: upstream `init.cpp`, `InitParameterInteraction` and `bind_on_any`; `wallet/init.cpp`. */
export const inForce = (
  { chain, mempool, peers, wallet, ...others }: GivenSettings,
  { cores, isDefault }: Origin
): Settings => {
  const isOffline = peers.maxPeers === 0
  const hasOtherListeners = peers.whitebind.length > 0 && isDefault("listen")
  const listen = isOffline || hasOtherListeners ? undefined : peers.listen
  const isDefaultOfBlocksOnly = (name: OptionName): boolean => peers.blocksOnly && isDefault(name)
  return {
    ...others,
    chain: { ...chain, verifyThreads: chain.verifyThreads ?? Math.min(cores - 1, MAX_DEFAULT_THREADS) },
    mempool: isDefaultOfBlocksOnly("maxmempool") ? { ...mempool, maxMempool: BLOCKS_ONLY_MEMPOOL } : mempool,
    peers: {
      ...peers,
      listen,
      whitebind: isOffline ? [] : peers.whitebind,
      whitelistRelay: peers.whitelistRelay && !isDefaultOfBlocksOnly("whitelistrelay"),
      seedNodes: peers.bootstrapPeers.length > 0 ? [] : peers.seedNodes,
      dnsSeed: asksDns(peers),
      discover: peers.discover ?? (listen !== undefined && peers.externalAddresses.length === 0 && !isProxied(peers))
    },
    wallet: isDefaultOfBlocksOnly("walletbroadcast") ? { ...wallet, walletBroadcast: false } : wallet
  }
}
