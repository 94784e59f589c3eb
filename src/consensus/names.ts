import type { Block } from "../protocol/block.ts"
import { type Bytes, EMPTY, equal } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import {
  NAME_NEW_HASH_SIZE,
  NAME_TX_VERSION,
  nameCommitment,
  type NameFirstUpdate,
  type NameScript,
  type NameSetting,
  type NameUpdate,
  parseNameScript
} from "../protocol/nameOperation.ts"
import { MAX_SCRIPT_ELEMENT_SIZE } from "../protocol/script.ts"
import { outpointKey, type Transaction } from "../protocol/transaction.ts"
import { isExpired } from "./expiry.ts"
import { Flag } from "./flags.ts"
import { historicBug } from "./historicBugs.ts"
import type { ConsensusParams } from "./params.ts"
import { type Reject, reject } from "./Reject.ts"
import type { Coin, NameClaim, NameEffect } from "./view.ts"

// The name rules: what a transaction may do (rules N of reference/protocol.md 4.5) and its effects (rules F of 4.6).
// Coinbases have effects but are never checked.

/** Longest name (consensus). */
export const MAX_NAME_LENGTH = 255

/** Longest value (consensus). */
export const MAX_VALUE_LENGTH = 1023

/** Longest value that can be changed again: a longer one is valid, but the script of its output cannot run. */
export const MAX_SPENDABLE_VALUE = MAX_SCRIPT_ELEMENT_SIZE

/** The depth in blocks that a NAME_NEW needs before its NAME_FIRSTUPDATE (consensus). */
export const MIN_FIRSTUPDATE_DEPTH = 12

/** Longest salt, and the only length under the long-salt rule (consensus). */
export const SALT_SIZE = 20

/** Smallest amount of a name output, in smallest units (consensus). */
export const MIN_NAME_AMOUNT = 1_000_000

/** The name scripts that a transaction spends, by input, and creates, by output; `undefined` for other scripts. */
export interface NameScripts {
  readonly spent: ReadonlyArray<NameScript | undefined>
  readonly made: ReadonlyArray<NameScript | undefined>
}

export const madeNameScripts = ({ outputs }: Transaction): ReadonlyArray<NameScript | undefined> => {
  const made = new Array<NameScript | undefined>(outputs.length)
  for (let i = 0; i < outputs.length; i++) made[i] = parseNameScript(outputs[i]?.script ?? EMPTY)
  return made
}

/** The coins of the inputs are in order. */
export const nameScripts = (transaction: Transaction, coins: ReadonlyArray<Coin | undefined>): NameScripts => {
  const spent = new Array<NameScript | undefined>(coins.length)
  for (let i = 0; i < coins.length; i++) spent[i] = parseNameScript(coins[i]?.script ?? EMPTY)
  return { spent, made: madeNameScripts(transaction) }
}

export interface NameCheck {
  readonly transaction: Transaction
  /** The coins of the inputs in order; `undefined` for a missing coin. */
  readonly coins: ReadonlyArray<Coin | undefined>
  readonly scripts: NameScripts
  /** Height of the block to contain the transaction. */
  readonly height: Height
  readonly params: ConsensusParams
  readonly flags: number
  /** The current claim of a name (`nameKey`), expired or not. */
  readonly claim: (name: NameKey) => NameClaim | undefined
}

const MISSING_INPUTS = reject("bad-txns-inputs-missingorspent", "Failed to fetch name input coin")

/** The index of the only input that spends a name (rules N1 and N2), -1 for none. */
const findInput = ({ coins, scripts }: NameCheck): number | Reject => {
  let found = -1
  for (let i = 0; i < coins.length; i++) {
    if (coins[i] === undefined) return MISSING_INPUTS
    if (scripts.spent[i] === undefined) continue
    if (found !== -1) return reject("tx-multiple-name-inputs", "Multiple name inputs")
    found = i
  }
  return found
}

