import { MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import { type FeeEstimator } from "../../mempool/fees/FeeEstimator.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import { aboutText, amountText } from "../../protocol/amount.ts"
import { FEE_TARGET, nameCosts } from "../../protocol/nameCosts.ts"
import { rateText } from "../format.ts"
import { type Html, html } from "../html.ts"
import { fact } from "../parts.ts"

/** What a transaction, and a name, cost now. */

interface Suggestion {
  readonly label: string
  /** Smallest units per kvB. */
  readonly rate: number
}

export interface FeesNow {
  /** Empty while there are too few data. */
  readonly suggestions: ReadonlyArray<Suggestion>
  readonly isOff: boolean
  /** The lowest accepted rate, smallest units per kvB. */
  readonly least: number
  /** Fees of the two transactions of a registration, in smallest units. */
  readonly registration: number
}

/** Blocks within which a transaction is mined. No estimate is for the very next block alone. */
const TARGETS = [
  { label: "Next block or two", target: 2 },
  { label: "Within an hour", target: FEE_TARGET },
  { label: "Within a day", target: 144 }
] as const

/** Bytes of a name and its value, as of a domain with an address. */
const NAME_BYTES = 50

/** Virtual bytes of a payment with one input and change. */
const PAYMENT_SIZE = 141

export const feesNow = (estimator: typeof FeeEstimator.Service, pool: typeof Mempool.Service): FeesNow => {
  const { minFeeRate, minRelayFeeRate } = pool.info()
  const least = Math.max(minFeeRate, minRelayFeeRate)
  const rateFor = (target: number): number | undefined => {
    const { feeRate } = estimator.estimateSmart(target, "economical")
    return feeRate === undefined ? undefined : Math.max(feeRate, least)
  }
  const suggestions = estimator.isOff ? [] : TARGETS.flatMap(({ label, target }) => {
    const rate = rateFor(target)
    return rate === undefined ? [] : [{ label, rate }]
  })
  const { commitment, operation } = nameCosts(NAME_BYTES, [estimator.isOff ? undefined : rateFor(FEE_TARGET), least])
  return { suggestions, isOff: estimator.isOff, least, registration: commitment + operation }
}

const rateView = (rate: number): Html => html`${rateText(rate)} <small>NMC/kvB</small>`

const paymentText = (rate: number): string => `${aboutText(feeOf(rate, PAYMENT_SIZE))} for a payment`

export const feesView = ({ isOff, least, registration, suggestions }: FeesNow): Html =>
  html`<section id="fees" class="card" aria-labelledby="fees-title">
<h2 id="fees-title">Fees now</h2>
<dl class="facts plain">${
    suggestions.length > 0
      ? suggestions.map(({ label, rate }) => fact(label, rateView(rate), paymentText(rate)))
      : fact("Lowest fee rate accepted", rateView(least), paymentText(least))
  }${
    fact(
      "Registering a name",
      aboutText(MIN_NAME_AMOUNT + registration),
      `${amountText(MIN_NAME_AMOUNT)} stays locked in the name, the rest is fees`
    )
  }</dl>${
    suggestions.length === 0 &&
    html`<p class="muted">${
      isOff
        ? "The node runs with -blocksonly and does not estimate fees."
        : "There is not enough data for estimates yet. The node estimates fees from transactions that it saw both unconfirmed and mined."
    }</p>`
  }
</section>`
