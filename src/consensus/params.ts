import { parseDisplayHash } from "../protocol/bytes.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import { mainnet, type Network, regtest, testnet } from "../protocol/networks.ts"
import { type HistoricBugs, mainnetHistoricBugs, noHistoricBugs } from "./historicBugs.ts"
import {
  type Activation,
  mainnetReader,
  type ReaderParams,
  regtestReader,
  TARGET_SPACING,
  testnetReader
} from "./readerParams.ts"

/**
 * A block of the best chain where a header chain can start. The reference node publishes its hash and work with each
 * release (`kernel/chainparams.cpp`, `defaultAssumeValid` and `nMinimumChainWork` of the same block).
 */
export interface ChainAnchor {
  readonly height: Height
  /** Wire order. */
  readonly hash: Uint8Array
  readonly chainwork: bigint
}

/** Hashes are in wire order. */
export interface KnownSnapshot {
  readonly height: Height
  readonly block: Uint8Array
  /** `hash_serialized_3` of the coins. */
  readonly coins: Uint8Array
}

/** The transactions of a chain up to a time, and their rate since. */
export interface TransactionRate {
  /** Seconds since 1970. */
  readonly time: UnixTime
  readonly count: number
  readonly perSecond: number
}

/** See reference/protocol.md 1.1. */
export interface ConsensusParams extends ReaderParams {
  readonly network: Network
  /** Seconds. */
  readonly targetTimespan: number
  readonly retargetInterval: number
  readonly noRetargeting: boolean
  /** Whether the first block of a difficulty period may be at most ten minutes older than its parent (BIP 94). */
  readonly limitsTimewarp: boolean
  readonly halvingInterval: number
  readonly auxpowStartHeight: Height
  /** From this height on, the smallest amount of a name output is 1,000,000; before, it is 0. */
  readonly minNameAmountSince: number
  readonly minimumChainWork: bigint
  /** Scripts up to this block are assumed valid. Wire order; `undefined` to check all. */
  readonly assumeValid: Uint8Array | undefined
  /**
   * Known blocks, the lowest first. A light chain starts at the first; the hash of the last fixes its headers up to
   * there. Neighbours are more than a retarget interval apart, and the last is further below the tip than a name lives.
   * Each release appends the block of its `assumeValid` and may drop the first.
   */
  readonly anchors: ReadonlyArray<ChainAnchor>
  /** For estimates (upstream `kernel/chainparams.cpp`, `ChainTxData`); `undefined` where blocks are made on demand. */
  readonly transactionRate: TransactionRate | undefined
  /** Blocks with known coins: snapshots of them need no `-snapshothash`. */
  readonly snapshots: ReadonlyArray<KnownSnapshot>
  /** Transactions that may break the name rules (reference/protocol.md 4.9). */
  readonly historicBugs: HistoricBugs
}

/** The depth at which a coinbase output can be spent (consensus). */
export const COINBASE_MATURITY = 100

/** Largest weight of a block, and four times its largest size without witnesses (consensus). */
export const MAX_BLOCK_WEIGHT = 4_000_000

/** Bytes of the largest block (upstream `MAX_BLOCK_SERIALIZED_SIZE`). */
export const MAX_BLOCK_SIZE = 4_000_000

export const MAX_BLOCK_SIGOPS_COST = 80_000

/** The weight of a byte or signature operation outside of witnesses (BIP 141). */
export const WITNESS_SCALE_FACTOR = 4

const TWO_WEEKS = 14 * 24 * 60 * 60

const hash = (display: string): Uint8Array => {
  const bytes = parseDisplayHash(display)
  if (bytes === undefined) throw new TypeError(`not a hash: ${display}`)
  return bytes
}

