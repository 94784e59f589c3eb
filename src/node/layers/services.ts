import type { PeerManager } from "../../network/PeerManager.ts"
import type { ProvidedByChain } from "./chain.ts"
import type { ProvidedByMempool } from "./mempool.ts"
import type { ProvidedByNameDb } from "./names.ts"
import type { ProvidedByWallet } from "./wallet.ts"

/** All services of a node without its servers. */
export type NodeServices = PeerManager | ProvidedByChain | ProvidedByMempool | ProvidedByNameDb | ProvidedByWallet
