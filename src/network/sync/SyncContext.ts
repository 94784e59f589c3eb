import type { Chain } from "../../chain/Chain.ts"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Reject } from "../../consensus/Reject.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Peer } from "../Peer.ts"
import { Services } from "../wire/messages/version.ts"
import type { BlockDownload } from "./BlockDownload.ts"
import type { BlockOrder } from "./BlockOrder.ts"
import type { ChainSyncTimers } from "./ChainSyncTimers.ts"
import type { HeaderSync } from "./HeaderSync.ts"
import type { HighBandwidth } from "./HighBandwidth.ts"
import type { MissingBlocks } from "./missingBlocks.ts"
import { PartialBlocks } from "./PartialBlocks.ts"
import type { Presync } from "./Presync.ts"

/** What the loop knows of a peer. */
export interface SyncPeer {
  readonly peer: Peer
  /** The last header that it is known to have, whatever is known against it; `NO_HEADER` for none. */
  best: number
  /** The last header that it was told of. */
  sent: number
  /** A block that it announced and that we do not know the header of, in wire order. */
  unknown: Bytes | undefined
  presync: Presync | undefined
  /** Compact blocks that wait for transactions. */
  readonly partial: PartialBlocks
  /** Whether it was told to announce by headers. */
  toldSendHeaders: boolean
  /** When it last gave us a new block, and last announced one that was ahead of us, seconds since 1970; 0 for never. */
  lastBlock: number
  lastAnnouncement: number
}

/** What the parts of the loop share. One fiber changes it; others may look. */
export interface SyncContext {
  readonly chain: typeof Chain.Service
  readonly status: typeof SyncStatus.Service
  readonly mempool: typeof Mempool.Service
  readonly tree: HeaderTree
  readonly params: ConsensusParams
  readonly peers: Map<number, SyncPeer>
  readonly download: BlockDownload
  readonly missing: MissingBlocks
  readonly headers: HeaderSync
  readonly timers: ChainSyncTimers
  readonly highBandwidth: HighBandwidth
  readonly blockOrder: BlockOrder
  /** A random number from 0 to below 2^bits, for bits up to 64. */
  readonly random: (bits: number) => bigint
  /** Wakes the fiber that hands blocks to the chain. */
  readonly wake: () => void
  /** Monotonic milliseconds: what durations are measured by. */
  readonly now: () => number
  /** The time of day, milliseconds since 1970: it may be set, and jump. */
  readonly wall: () => number
  /** As of the last look: whether the node is in its initial download, and whether it loads. */
  initial: boolean
  loading: boolean
  /** Blocks that nobody was asked for and that are on their way to the chain. */
  unrequested: number
}

export const makeSyncPeer = (peer: Peer): SyncPeer => ({
  peer,
  best: NO_HEADER,
  sent: NO_HEADER,
  unknown: undefined,
  presync: undefined,
  partial: new PartialBlocks(peer.memory),
  toldSendHeaders: false,
  lastBlock: 0,
  lastAnnouncement: 0
})

/** Seconds since 1970: for the age of headers, and for what is shown. */
export const seconds = ({ wall }: SyncContext): number => Math.floor(wall() / 1000)

/** Ends a connection whose peer broke a rule (reference/protocol.md 6.11), and charges what its answers took. */
export const misbehaves = ({ peer }: SyncPeer, reason: string): void => {
  peer.judged(false)
  peer.disconnect({ reason, misbehaving: true })
}

/**
 * Whether a refused header or block is misbehaviour of its sender (reference/protocol.md 6.11). A wrong clock is
 * none. An inbound peer need not know that a block proved invalid before; a peer that this node chose is to be on our
 * chain. Compact blocks may be passed on before their transactions are judged (BIP 152), but not without work.
 * Source: upstream `net_processing.cpp`, `MaybePunishNodeForBlock`.
 */
export const isOffence = ({ kind, reason }: Reject, { peer }: SyncPeer, compact = false): boolean => {
  if (kind === "time-future") return false
  if (reason === "duplicate-invalid") return !peer.inbound && !compact
  return !compact || reason === "high-hash" || (kind !== "consensus" && kind !== "mutated")
}

/** Whether the data of a known block is missing, and not on its way to the chain. */
export const isNew = ({ download, tree }: SyncContext, id: number): boolean =>
  !tree.hasBlock(id) && !download.isUnstored(id)

/** Whether a peer has blocks to give. */
export const servesBlocks = ({ hello, type }: Peer): boolean =>
  (hello.services & (Services.network | Services.networkLimited)) !== 0n && type !== "addr-fetch" && type !== "feeler"

/** Whether a peer is one of those that we called. */
export const isChosen = ({ inbound, type }: Peer): boolean => !inbound && type !== "addr-fetch" && type !== "feeler"

/**
 * Seconds that the tip may be old for new blocks to be fetched by themselves: 20 blocks' time
 * (reference/protocol.md 6.8).
 */
export const isNearTip = (context: SyncContext): boolean =>
  context.tree.time(context.tree.tip()) > seconds(context) - 20 * context.params.targetSpacing

/**
 * Chain work below which headers are not kept (reference/protocol.md 6.7, point 5): that of the tip less 144 blocks
 * like it, and at least what the network's chain is known to have.
 */
export const workThreshold = ({ params, tree }: SyncContext): bigint => {
  const tip = tree.tip()
  const near = tree.chainwork(tip) - 144n * blockWork(tree.bits(tip))
  return near > params.minimumChainWork ? near : params.minimumChainWork
}

/** The highest header of a chain that nothing is known against. */
export const validPart = (tree: HeaderTree, id: number): number => {
  if (id === NO_HEADER || !tree.isFailed(id)) return id
  // What builds on a failed block is failed: the border is found by halving.
  let low = 0
  let high = tree.height(id)
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (tree.isFailed(tree.ancestor(id, middle))) high = middle
    else low = middle
  }
  return tree.ancestor(id, low)
}

/** The peer has this header. */
export const learn = (context: SyncContext, state: SyncPeer, id: number): void => {
  const { tree } = context
  if (
    id === NO_HEADER || (state.best !== NO_HEADER && tree.compareWork(id, state.best) < 0 && !tree.isFailed(state.best))
  ) {
    return
  }
  state.best = id
  context.download.setBest(state.peer.id, validPart(tree, id))
  if (state.toldSendHeaders || tree.chainwork(id) < context.params.minimumChainWork) return
  state.toldSendHeaders = true
  if (state.peer.hello.commonVersion >= SENDHEADERS_VERSION) state.peer.post({ type: "sendheaders" })
}

/** The version from which on blocks may be announced by headers (BIP 130). */
const SENDHEADERS_VERSION = 110_012
