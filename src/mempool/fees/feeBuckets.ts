// The ranges of fee rates that the estimator counts in, each 5 % wider than the one below. Their ends are fixed, as a
// file of counts is valid only for them. Source: upstream `policy/fees/block_policy_estimator.h`, `MIN_BUCKET_FEERATE`,
// `MAX_BUCKET_FEERATE`, `FEE_SPACING`.

/** Fee rates are in smallest units per kvB. */
const LOWEST_TOP = 100
const HIGHEST_TOP = 1e7
const SPACING = 1.05

/** The end of the last range, above all fee rates. Shown by `estimaterawfee`. */
const TOP_OF_ALL = 1e99

const tops: Array<number> = []
for (let top = LOWEST_TOP; top <= HIGHEST_TOP; top *= SPACING) tops.push(top)
tops.push(TOP_OF_ALL)

export const BUCKETS = tops.length

/** The highest fee rate of a range, inclusive. */
export const bucketTop = (bucket: number): number => tops[bucket] ?? TOP_OF_ALL

/** The start of a range, exclusive: the end of the one below. */
export const bucketBottom = (bucket: number): number => tops[bucket - 1] ?? 0

export const bucketOf = (feeRate: number): number => {
  let low = 0
  let high = BUCKETS - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (bucketTop(middle) < feeRate) low = middle + 1
    else high = middle
  }
  return low
}
