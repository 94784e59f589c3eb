import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { PeerScore } from "./PeerScore.ts"

/** What a peer can be asked for. */
export interface Source {
  /** Whether it is one of those that we chose: they are asked first. */
  readonly preferred: boolean
  /** Whether it has the last blocks alone. */
  readonly limited: boolean
  /** Height from which on it cannot be asked, because it does not send witnesses. */
  readonly below: number
}

/** A block that is under way. */
export interface Flight {
  readonly id: number
  readonly height: number
  /** Who was asked when, the first first. */
  readonly askers: Array<{ readonly peer: number; readonly since: number }>
}

/** What the download knows of a peer. */
export interface DownloadPeer {
  readonly id: number
  readonly source: Source
  readonly score: PeerScore
  /** The last header of its chain that nothing is known against. */
  best: number
  /** The last block of that chain up to which we have all. */
  common: number
  /** Height up to which everything above `common` is asked for or here. */
  cursor: number
  readonly flights: Set<number>
  readonly lacks: Set<number>
  lastDelivery: number
  /** Since when it holds others up. */
  stalling: number | undefined
  /** Whether it holds up the window, so that others have nothing to do. */
  blocks: boolean
}

/** Blocks at the end of its chain that a peer of limited service has (BIP 159), less some for those that come meanwhile. */
const LIMITED_BLOCKS = 288 - 3

/** The height of the first block that a peer of limited service has whose chain ends at `end`. */
export const firstOfLimited = (end: number): number => Math.max(end - LIMITED_BLOCKS, 0)

export const makeDownloadPeer = (id: number, source: Source): DownloadPeer => ({
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
