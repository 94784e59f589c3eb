import { blockFlags, Flag } from "../../consensus/flags.ts"
import type { ConsensusParams } from "../../consensus/params.ts"

/**
 * The script flags of the mempool. They apply from the first block and on every network. That includes taproot, which
 * the main network never activates: a transaction of the pool has to be valid under all known rules.
 */

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
 * The flags that every transaction in the mempool has to pass, with those of a block at `height`.
 * Source: upstream `policy/policy.h`, `MANDATORY_SCRIPT_VERIFY_FLAGS`.
 */
export const mandatoryFlags = (height: number, params: ConsensusParams): number =>
  consensusFlags(height, params) | MANDATORY

/**
 * The flags that every standard transaction in the mempool has to pass: for scripts, names and the count of signature
 * operations. A transaction that passes them also passes those of a block, names apart.
 * Source: upstream `policy/policy.h`, `STANDARD_SCRIPT_VERIFY_FLAGS`; `validation.cpp`, `MemPoolAccept::PreChecks`.
 */
export const standardFlags = (height: number, params: ConsensusParams): number =>
  consensusFlags(height, params) | STANDARD
