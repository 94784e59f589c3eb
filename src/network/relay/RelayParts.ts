import type * as Effect from "effect/Effect"
import type { Random } from "../../base/random.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import type { PeerId } from "../../protocol/keys.ts"
import type { RelayPeer } from "./RelayPeer.ts"
import type { TxDownloads } from "./TxDownloads.ts"

export interface RelayParts {
  readonly mempool: typeof Mempool.Service
  readonly status: typeof SyncStatus.Service
  readonly states: Map<PeerId, RelayPeer>
  readonly downloads: TxDownloads
  readonly random: Random
  /** Whether only peers with the permission `relay` may send transactions. */
  readonly blocksOnly: boolean
  /** Whole milliseconds of the peers' clock. */
  readonly monotonic: Effect.Effect<number>
}
