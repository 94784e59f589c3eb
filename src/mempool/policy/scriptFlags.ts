import { blockFlags, Flag } from "../../consensus/flags.ts"
import type { ConsensusParams } from "../../consensus/params.ts"

/**
 * The script flags of the mempool. They hold from the first block on and on every network, taproot too, although the
 * main network never activates it: what comes into the pool has to be valid under all rules that there are.
 */

const MANDATORY = Flag.P2SH | Flag.DERSIG | Flag.NULLDUMMY | Flag.CHECKLOCKTIMEVERIFY | Flag.CHECKSEQUENCEVERIFY |
  Flag.WITNESS | Flag.TAPROOT

const STANDARD = MANDATORY | Flag.STRICTENC | Flag.MINIMALDATA | Flag.DISCOURAGE_UPGRADABLE_NOPS | Flag.CLEANSTACK |
  Flag.MINIMALIF | Flag.NULLFAIL | Flag.LOW_S | Flag.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM | Flag.WITNESS_PUBKEYTYPE |
  Flag.CONST_SCRIPTCODE | Flag.DISCOURAGE_UPGRADABLE_TAPROOT_VERSION | Flag.DISCOURAGE_OP_SUCCESS |
  Flag.DISCOURAGE_UPGRADABLE_PUBKEYTYPE | Flag.NAMES_LONG_SALT

/** The rules of a block at `height`, but a registration may come before its commitment is old enough. */
export const consensusFlags = (height: number, params: ConsensusParams): number =>
  blockFlags(height, params) | Flag.NAMES_MEMPOOL

/**
 * What every transaction in the mempool has to meet, and what a block at `height` asks for besides.
 * Source: upstream `policy/policy.h`, `MANDATORY_SCRIPT_VERIFY_FLAGS`.
 */
export const mandatoryFlags = (height: number, params: ConsensusParams): number =>
  consensusFlags(height, params) | MANDATORY

/**
 * What every standard transaction in the mempool has to meet: for scripts, names and the count of signature operations
 * alike. A transaction that passes under them passes under those of a block, names apart.
 * Source: upstream `policy/policy.h`, `STANDARD_SCRIPT_VERIFY_FLAGS`; `validation.cpp`, `MemPoolAccept::PreChecks`.
 */
export const standardFlags = (height: number, params: ConsensusParams): number =>
  consensusFlags(height, params) | STANDARD
