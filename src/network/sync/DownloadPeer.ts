import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import { PeerScore } from "./PeerScore.ts"

export type DownloadTree = Pick<
  HeaderTree,
  "height" | "ancestor" | "forkPoint" | "compareWork" | "chainwork" | "hasBlock" | "isFailed" | "tip"
>

export interface BlockSource {
  /** An outbound peer, which is asked first. */
  readonly preferred: boolean
  /** Whether it offers blocks. Otherwise it is asked only for those that it announces. */
  readonly serves: boolean
  /** Whether it has only the last blocks. */
  readonly limited: boolean
  /** From this height on it cannot be asked, because it sends no witnesses. */
  readonly below: number
}

export interface BlockRequest {
  readonly peer: PeerId
  readonly header: HeaderId
}

/** Each part of the download changes its own fields. */
export interface DownloadPeer {
  readonly id: PeerId
  readonly source: BlockSource

  // DownloadWindow: the peer's chain.

  best: HeaderId
  /** The last block of that chain up to which we have all blocks. */
  common: HeaderId
  /** Height up to which all blocks above `common` are stored or in flight. */
  cursor: number
  /** Blocks that it lacks, or has only in a refused form. */
  readonly lacks: Set<HeaderId>

  // Flights: what is asked of it.

  readonly flights: Set<HeaderId>

  // DownloadVerdicts: how it delivers. Times are milliseconds.

  readonly score: PeerScore
  lastDelivery: number
  stalling: number | undefined
  /** Whether it delays the window, so that other peers are idle. */
  blocks: boolean
}

export type DownloadPeers = ReadonlyMap<PeerId, DownloadPeer>

export const makeDownloadPeer = (id: PeerId, source: BlockSource): DownloadPeer => ({
  id,
  source,
  best: NO_HEADER,
  common: NO_HEADER,
  cursor: 0,
  lacks: new Set(),
  flights: new Set(),
  score: new PeerScore(),
  lastDelivery: 0,
  stalling: undefined,
  blocks: false
})

/** Last blocks that a limited peer serves (BIP 159), minus a margin for new blocks. */
const LIMITED_BLOCKS = 288 - 3

/** For a limited peer whose chain ends at `end`. */
export const firstOfLimited = (end: number): number => Math.max(end - LIMITED_BLOCKS, 0)

export const hasRoom = ({ flights, score }: DownloadPeer): boolean => flights.size < score.limit

export const canServe = (tree: DownloadTree, peer: DownloadPeer, header: HeaderId): boolean => {
  const height = tree.height(header)
  return hasRoom(peer) && height < peer.source.below && !peer.lacks.has(header) &&
    (!peer.source.limited || height >= firstOfLimited(tree.height(peer.best))) &&
    tree.ancestor(peer.best, height) === header
}