/** The index of the only output that creates a name coin (rule N3), -1 for none. */
const findOutput = ({ scripts }: NameCheck): number | Reject => {
  let found = -1
  for (let i = 0; i < scripts.made.length; i++) {
    if (scripts.made[i] === undefined) continue
    if (found !== -1) return reject("tx-multiple-name-outputs", "Multiple name outputs")
    found = i
  }
  return found
}

/** Rules N11 to N15. `input` is the index of the input that spends a name. */
const checkUpdate = (check: NameCheck, operation: NameUpdate, input: number): Reject | undefined => {
  const { coins, flags, height, params, scripts, transaction } = check
  const previous = scripts.spent[input]?.operation
  if (previous === undefined || previous.op === "name_new") {
    return reject("tx-nameupdate-invalid-prev", "Name input for NAME_UPDATE is not an update")
  }
  if (!equal(operation.name, previous.name)) {
    return reject("tx-nameupdate-name-mismatch", "NAME_UPDATE name mismatch to name input")
  }
  const made = coins[input]?.height ?? height
  if ((flags & Flag.NAMES_MEMPOOL) !== 0 && made >= height) return undefined
  const claim = check.claim(nameKey(operation.name))
  if (claim === undefined) return reject("tx-nameupdate-nonexistant", "NAME_UPDATE name does not exist")
  if (isExpired(claim, height, params)) {
    return reject("tx-nameupdate-expired", "NAME_UPDATE on an expired name")
  }
  // Possible only after a coinbase, and not handled by the reference node: the name's record lacks this coin.
  const prevout = transaction.inputs[input]?.prevout ?? EMPTY
  return claim.height === made && claim.outpoint === outpointKey(prevout) ? undefined : INVALID_OPERATION
}

const INVALID_OPERATION = reject("tx-invalid-nameop", "Tx invalid for Namecoin")

const checkSalt = (rand: Bytes, flags: number): Reject | undefined => {
  if ((flags & Flag.NAMES_LONG_SALT) !== 0 && rand.length < SALT_SIZE) {
    return reject("tx-firstupdate-invalid-rand", "NAME_FIRSTUPDATE rand value is too short")
  }
  return rand.length > SALT_SIZE
    ? reject("tx-firstupdate-invalid-rand", "NAME_FIRSTUPDATE rand value is too large")
    : undefined
}

/** Rules N16 to N21. `input` is the index of the input that spends a name. */
const checkFirstUpdate = (check: NameCheck, operation: NameFirstUpdate, input: number): Reject | undefined => {
  const { coins, flags, height, params, scripts } = check
  const previous = scripts.spent[input]?.operation
  if (previous?.op !== "name_new") {
    return reject("tx-firstupdate-nonnew-input", "NAME_FIRSTUPDATE input is not a NAME_NEW")
  }
  const mature = (coins[input]?.height ?? height) + MIN_FIRSTUPDATE_DEPTH
  if ((flags & Flag.NAMES_MEMPOOL) === 0 && mature > height) {
    return reject("tx-firstupdate-immature", "NAME_FIRSTUPDATE on immature NAME_NEW")
  }
  const salt = checkSalt(operation.rand, flags)
  if (salt !== undefined) return salt
  if (!equal(nameCommitment(operation.rand, operation.name), previous.commitment)) {
    return reject("tx-firstupdate-hash-mismatch", "NAME_FIRSTUPDATE mismatch in hash / rand value")
  }
  const claim = check.claim(nameKey(operation.name))
  return claim === undefined || isExpired(claim, height, params)
    ? undefined
    : reject("tx-firstupdate-existing-name", "NAME_FIRSTUPDATE on existing name")
}

/** Rules N8 to N21. */
const checkChange = (check: NameCheck, operation: NameSetting, input: number): Reject | undefined => {
  if (input === -1) {
    return reject("tx-nameupdate-without-name-input", "Name update has no previous name input")
  }
  if (operation.name.length > MAX_NAME_LENGTH) return reject("tx-name-invalid", "Invalid name")
  if (operation.value.length > MAX_VALUE_LENGTH) return reject("tx-value-invalid", "Invalid value")
  return operation.op === "name_update"
    ? checkUpdate(check, operation, input)
    : checkFirstUpdate(check, operation, input)
}

