import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Chain } from "../../chain/Chain.ts"
import type { ChainSink } from "../../chain/ChainSink.ts"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Reject } from "../../consensus/Reject.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId, Height, PeerId } from "../../protocol/keys.ts"
import type { Peer } from "../Peer.ts"
import { Services } from "../wire/messages/version.ts"
import type { BlockDownload } from "./BlockDownload.ts"
import type { BlockOrder } from "./BlockOrder.ts"
import type { ChainSyncTimers } from "./ChainSyncTimers.ts"
import type { HeaderPace, HeaderSync } from "./HeaderSync.ts"
import type { HighBandwidth } from "./HighBandwidth.ts"
import type { MissingBlocks } from "./missingBlocks.ts"
import { PartialBlocks } from "./PartialBlocks.ts"
import type { Presync } from "./Presync.ts"
import type { Slots } from "./Slots.ts"
import type { BlockSpan } from "./SpanWindow.ts"

/** The needs of the sync, from a node with a whole or light chain. */
export interface SyncParts {
  readonly chain: Pick<typeof Chain.Service, "block" | "fullHeaders" | "params" | "tree"> & {
    /** An element for each change of the tip from now on. */
    readonly subscription: Effect.Effect<Stream.Stream<unknown>, never, Scope.Scope>
    /** The height of the block whose hash fixes the headers below it, for a tree from an anchor. */
    readonly fixed?: Height
  }
  readonly sink: Pick<typeof ChainSink.Service, "acceptHeaders" | "deliver">
  readonly status: Pick<typeof SyncStatus.Service, "answered" | "initialDownload" | "loading">
  readonly mempool: Pick<typeof Mempool.Service, "entries">
  readonly span?: BlockSpan
  /** Gets whether headers of several peers are still compared, as one peer alone may send a lesser branch. */
  readonly comparing?: (is: boolean) => void
  readonly pace?: HeaderPace
}

export interface SyncPeer {
  readonly peer: Peer
  /** The best header that the peer has, valid or not; `NO_HEADER` for none. */
  best: HeaderId
  sent: HeaderId
  /** The last valid header of the current message, whose block the peer has. */
  announced: HeaderId
  /** A block announced by the peer whose header is unknown, in wire order. */
  unknown: Bytes | undefined
  presync: Presync | undefined
  /** Whether it was asked for headers from further back after an empty first answer. */
  lookedBack: boolean
  readonly partial: PartialBlocks
  toldSendHeaders: boolean
  /** When it last sent a new block and announced one ahead of our tip, in seconds since 1970; 0 for never. */
  lastBlock: number
  lastAnnouncement: number
}

type SyncPeerView =
  & Readonly<Pick<SyncPeer, "peer" | "best" | "lastBlock" | "lastAnnouncement">>
  & { readonly presync: Pick<Presync, "lookedAt"> | undefined }

/** The loop's state, as fibers of peers see it. They change only `slots`. */
export interface SyncView {
  readonly tree: HeaderTree
  readonly params: ConsensusParams
  /** Headers below this height are fixed by the hash of the block at it. */
  readonly fixed: Height
  readonly peers: ReadonlyMap<PeerId, SyncPeerView>
  readonly download: Pick<
    BlockDownload,
    "askersOf" | "commonHeight" | "count" | "inFlight" | "isAsked" | "isUnstored"
  >
  readonly highBandwidth: Pick<HighBandwidth, "has">
  /** For unsolicited blocks on their way to the chain. */
  readonly slots: Slots
  /** Monotonic milliseconds for the timeouts of peers, which follow a set time. */
  readonly now: () => number
  /** Monotonic milliseconds, for durations. */
  readonly real: () => number
  /** Wall clock, milliseconds since 1970. It may jump. */
  readonly wall: () => number
  readonly initial: boolean
  readonly loading: boolean
}

/**
 * The state of the loop, changed only by its fiber. Two objects have a second user: `slots` (see `SyncView`), and
 * `blockOrder`, from which the writer takes batches.
 */
