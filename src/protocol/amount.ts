/**
 * Amounts are integers in the smallest unit (1 NMC = 10^8) and fit a double exactly: all the coins there will be are
 * 2.1 × 10^15, below 2^53.
 */

/** Smallest units in one NMC. */
export const COIN = 100_000_000

/** No amount and no sum of amounts may be above this (consensus). */
export const MAX_MONEY = 21_000_000 * COIN

/** Whether an amount is one that may exist. */
export const isMoney = (amount: number): boolean => amount >= 0 && amount <= MAX_MONEY
