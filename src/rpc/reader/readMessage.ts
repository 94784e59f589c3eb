import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { CoinsFound, WantedScripts } from "../../chain/state/CoinReads.ts"
import type { CoinHashKind, CoinStatistics } from "../../chain/state/coinStats.ts"
import type { ProofLevel } from "../../light/proof.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { NetworkName } from "../../protocol/networks.ts"
import type { RpcErrorFields } from "../method/RpcError.ts"
import type { NameScan } from "../methods/nameSearch.ts"
import type { Match } from "../shapes/activity.ts"
import type { BlockVerbosity } from "../shapes/block.ts"
import type { BlockStatistics } from "../shapes/blockStats.ts"
import type { NameEncodings } from "../shapes/context.ts"

/** The messages between the node and its read thread. A job is plain data: file, question and form of the answer. */

/** How an answer is written. */
export interface ShownText extends NameEncodings {
  readonly network: NetworkName
  /** Bytes of the answer; a longer one is refused. */
  readonly room: number
}

/** How the records of a list are shown. */
export interface ShownNames extends ShownText {
  /** Whether each has the member `ismine`: the thread asks the node, which has the keys. */
  readonly withOwner: boolean
  readonly proof: ProofLevel | undefined
}

/** Lists names. */
export interface ScanJob {
  readonly type: "scan"
  readonly file: string
  readonly list: NameScan
  readonly shown: ShownNames
}

/** All records of a name. */
export interface HistoryJob {
  readonly type: "history"
  readonly file: string
  readonly name: Bytes
  readonly shown: ShownNames
}

/** Counts and hashes all coins. */
export interface CoinStatsJob {
  readonly type: "coinStats"
  readonly file: string
  readonly kind: CoinHashKind
}

/** Searches the coins of some scripts. */
export interface CoinSearchJob {
  readonly type: "coinSearch"
  readonly file: string
  readonly scripts: Pick<WantedScripts, "lengths" | "tails"> & { readonly keys: ReadonlySet<string> }
}

/** A connected block. The node has read its record and verified the checksum. */
export interface StoredBlock {
  readonly hash: Bytes
  readonly height: number
  readonly block: Bytes
  /** Its undo data as they are stored; `undefined` if the coins that it spends are not asked for, or if it spends none. */
  readonly undo: Bytes | undefined
}

/** Counts what `getblockstats` shows. */
export interface BlockStatsJob {
  readonly type: "blockStats"
  readonly stored: StoredBlock
  /** As in `MeasuredBlock`. */
  readonly medianTimePast: number
  readonly subsidy: number
}

/** Searches blocks and the coins that they spend for scripts. */
export interface BlockSearchJob {
  readonly type: "blockSearch"
  readonly blocks: ReadonlyArray<StoredBlock>
  /** By `binaryString`. */
  readonly scripts: ReadonlySet<string>
}

/** Shows a block. The node has read its record and verified the checksum. */
export interface BlockJob {
  readonly type: "block"
  readonly block: Bytes
  /** Its undo data as they are stored; `undefined` if the coins that it spends are not shown. */
  readonly undo: Bytes | undefined
  /** Its place in the chain. The header is in the block. */
  readonly place: Omit<HeaderInfo, "header">
  readonly verbosity: BlockVerbosity
  readonly shown: ShownText
}

export type Job = ScanJob | HistoryJob | CoinStatsJob | CoinSearchJob | BlockJob | BlockStatsJob | BlockSearchJob

/** JSON in pieces. */
export interface ReadText {
  readonly pieces: ReadonlyArray<Uint8Array<ArrayBuffer>>
}

/** The JSON of a list, and its length. */
export interface ReadNames extends ReadText {
  readonly count: number
}

/** The coins of a search. */
export interface ReadCoins extends Pick<CoinsFound, "count" | "found"> {
  /** Whether all coins were searched. */
  readonly whole: boolean
}

/** What the thread finds, by the type of the job. */
export interface JobResults {
  readonly scan: ReadNames
  readonly history: ReadNames
  readonly coinStats: CoinStatistics
  readonly coinSearch: ReadCoins
  readonly block: ReadText
  readonly blockStats: BlockStatistics
  /** The matches of each block. */
  readonly blockSearch: ReadonlyArray<ReadonlyArray<Match>>
}

export type JobResult = JobResults[Job["type"]]

/** Scripts in one piece: views of the driver's memory would take all of it along. */
export interface PackedScripts {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where each ends. */
  readonly ends: Uint32Array<ArrayBuffer>
}

/** From the node to the thread. */
export type ToReader =
  | { readonly type: "read"; readonly id: number; readonly job: Job }
  /** Whether the wallet owns each script of the last question. */
  | { readonly type: "owned"; readonly id: number; readonly owned: ReadonlyArray<boolean> }
  /** Ends a search early, with what it found. */
  | { readonly type: "stop"; readonly id: number }
  /** Drops a job. There is no answer. */
  | { readonly type: "cancel"; readonly id: number }

/** From the thread to the node. */
export type FromReader =
  /** The state that the job reads does not change any more. */
  | { readonly type: "begun"; readonly id: number }
  | { readonly type: "owns"; readonly id: number; readonly scripts: PackedScripts }
  /** A search has read the coins up to this key. */
  | { readonly type: "reached"; readonly id: number; readonly key: Uint8Array }
  | { readonly type: "found"; readonly id: number; readonly reading: JobResult }
  /** The caller's error. */
  | { readonly type: "refused"; readonly id: number; readonly error: RpcErrorFields }
  /** The thread cannot do this job. */
  | { readonly type: "failed"; readonly id: number; readonly reason: string }

/** Copies scripts into one buffer. */
export const packScripts = (scripts: ReadonlyArray<Bytes>): PackedScripts => {
  const ends = new Uint32Array(scripts.length)
  let size = 0
  for (const [i, { length }] of scripts.entries()) ends[i] = size += length
  const bytes = new Uint8Array(size)
  for (const [i, script] of scripts.entries()) bytes.set(script, (ends[i] ?? 0) - script.length)
  return { bytes, ends }
}

/** The scripts of a buffer, as views. */
export const unpackScripts = ({ bytes, ends }: PackedScripts): ReadonlyArray<Bytes> =>
  Array.from(ends, (end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
