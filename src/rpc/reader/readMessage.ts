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

/** A job is plain data: file, question and form of the answer. */

export interface ShownText extends NameEncodings {
  readonly network: NetworkName
  /** Bytes; a longer answer is refused. */
  readonly room: number
}

export interface ShownNames extends ShownText {
  /** Whether to add `ismine`. The thread asks the node, which has the keys. */
  readonly withOwner: boolean
  readonly proof: ProofLevel | undefined
}

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

export interface CoinSearchJob {
  readonly type: "coinSearch"
  readonly file: string
  readonly scripts: Pick<WantedScripts, "lengths" | "tails"> & { readonly keys: ReadonlySet<string> }
}

/** Connected. The node has verified the checksum of its record. */
export interface StoredBlock {
  readonly hash: Bytes
  readonly height: number
  readonly block: Bytes
  /** Stored undo data; `undefined` if the spent coins are not needed or there are none. */
  readonly undo: Bytes | undefined
}

/** For `getblockstats`. */
export interface BlockStatsJob {
  readonly type: "blockStats"
  readonly stored: StoredBlock
  /** As in `MeasuredBlock`. */
  readonly medianTimePast: number
  readonly subsidy: number
}

/** Including the coins that the blocks spend. */
export interface BlockSearchJob {
  readonly type: "blockSearch"
  readonly blocks: ReadonlyArray<StoredBlock>
  /** By `binaryString`. */
  readonly scripts: ReadonlySet<string>
}

/** The node has verified the checksum of the record. */
export interface BlockJob {
  readonly type: "block"
  readonly block: Bytes
  /** Stored undo data; `undefined` if the spent coins are not shown. */
  readonly undo: Bytes | undefined
  /** The block itself has the header. */
  readonly place: Omit<HeaderInfo, "header">
  readonly verbosity: BlockVerbosity
  readonly shown: ShownText
}

export type Job = ScanJob | HistoryJob | CoinStatsJob | CoinSearchJob | BlockJob | BlockStatsJob | BlockSearchJob

export interface ReadText {
  readonly pieces: ReadonlyArray<Uint8Array<ArrayBuffer>>
}

export interface ReadNames extends ReadText {
  readonly count: number
}

export interface ReadCoins extends Pick<CoinsFound, "count" | "found"> {
  /** Whether all coins were searched. */
  readonly whole: boolean
}

/** By the type of the job. */
export interface JobResults {
  readonly scan: ReadNames
  readonly history: ReadNames
  readonly coinStats: CoinStatistics
  readonly coinSearch: ReadCoins
  readonly block: ReadText
  readonly blockStats: BlockStatistics
  /** Per block. */
  readonly blockSearch: ReadonlyArray<ReadonlyArray<Match>>
}

export type JobResult = JobResults[Job["type"]]

/** One buffer for all scripts: views of the driver's memory would transfer all of it. */
export interface PackedScripts {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** End of each script. */
  readonly ends: Uint32Array<ArrayBuffer>
}

export type ToReader =
  | { readonly type: "read"; readonly id: number; readonly job: Job }
  /** For each script of the last question. */
  | { readonly type: "owned"; readonly id: number; readonly owned: ReadonlyArray<boolean> }
  /** Ends a search early, with its findings so far. */
  | { readonly type: "stop"; readonly id: number }
  /** Drops a job, without an answer. */
  | { readonly type: "cancel"; readonly id: number }

export type FromReader =
  /** The state that the job reads is fixed. */
  | { readonly type: "begun"; readonly id: number }
  | { readonly type: "owns"; readonly id: number; readonly scripts: PackedScripts }
  /** A search has read the coins up to this key. */
  | { readonly type: "reached"; readonly id: number; readonly key: Uint8Array }
  | { readonly type: "found"; readonly id: number; readonly reading: JobResult }
  /** The caller's error. */
  | { readonly type: "refused"; readonly id: number; readonly error: RpcErrorFields }
  /** The thread cannot do this job. */
  | { readonly type: "failed"; readonly id: number; readonly reason: string }

export const packScripts = (scripts: ReadonlyArray<Bytes>): PackedScripts => {
  const ends = new Uint32Array(scripts.length)
  let size = 0
  for (const [i, { length }] of scripts.entries()) ends[i] = size += length
  const bytes = new Uint8Array(size)
  for (const [i, script] of scripts.entries()) bytes.set(script, (ends[i] ?? 0) - script.length)
  return { bytes, ends }
}

/** Views of the buffer. */
export const unpackScripts = ({ bytes, ends }: PackedScripts): ReadonlyArray<Bytes> =>
  Array.from(ends, (end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