export const mainnetParams: ConsensusParams = {
  ...mainnetReader,
  network: mainnet,
  targetTimespan: TWO_WEEKS,
  retargetInterval: TWO_WEEKS / TARGET_SPACING,
  noRetargeting: false,
  limitsTimewarp: false,
  halvingInterval: 210_000,
  auxpowStartHeight: 19_200,
  minNameAmountSince: 212_500,
  minimumChainWork: 0xa88f4530bb8eaceaffde5c50n,
  assumeValid: hash("46c38b14b25fef782cc454cac284b720f58ad414d2c323a980ede420da6affcf"),
  anchors: [
    {
      height: 789_000,
      hash: hash("58179f232d479647269d7a37bc8977e1dc84159ed325b175ec5c17509032c74d"),
      chainwork: 0x8bc5cfceb24bea04dda51afcn
    },
    {
      height: 815_000,
      hash: hash("46c38b14b25fef782cc454cac284b720f58ad414d2c323a980ede420da6affcf"),
      chainwork: 0xa88f4530bb8eaceaffde5c50n
    }
  ],
  transactionRate: { time: 1_772_870_384, count: 9_035_513, perSecond: 0.01179309417637387 },
  snapshots: [],
  historicBugs: mainnetHistoricBugs
}

export const testnetParams: ConsensusParams = {
  ...testnetReader,
  network: testnet,
  targetTimespan: TWO_WEEKS,
  retargetInterval: TWO_WEEKS / TARGET_SPACING,
  noRetargeting: false,
  limitsTimewarp: false,
  halvingInterval: 210_000,
  auxpowStartHeight: 0,
  minNameAmountSince: 0,
  minimumChainWork: 0xed17e3004a583c4fn,
  assumeValid: hash("bc66fc22b8a2988bdc519c4c6aa431bb57201e5102ad8b8272fcde2937b4d2f7"),
  anchors: [],
  transactionRate: { time: 1_573_859_059, count: 276_907, perSecond: 0.0002269357829851853 },
  // Upstream lists blocks of Bitcoin's testnet.
  snapshots: [],
  historicBugs: noHistoricBugs
}

const REGTEST_TIMESPAN = 24 * 60 * 60

export const regtestParams: ConsensusParams = {
  ...regtestReader,
  network: regtest,
  targetTimespan: REGTEST_TIMESPAN,
  retargetInterval: REGTEST_TIMESPAN / TARGET_SPACING,
  noRetargeting: true,
  limitsTimewarp: false,
  halvingInterval: 150,
  auxpowStartHeight: 0,
  minNameAmountSince: 0,
  minimumChainWork: 0n,
  assumeValid: undefined,
  anchors: [],
  transactionRate: undefined,
  // Upstream `kernel/chainparams.cpp`, for its tests.
  snapshots: [
    {
      height: 110,
      block: hash("4f29bd26ec9ef63973ee4e45bfb517cccaed7629c6cdbdd0d2f653f9d3ea4a47"),
      coins: hash("b6f3c376e66764edd996ec074254833d33d187bf4886f5812b85ba5f0db2d54d")
    },
    {
      height: 200,
      block: hash("385901ccbd69dff6bbd00065d01fb8a9e464dede7cfe0372443884f9b1dcf6b9"),
      coins: hash("17dcc016d188d16068907cdeb38b75691a118d43053b8cd6a25969419381d13a")
    },
    {
      height: 299,
      block: hash("a53cb7a2bedb5860b46df1481ac107e2d53940bbbe7f3dd82301b4f467083736"),
      coins: hash("74251f753e3e273fe8856d4e058f6cb4264a30dcef0dff7d355eac040e32e61b")
    }
  ],
  historicBugs: noHistoricBugs
}

const byName: Readonly<Record<Network["name"], ConsensusParams>> = {
  mainnet: mainnetParams,
  testnet: testnetParams,
  regtest: regtestParams
}

export const paramsOf = (network: Network): ConsensusParams => byName[network.name]

/**
 * As by the reference node's regtest options `-testactivationheight`, `-vbparams=taproot` and `-test=bip94`. Mainnet
 * rules never change.
 */
export const withOverrides = (
  params: ConsensusParams,
  overrides: Partial<Pick<ConsensusParams, "minimumChainWork" | "limitsTimewarp">> & {
    readonly activation?: Partial<Activation>
  }
): ConsensusParams => ({ ...params, ...overrides, activation: { ...params.activation, ...overrides.activation } })
