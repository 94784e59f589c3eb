import type * as Effect from "effect/Effect"
import { bytesFrom, type Random } from "../../base/random.ts"
import { RollingFilter } from "../../base/RollingFilter.ts"
import { sipKey } from "../../base/siphash.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import type { PeerId, TxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { Peer } from "../Peer.ts"
import { type InventoryItem, ItemType } from "../wire/messages/inv.ts"
import { Services } from "../wire/messages/version.ts"
import { mayFilter } from "./bloomMessages.ts"
import type { FeeFilterState } from "./feeFilter.ts"
import { carriesTransactions, getsTransactions } from "./relaysTransactions.ts"
import type { TxDownloads } from "./TxDownloads.ts"
import type { HashKind, TxRequest } from "./TxRequests.ts"

export const kindOf = ({ type }: InventoryItem): HashKind => type === ItemType.wtx ? "wtxid" : "txid"

export const knownHash = (peer: Peer, { txid, wtxid }: Transaction) => peer.hello.wtxidRelay ? wtxid : txid

export const getdataItems = (peer: Peer, requests: ReadonlyArray<TxRequest>): ReadonlyArray<InventoryItem> => {
  const byTxid = (peer.hello.services & Services.witness) === 0n ? ItemType.tx : ItemType.witnessTx
  return requests.map(({ hash, kind }) => ({
    type: kind === "wtxid" ? ItemType.wtx : byTxid,
    hash: fromBinaryString(hash)
  }))
}

export interface RelayParts {
  readonly mempool: typeof Mempool.Service
  readonly status: typeof SyncStatus.Service
  readonly states: Map<PeerId, RelayPeer>
  readonly downloads: TxDownloads
  readonly random: Random
  readonly blocksOnly: boolean
  /** Whole milliseconds of the peers' clock. */
  readonly monotonic: Effect.Effect<number>
}

const KNOWN_CAPACITY = 50_000

const KNOWN_FALSE_POSITIVES = 1e-6

export interface RelayPeer {
  readonly peer: Peer
  readonly listens: boolean
  /** Hashes that the peer knows: wtxids if it uses those, otherwise txids. */
  readonly known: RollingFilter
  readonly waiting: Set<TxidKey>
  /** The peer asked for the mempool (BIP 35), which the next announcement answers. */
  wantsAll: boolean
  /** Milliseconds. */
  nextRound: number
  lastSequence: number
  lastTransaction: number
  readonly feeFilter: FeeFilterState
}

export const makeRelayPeer = (
  peer: Peer,
  { nextRound, now, random }: { readonly now: number; readonly nextRound: number; readonly random: Random }
): RelayPeer => ({
  peer,
  get listens() {
    return getsTransactions(peer)
  },
  known: new RollingFilter({
    capacity: KNOWN_CAPACITY,
    falsePositives: KNOWN_FALSE_POSITIVES,
    key: sipKey(bytesFrom(random, 16))
  }),
  waiting: new Set(),
  wantsAll: false,
  nextRound,
  lastSequence: 1,
  lastTransaction: 0,
  feeFilter: { sent: undefined, next: now }
})

export const isRoundDue = ({ listens, nextRound, peer, wantsAll }: RelayPeer, now: number): boolean =>
  (listens || wantsAll) && (nextRound <= now || peer.permissions.has("noban"))

/**
 * Only permitted peers are answered and, until the upload target is reached, those that may set a bloom filter. Source:
 * upstream `net_processing.cpp`, `ProcessMessage`.
 */
export const askedForMempool = (
  peer: Peer,
  state: RelayPeer | undefined,
  { bloom, isUploadOver }: { readonly bloom: boolean; readonly isUploadOver: boolean }
): void => {
  const trusted = peer.permissions.has("mempool")
  if (trusted || (mayFilter(peer, bloom) && !isUploadOver)) {
    if (state !== undefined) state.wantsAll = carriesTransactions(peer)
  } else if (!peer.permissions.has("noban")) {
    const reason = mayFilter(peer, bloom) ? "upload target reached" : "unsupported"
    peer.disconnect({ reason: `${reason}: the peer requests the mempool`, misbehaving: false })
  }
}