export interface SyncContext extends SyncView {
  readonly chain: SyncParts["chain"]
  readonly sink: Pick<SyncParts["sink"], "acceptHeaders">
  readonly status: SyncParts["status"]
  readonly mempool: SyncParts["mempool"]
  readonly peers: Map<PeerId, SyncPeer>
  readonly download: BlockDownload
  readonly missing: MissingBlocks
  readonly headers: HeaderSync
  readonly timers: ChainSyncTimers
  readonly highBandwidth: HighBandwidth
  /** Whether to request compact blocks, which the mempool of a node without transactions of peers would not fill. */
  readonly wantsCompact: boolean
  readonly blockOrder: BlockOrder
  readonly compare: () => void
  /** Blocks that the operator requested and that have not arrived. */
  readonly fetched: Set<HeaderId>
  /** Milliseconds between two ticks. */
  readonly tick: number
  /** Below 2^bits, for bits up to 64. */
  readonly random: (bits: number) => bigint
  readonly wake: () => void
  initial: boolean
  loading: boolean
}

export const makeSyncPeer = (peer: Peer): SyncPeer => ({
  peer,
  best: NO_HEADER,
  sent: NO_HEADER,
  announced: NO_HEADER,
  unknown: undefined,
  presync: undefined,
  lookedBack: false,
  partial: new PartialBlocks(peer.memory),
  toldSendHeaders: false,
  lastBlock: 0,
  lastAnnouncement: 0
})

/** Seconds since 1970: for header ages and display. */
export const seconds = ({ wall }: SyncView): number => Math.floor(wall() / 1000)

/** Disconnects a misbehaving peer (reference/protocol.md 6.11), and charges the time of its answers. */
export const misbehaves = ({ peer }: { readonly peer: Peer }, reason: string): void => {
  peer.judged(false)
  peer.disconnect({ reason, misbehaving: true })
}

/**
 * See reference/protocol.md 6.11. A wrong clock is not an offence. An inbound peer need not know that a block was found
 * invalid; an outbound peer must be on our chain unless the operator chose it. Compact blocks may be relayed before
 * full validation (BIP 152), but not without work. Source: upstream `net_processing.cpp`, `MaybePunishNodeForBlock`.
 */
export const isOffence = (
  { kind, reason }: Reject,
  { peer }: { readonly peer: Peer },
  compact = false
): boolean => {
  if (kind === "time-future") return false
  if (reason === "duplicate-invalid") return !peer.inbound && peer.type !== "manual" && !compact
  return !compact || reason === "high-hash" || (kind !== "consensus" && kind !== "mutated")
}

export const isNew = ({ download, tree }: SyncView, id: HeaderId): boolean =>
  !tree.hasBlock(id) && !download.isUnstored(id)

export const servesBlocks = ({ hello, type }: Peer): boolean =>
  (hello.services & (Services.network | Services.networkLimited)) !== 0n && type !== "addr-fetch" && type !== "feeler"

export const isPreferred = ({ inbound, permissions, type }: Peer): boolean =>
  (!inbound || permissions.has("noban")) && type !== "addr-fetch" && type !== "feeler"

/** Whether the tip is so recent that new blocks are fetched directly (reference/protocol.md 6.8). */
export const isNearTip = (context: SyncContext): boolean =>
  context.tree.time(context.tree.tip()) > seconds(context) - 20 * context.params.targetSpacing

/**
 * Minimum chain work of headers stored after `parent` (reference/protocol.md 6.7, point 5): that of the tip minus 144
 * such blocks, and at least the network's minimum. Between anchors the tree itself demands work, and lets no chain pass
 * without the last one.
 */
export const workThreshold = ({ fixed, params, tree }: SyncView, parent: HeaderId): bigint => {
  const tip = tree.tip()
  const near = tree.chainwork(tip) - 144n * blockWork(tree.bits(tip))
  const least = tree.height(parent) < fixed ? 0n : params.minimumChainWork
  return near > least ? near : least
}

export const validPart = (tree: HeaderTree, id: HeaderId): HeaderId => {
  if (id === NO_HEADER || !tree.isFailed(id)) return id
  // All descendants of a failed block are failed, which allows a binary search.
  let low = 0
  let high = tree.height(id)
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (tree.isFailed(tree.ancestor(id, middle))) high = middle
    else low = middle
  }
  return tree.ancestor(id, low)
}

export const learn = (context: SyncContext, state: SyncPeer, id: HeaderId): void => {
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

/** BIP 130. */
const SENDHEADERS_VERSION = 110_012
