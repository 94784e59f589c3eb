import { binaryString } from "../../protocol/bytes.ts"
import type { WeighedCoin } from "./Draft.ts"

/** Selected together or not at all. */
export type CoinGroup = ReadonlyArray<WeighedCoin>

/** Limits the fee of a payment from an address with many coins. */
const MOST_COINS = 100

/**
 * Groups coins by script (`-avoidpartialspends`), so that a later payment does not join the rest with coins of other
 * addresses. Large scripts have several groups of 100 (`whole`); the remainder is `partial`, for payments that whole
 * groups do not cover. Upstream `wallet/spend.cpp`, `GroupOutputs`.
 */
export const groupsOf = (
  coins: ReadonlyArray<WeighedCoin>
): { readonly whole: ReadonlyArray<CoinGroup>; readonly partial: ReadonlyArray<CoinGroup> } => {
  const byScript = new Map<string, Array<Array<WeighedCoin>>>()
  for (const weighed of coins) {
    const script = binaryString(weighed.coin.output.script)
    const groups = byScript.get(script) ?? [[]]
    byScript.set(script, groups)
    const last = groups.at(-1)
    if (last !== undefined && last.length < MOST_COINS) last.push(weighed)
    else groups.push([weighed])
  }
  const whole: Array<CoinGroup> = []
  const partial: Array<CoinGroup> = []
  for (const groups of byScript.values()) {
    for (const group of groups) {
      if (groups.length > 1 && group === groups.at(-1)) partial.push(group)
      else whole.push(group)
    }
  }
  return { whole, partial }
}
