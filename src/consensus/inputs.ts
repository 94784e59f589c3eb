import { formatMoney, isMoney } from "../protocol/amount.ts"
import type { Height } from "../protocol/keys.ts"
import { totalValue } from "../protocol/transaction.ts"
import { checkNameTransaction, type NameCheck } from "./names.ts"
import { COINBASE_MATURITY } from "./params.ts"
import { type Reject, reject } from "./Reject.ts"
import type { Coin } from "./view.ts"

const isComplete = (coins: ReadonlyArray<Coin | undefined>): coins is ReadonlyArray<Coin> => !coins.includes(undefined)

const spendable = (coins: ReadonlyArray<Coin>, height: Height): number | Reject => {
  let total = 0
  for (const coin of coins) {
    const depth = height - coin.height
    if (coin.coinbase && depth < COINBASE_MATURITY) {
      return reject("bad-txns-premature-spend-of-coinbase", `tried to spend coinbase at depth ${depth}`)
    }
    total += coin.value
    if (!isMoney(coin.value) || !isMoney(total)) return reject("bad-txns-inputvalues-outofrange")
  }
  return total
}

export interface PaidInputs {
  readonly coins: ReadonlyArray<Coin>
  /** Smallest units. */
  readonly fee: number
}

/**
 * The name rules first, then coins, maturity and amounts. Not for a coinbase. Source: upstream
 * `consensus/tx_verify.cpp`, `CheckTxInputs`.
 */
export const checkInputs = (check: NameCheck): PaidInputs | Reject => {
  const broken = checkNameTransaction(check)
  if (broken !== undefined) return broken
  const { coins } = check
  // A coin can be missing here only if the name rules accept the transaction unchecked.
  if (!isComplete(coins)) return reject("bad-txns-inputs-missingorspent", "CheckTxInputs: inputs missing/spent")
  const valueIn = spendable(coins, check.height)
  if (typeof valueIn !== "number") return valueIn
  const out = totalValue(check.transaction.outputs)
  if (valueIn < out) {
    return reject("bad-txns-in-belowout", `value in (${formatMoney(valueIn)}) < value out (${formatMoney(out)})`)
  }
  return { coins, fee: valueIn - out }
}
