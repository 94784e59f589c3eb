/** Seconds, about three years: the longest unlock of a wallet (upstream `wallet/rpc/encrypt.cpp`, `MAX_SLEEP_TIME`). */
export const LONGEST_UNLOCK = 100_000_000
