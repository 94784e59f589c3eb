/**
 * Amounts are integers in the smallest unit (1 NMC = 10^8). A double holds each of them exactly: the final supply is
 * 2.1 × 10^15, below 2^53.
 */

export const COIN = 100_000_000

/** The upper limit of each amount and of each sum of amounts (consensus). */
export const MAX_MONEY = 21_000_000 * COIN

export const isMoney = (amount: number): boolean => amount >= 0 && amount <= MAX_MONEY