/** Rules N7 and N7b. */
const checkNew = (commitment: Bytes, input: number): Reject | undefined => {
  if (input !== -1) return reject("tx-namenew-with-name-input", "NAME_NEW with previous name input")
  return commitment.length === NAME_NEW_HASH_SIZE
    ? undefined
    : reject("tx-namenew-wrong-size", "NAME_NEW's hash has the wrong size")
}

/** The smallest amount of a name output in a block at a height, in smallest units (rule N6b). */
export const minNameAmount = (height: Height, { minNameAmountSince }: ConsensusParams): number =>
  height < minNameAmountSince ? 0 : MIN_NAME_AMOUNT

/**
 * Rules N0 to N21 of reference/protocol.md 4.5, in order. Not for a coinbase. With `Flag.NAMES_MEMPOOL`, `height` is
 * that of the next block, and coins of that height count as unconfirmed. Source: upstream `names/main.cpp`,
 * `CheckNameTransaction`.
 */
export const checkNameTransaction = (check: NameCheck): Reject | undefined => {
  const { height, params, scripts, transaction } = check
  if (historicBug(height, transaction.txid, params) !== undefined) return undefined
  const input = findInput(check)
  if (typeof input !== "number") return input
  const output = findOutput(check)
  if (typeof output !== "number") return output
  if (transaction.version !== NAME_TX_VERSION) {
    if (input !== -1) return reject("tx-nonname-with-name-input", "Non-name transaction has name input")
    return output === -1
      ? undefined
      : reject("tx-nonname-with-name-output", "Non-name transaction has name output")
  }
  const operation = scripts.made[output]?.operation
  if (operation === undefined) return reject("tx-name-without-name-output", "Name transaction has no name output")
  if ((transaction.outputs[output]?.value ?? 0) < minNameAmount(height, params)) {
    return reject("tx-name-greedy", "Greedy name operation")
  }
  return operation.op === "name_new"
    ? checkNew(operation.commitment, input)
    : checkChange(check, operation, input)
}

/** Whether NAME_FIRSTUPDATE and NAME_UPDATE outputs of a transaction do not become coins (rule F1). */
export const ignoresNameOutputs = (transaction: Transaction, height: Height, params: ConsensusParams): boolean =>
  historicBug(height, transaction.txid, params) === "ignore"

export interface MadeNames {
  readonly transaction: Transaction
  readonly made: ReadonlyArray<NameScript | undefined>
  readonly height: Height
  readonly params: ConsensusParams
}

/** Rules F1 to F3 of reference/protocol.md 4.6. Source: upstream `names/main.cpp`, `ApplyNameTransaction`. */
export const addNameEffects = (
  effects: Array<NameEffect>,
  { height, made, params, transaction }: MadeNames
): void => {
  if (transaction.version !== NAME_TX_VERSION) return
  const bug = historicBug(height, transaction.txid, params)
  if (bug !== undefined && bug !== "apply") return
  for (let vout = 0; vout < made.length; vout++) {
    const script = made[vout]
    if (script === undefined || script.operation.op === "name_new") continue
    const { address, operation } = script
    const value = transaction.outputs[vout]?.value ?? 0
    effects.push({ name: operation.name, operation, height, transaction, vout, value, address })
  }
}

/** In block order, from the block alone. */
export const nameEffects = (block: Block, height: Height, params: ConsensusParams): ReadonlyArray<NameEffect> => {
  const effects: Array<NameEffect> = []
  for (const transaction of block.transactions) {
    if (transaction.version !== NAME_TX_VERSION) continue
    addNameEffects(effects, { transaction, made: madeNameScripts(transaction), height, params })
  }
  return effects
}
