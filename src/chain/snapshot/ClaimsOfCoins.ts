import { isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Coin, NameClaim } from "../../consensus/view.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"

export interface FoundClaim {
  readonly name: Bytes
  readonly claim: NameClaim
  /** As on the wire. */
  readonly outpoint: Bytes
}

/**
 * The claim that a coin holds in the coins after the block at `height`; `undefined` for most, "unclear" if it does not
 * tell. An unexpired name has exactly one coin: an update spends the last one, and the coin is removed with the block
 * before the name expires (reference/protocol.md 4.7). So claims are a function of the coins. Coins that no longer
 * count (historic bugs, d/postmortem) are older than the lifetime of a name. Block rewards are the exception: whether
 * their name script has an effect depends on the version of the transaction, which a coin does not have.
 */
export const claimOf = (
  { coin, outpoint }: { readonly coin: Coin; readonly outpoint: Bytes },
  height: Height,
  params: ConsensusParams
): FoundClaim | "unclear" | undefined => {
  const operation = parseNameScript(coin.script)?.operation
  if (operation === undefined || operation.op === "name_new") return undefined
  if (isExpired(coin, height + 1, params)) return undefined
  if (coin.coinbase) return "unclear"
  return { name: operation.name, claim: { height: coin.height, outpoint: binaryString(outpoint) }, outpoint }
}
