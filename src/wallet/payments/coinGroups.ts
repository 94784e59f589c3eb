import { binaryString } from "../../protocol/bytes.ts"
import type { WeighedCoin } from "./Draft.ts"

/** Coins that coin selection takes together or not at all. */
export type CoinGroup = ReadonlyArray<WeighedCoin>

/** The most coins of a group, so that a payment from an address with many coins costs no high fee. */
const MOST_COINS = 100

/**
 * Groups coins by their script (`-avoidpartialspends`): a payment from an address spends all of it, so that a
 * later one does not join the rest of its coins with those of other addresses. A script with more than 100 coins has several groups. Those with 100 are `whole`; the rest is
 * `partial`, for payments that the whole groups do not cover. Upstream `wallet/spend.cpp`, `GroupOutputs`.
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
