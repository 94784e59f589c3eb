import { type AddressFormat, mainnetAddresses, regtestAddresses, testnetAddresses } from "../protocol/addressFormat.ts"

// The part of the parameters that a reader without a chain needs. Verifiers in browsers load it alone (`src/verify`).

/** How the lifetime of a name depends on the height. See `expiry.ts`. */
export type ExpirySchedule = "growing" | "regtest"

/** Activation heights of the buried rules (consensus, reference/protocol.md 1.1). */
export interface Activation {
  readonly bip16: number
  readonly bip34: number
  readonly bip65: number
  readonly bip66: number
  readonly csv: number
  readonly segwit: number
  /** Activation height of taproot and the long-salt rule, `Infinity` for never. */
  readonly taproot: number
}

/** What `ConsensusParams` says about work, rules by height, names and addresses. */
export interface ReaderParams {
  readonly network: AddressFormat
  readonly activation: Activation
  readonly powLimit: bigint
  /** Seconds. */
  readonly targetSpacing: number
  /** After this time, blocks may have the minimum difficulty (reference/protocol.md 3.4); `undefined` for never. */
  readonly minDifficultySince: number | undefined
  readonly auxpowChainId: number
  readonly strictChainId: boolean
  /** Blocks of exactly version 1 are allowed below this height: 0 for never, `Infinity` for always. */
  readonly legacyBlocksBefore: number
  readonly expiry: ExpirySchedule
}

/** Seconds that the first block of a difficulty period may precede its parent (BIP 94). */
export const MAX_TIMEWARP = 600

/** Maximum seconds by which a block's time may be ahead of the clock (consensus). */
export const MAX_FUTURE_BLOCK_TIME = 7200

export const TARGET_SPACING = 600

export const mainnetReader: ReaderParams = {
  network: mainnetAddresses,
  activation: {
    bip16: 475_000,
    bip34: 250_000,
    bip65: 335_000,
    bip66: 250_000,
    csv: 475_000,
    segwit: 475_000,
    taproot: Infinity
  },
  powLimit: (1n << 224n) - 1n,
  targetSpacing: TARGET_SPACING,
  minDifficultySince: undefined,
  auxpowChainId: 1,
  strictChainId: true,
  legacyBlocksBefore: 19_200,
  expiry: "growing"
}

export const testnetReader: ReaderParams = {
  network: testnetAddresses,
  activation: {
    bip16: 232_000,
    bip34: 130_000,
    bip65: 130_000,
    bip66: 130_000,
    csv: 232_000,
    segwit: 232_000,
    taproot: Infinity
  },
  powLimit: (1n << 228n) - 1n,
  targetSpacing: TARGET_SPACING,
  // 14 March 2014, 23:00 UTC.
  minDifficultySince: 1_394_838_000,
  auxpowChainId: 1,
  strictChainId: false,
  legacyBlocksBefore: Infinity,
  expiry: "growing"
}

export const regtestReader: ReaderParams = {
  network: regtestAddresses,
  activation: { bip16: 0, bip34: 1, bip65: 1, bip66: 1, csv: 1, segwit: 0, taproot: 0 },
  powLimit: (1n << 255n) - 1n,
  targetSpacing: TARGET_SPACING,
  minDifficultySince: 0,
  auxpowChainId: 1,
  strictChainId: true,
  legacyBlocksBefore: 0,
  expiry: "regtest"
}

/** By the reference node's name of the chain. */
export const readersByChain = {
  main: mainnetReader,
  test: testnetReader,
  regtest: regtestReader
} as const satisfies Readonly<
  Record<string, ReaderParams>
>
