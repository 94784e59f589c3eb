/** How much of the pool pays at least a fee rate, for clients that choose a fee. */

export interface PaidSize {
  /** Smallest units. */
  readonly fee: number
  /** Virtual bytes. */
  readonly size: number
}

export type FeeHistogram = ReadonlyArray<readonly [feeRate: number, size: number]>

/** Virtual bytes of the first bin. Each is a tenth larger than the one before. */
const FIRST_BIN = 100_000
const GROWTH = 1.1

/**
 * Fee rates (smallest units per virtual byte, to a tenth) with the size of the transactions that pay at least that and
 * less than the rate before. What is left below the last full bin is not in it. Source: ElectrumX `mempool.py`,
 * `_compress_histogram`.
 */
export const feeHistogram = (transactions: Iterable<PaidSize>): FeeHistogram => {
  const sizes = new Map<number, number>()
  for (const { fee, size } of transactions) {
    const rate = Math.floor(10 * (fee / size)) / 10
    sizes.set(rate, (sizes.get(rate) ?? 0) + size)
  }
  const compact: Array<readonly [number, number]> = []
  let bin = FIRST_BIN
  let sum = 0
  let before: number | undefined
  const close = (rate: number): void => {
    compact.push([rate, sum])
    sum = 0
    bin *= GROWTH
  }
  for (const [rate, size] of [...sizes].toSorted(([a], [b]) => b - a)) {
    // A lump of one rate gets a bin for itself.
    if (size > 2 * bin && before !== undefined && sum > 0) close(before)
    sum += size
    if (sum > bin) close(rate)
    before = rate
  }
  return compact
}
