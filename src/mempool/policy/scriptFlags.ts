import { blockFlags, Flag } from "../../consensus/flags.ts"
import type { ConsensusParams } from "../../consensus/params.ts"

// The script flags of the mempool, which apply from the first block and on every network. This includes taproot, which
// mainnet never activates, as a pool transaction must be valid under all known rules.

const MANDATORY = Flag.P2SH | Flag.DERSIG | Flag.NULLDUMMY | Flag.CHECKLOCKTIMEVERIFY | Flag.CHECKSEQUENCEVERIFY |
  Flag.WITNESS | Flag.TAPROOT

const STANDARD = MANDATORY | Flag.STRICTENC | Flag.MINIMALDATA | Flag.DISCOURAGE_UPGRADABLE_NOPS | Flag.CLEANSTACK |
  Flag.MINIMALIF | Flag.NULLFAIL | Flag.LOW_S | Flag.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM | Flag.WITNESS_PUBKEYTYPE |
  Flag.CONST_SCRIPTCODE | Flag.DISCOURAGE_UPGRADABLE_TAPROOT_VERSION | Flag.DISCOURAGE_OP_SUCCESS |
  Flag.DISCOURAGE_UPGRADABLE_PUBKEYTYPE | Flag.NAMES_LONG_SALT

/** The rules of a block at `height`, except that a registration may precede the maturity of its commitment. */
export const consensusFlags = (height: number, params: ConsensusParams): number =>
  blockFlags(height, params) | Flag.NAMES_MEMPOOL

/**
 * The flags for every transaction in the mempool, including those of a block at `height`. Source: upstream
 * `policy/policy.h`, `MANDATORY_SCRIPT_VERIFY_FLAGS`.
 */
export const mandatoryFlags = (height: number, params: ConsensusParams): number =>
  consensusFlags(height, params) | MANDATORY

/**
 * The flags for every standard transaction in the mempool: scripts, names and the count of signature operations. They
 * include those of a block, except for names. Source: upstream `policy/policy.h`, `STANDARD_SCRIPT_VERIFY_FLAGS`;
 * `validation.cpp`, `MemPoolAccept::PreChecks`.
 */
export const standardFlags = (height: number, params: ConsensusParams): number =>
  consensusFlags(height, params) | STANDARD
