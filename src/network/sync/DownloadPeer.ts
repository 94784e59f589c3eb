import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { PeerScore } from "./PeerScore.ts"

export interface BlockSource {
  /** Whether it is an outbound peer: these are asked first. */
  readonly preferred: boolean
  /** Whether it has only the last blocks. */
  readonly limited: boolean
  /** Height from which on it cannot be asked, because it sends no witnesses. */
  readonly below: number
}

/** A block in flight. */
export interface Flight {
  readonly id: number
  readonly height: number
  /** The peers asked, and when, in order. */
  readonly askers: Array<{ readonly peer: number; readonly since: number }>
}

export interface DownloadPeer {
  readonly id: number
  readonly source: BlockSource
  readonly score: PeerScore
  /** The last valid header of its chain. */
  best: number
  /** The last block of that chain up to which we have all blocks. */
  common: number
  /** Height up to which all blocks above `common` are stored or in flight. */
  cursor: number
  readonly flights: Set<number>
  readonly lacks: Set<number>
  lastDelivery: number
  /** When the peer began to stall. */
  stalling: number | undefined
  /** Whether it delays the window, so that other peers are idle. */
  blocks: boolean
}

/** Last blocks that a limited peer serves (BIP 159), minus a margin for new blocks. */
const LIMITED_BLOCKS = 288 - 3

/** Height of the first block that a limited peer serves if its chain ends at `end`. */
export const firstOfLimited = (end: number): number => Math.max(end - LIMITED_BLOCKS, 0)

export const makeDownloadPeer = (id: number, source: BlockSource): DownloadPeer => ({
  id,
  source,
  score: new PeerScore(),
  best: NO_HEADER,
  common: NO_HEADER,
  cursor: 0,
  flights: new Set(),
  lacks: new Set(),
  lastDelivery: 0,
  stalling: undefined,
  blocks: false
})
