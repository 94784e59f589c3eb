import { isMoney, MAX_MONEY } from "../protocol/amount.ts"
import { compare } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import {
  isNullPrevout,
  LOCKTIME_THRESHOLD,
  outpointKey,
  type Transaction,
  type TransactionInput
} from "../protocol/transaction.ts"
import { MAX_BLOCK_WEIGHT, WITNESS_SCALE_FACTOR } from "./params.ts"
import { type Reject, reject } from "./Reject.ts"
import type { Coin } from "./view.ts"

const MAX_STRIPPED_SIZE = MAX_BLOCK_WEIGHT / WITNESS_SCALE_FACTOR

/** Sequence of an input that opts out of lock times. */
const SEQUENCE_FINAL = 0xffffffff

/** Up to this many inputs, comparing pairs is cheaper than a set of keys. */
const FEW_INPUTS = 8

const hasDuplicates = (inputs: ReadonlyArray<TransactionInput>): boolean => {
  if (inputs.length > FEW_INPUTS) return new Set(inputs.map(({ prevout }) => outpointKey(prevout))).size < inputs.length
  return inputs.some(({ prevout }, i) => {
    for (let j = 0; j < i; j++) if (compare(inputs[j]?.prevout ?? prevout, prevout) === 0) return true
    return false
  })
}

const checkOutputs = ({ outputs }: Transaction): Reject | undefined => {
  let total = 0
  for (const { value } of outputs) {
    if (value < 0) return reject("bad-txns-vout-negative")
    if (value > MAX_MONEY) return reject("bad-txns-vout-toolarge")
    total += value
    if (!isMoney(total)) return reject("bad-txns-txouttotal-toolarge")
  }
  return undefined
}

/**
 * Without witnesses (7. of the first list in reference/protocol.md 5.4). Source: upstream `consensus/tx_check.cpp`,
 * `CheckTransaction`.
 */
export const checkTransaction = (transaction: Transaction): Reject | undefined => {
  const { inputs, outputs } = transaction
  const [first] = inputs
  if (first === undefined) return reject("bad-txns-vin-empty")
  if (outputs.length === 0) return reject("bad-txns-vout-empty")
  if (transaction.strippedSize > MAX_STRIPPED_SIZE) return reject("bad-txns-oversize")
  const broken = checkOutputs(transaction)
  if (broken !== undefined) return broken
  if (inputs.length > 1 && hasDuplicates(inputs)) return reject("bad-txns-inputs-duplicate")
  if (transaction.isCoinbase) {
    const { length } = first.scriptSig
    return length < 2 || length > 100 ? reject("bad-cb-length") : undefined
  }
  for (const { prevout } of inputs) if (isNullPrevout(prevout)) return reject("bad-txns-prevout-null")
  return undefined
}

/**
 * `cutoff` is the median time past of the previous block if CSV is active, otherwise the block's own time (BIP 113).
 * Source: upstream `consensus/tx_verify.cpp`, `IsFinalTx`.
 */
export const isFinal = ({ inputs, lockTime }: Transaction, height: Height, cutoff: number): boolean => {
  if (lockTime === 0 || lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : cutoff)) return true
  for (const { sequence } of inputs) if (sequence !== SEQUENCE_FINAL) return false
  return true
}

/** The last height and median time past (seconds) at which relative locks still apply; -1 for no lock. */
export interface SequenceLocks {
  readonly height: Height
  readonly time: number
}

const NO_LOCKS: SequenceLocks = { height: -1, time: -1 }

/** BIP 68: the bit that disables the rule for an input, the bit for a time, and the number itself. */
const DISABLE_FLAG = 0x80000000
const TYPE_FLAG = 0x00400000
const LOCK_MASK = 0x0000ffff

/** Seconds in a unit of a relative time lock, as a shift. */
const GRANULARITY = 9

/**
 * BIP 68. Versions are compared unsigned, so name transactions have such locks. `medianTimePastAt` is for blocks of the
 * chain to join. Call it only if CSV is active. Source: upstream `consensus/tx_verify.cpp`, `CalculateSequenceLocks`.
 */
export const sequenceLocks = (
  { inputs, version }: Transaction,
  coins: ReadonlyArray<Pick<Coin, "height">>,
  medianTimePastAt: (height: Height) => number
): SequenceLocks => {
  if (version < 2) return NO_LOCKS
  let height = -1
  let time = -1
  for (let i = 0; i < inputs.length; i++) {
    const sequence = inputs[i]?.sequence ?? SEQUENCE_FINAL
    if ((sequence & DISABLE_FLAG) !== 0) continue
    const made = coins[i]?.height ?? 0
    const lock = sequence & LOCK_MASK
    if ((sequence & TYPE_FLAG) === 0) height = Math.max(height, made + lock - 1)
    else time = Math.max(time, medianTimePastAt(Math.max(made - 1, 0)) + (lock << GRANULARITY) - 1)
  }
  return height < 0 && time < 0 ? NO_LOCKS : { height, time }
}

/** Whether relative locks allow a transaction in the block at `height` after a block with this median time past. */
export const meetsLocks = (locks: SequenceLocks, height: Height, medianTimePast: number): boolean =>
  locks.height < height && locks.time < medianTimePast
