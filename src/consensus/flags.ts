import type { Height } from "../protocol/keys.ts"
import type { ReaderParams } from "./readerParams.ts"

/**
 * Script flags as a set of bits (upstream `script/interpreter.h`). Adding a flag never makes an invalid script valid.
 * The names match those of the reference node; the bits do not.
 */
export const Flag = {
  /** BIP 16. */
  P2SH: 1 << 0,
  STRICTENC: 1 << 1,
  /** BIP 66. */
  DERSIG: 1 << 2,
  LOW_S: 1 << 3,
  /** BIP 147. */
  NULLDUMMY: 1 << 4,
  SIGPUSHONLY: 1 << 5,
  MINIMALDATA: 1 << 6,
  DISCOURAGE_UPGRADABLE_NOPS: 1 << 7,
  CLEANSTACK: 1 << 8,
  /** BIP 65. */
  CHECKLOCKTIMEVERIFY: 1 << 9,
  /** BIP 112. */
  CHECKSEQUENCEVERIFY: 1 << 10,
  /** BIP 141. */
  WITNESS: 1 << 11,
  DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM: 1 << 12,
  MINIMALIF: 1 << 13,
  NULLFAIL: 1 << 14,
  WITNESS_PUBKEYTYPE: 1 << 15,
  CONST_SCRIPTCODE: 1 << 16,
  /** BIP 341 and 342. */
  TAPROOT: 1 << 17,
  DISCOURAGE_UPGRADABLE_TAPROOT_VERSION: 1 << 18,
  DISCOURAGE_OP_SUCCESS: 1 << 19,
  DISCOURAGE_UPGRADABLE_PUBKEYTYPE: 1 << 20,
  /** Applies the mempool's rules to names. A registration may come before its commitment is old enough (N13, N17). */
  NAMES_MEMPOOL: 1 << 21,
  /** Requires a salt of at least 20 bytes in a registration (N18). */
  NAMES_LONG_SALT: 1 << 22
} as const

/** Only the rules that apply from the first block. */
export const NO_FLAGS = 0

const NAMES: ReadonlyArray<readonly [string, number]> = Object.entries(Flag).sort(([a], [b]) => a < b ? -1 : 1)

const BITS: ReadonlyMap<string, number> = new Map(NAMES)

/** In alphabetical order, as in the reference node. */
export const flagNames = (flags: number): ReadonlyArray<string> =>
  NAMES.filter(([, bit]) => (flags & bit) !== 0).map(([name]) => name)

/** `undefined` if a name is unknown. */
export const parseFlagNames = (names: Iterable<string>): number | undefined => {
  let flags = NO_FLAGS
  for (const name of names) {
    const bit = BITS.get(name)
    if (bit === undefined) return undefined
    flags |= bit
  }
  return flags
}

/**
 * See reference/protocol.md 5.1. Unlike Bitcoin, Namecoin exempts no individual blocks. Source: upstream
 * `validation.cpp`, `GetBlockScriptFlags`.
 */
export const blockFlags = (height: Height, { activation }: Pick<ReaderParams, "activation">): number => {
  let flags = NO_FLAGS
  if (height >= activation.bip16) flags |= Flag.P2SH
  if (height >= activation.bip66) flags |= Flag.DERSIG
  if (height >= activation.bip65) flags |= Flag.CHECKLOCKTIMEVERIFY
  if (height >= activation.csv) flags |= Flag.CHECKSEQUENCEVERIFY
  if (height >= activation.segwit) flags |= Flag.NULLDUMMY | Flag.WITNESS
  if (height >= activation.taproot) flags |= Flag.TAPROOT | Flag.NAMES_LONG_SALT
  return flags
}
