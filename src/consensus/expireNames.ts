import { fromBinaryString, toHex } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey, nameOfKey } from "../protocol/keys.ts"
import { parseNameScript } from "../protocol/nameOperation.ts"
import { outpointText } from "../protocol/transaction.ts"
import type { BlockOverlay } from "./BlockOverlay.ts"
import { expiringUpdateHeights } from "./expiry.ts"
import type { ConsensusParams } from "./params.ts"
import { type Reject, reject } from "./Reject.ts"
import type { Coin, NameClaim } from "./view.ts"

/**
 * The name d/postmortem was used to steal other names, and has no coin when it expires (reference/protocol.md 4.7,
 * 4.9). `height` is the last height before its expiry. As in the reference node, the exception applies on all networks.
 */
const POSTMORTEM = { name: nameKey(fromBinaryString("d/postmortem")), height: 175_867 }

const obstacle = (name: NameKey, coin: Coin | undefined): string | undefined => {
  if (coin === undefined) return "which is not a coin there"
  const operation = parseNameScript(coin.script)?.operation
  if (operation === undefined) return "a coin that holds no name"
  if (operation.op === "name_new") return "a coin that holds a NAME_NEW"
  const held = nameKey(operation.name)
  return held === name ? undefined : `a coin that holds name ${hexOf(held)}`
}

const hexOf = (name: NameKey): string => toHex(nameOfKey(name))

const REASON = "bad-names-expiry"

const contradiction = (name: NameKey, { outpoint }: NameClaim, found: string): Reject => {
  const output = outpointText(fromBinaryString(outpoint))
  return reject(REASON, `the claim of name ${hexOf(name)} (hex) in the chain state is on output ${output}, ${found}`)
}

/**
 * Removes the coins of names that can no longer be updated (reference/protocol.md 4.7), after all transactions of the
 * block. Like the reference node, refuses the block if such a name has no coin. Reports the first name in byte order;
 * the reference node has no reason text for this case. Source: upstream `names/main.cpp`, `ExpireNames`.
 */
export const expireNames = (overlay: BlockOverlay, height: Height, params: ConsensusParams): Reject | undefined => {
  const range = expiringUpdateHeights(height, params)
  if (range === undefined) return undefined
  let first: { readonly name: NameKey; readonly broken: Reject } | undefined
  for (const [name, claim] of overlay.claimsBetween(range.from, range.to)) {
    if (height === POSTMORTEM.height && name === POSTMORTEM.name) continue
    const coin = overlay.coin(claim.outpoint)
    const found = obstacle(name, coin)
    if (found !== undefined) {
      if (first === undefined || name < first.name) first = { name, broken: contradiction(name, claim, found) }
    } else if (coin !== undefined) overlay.spend(claim.outpoint, coin)
  }
  return first?.broken
}

/**
 * The claims on the coins that `expireNames` removed. They stay in a state that is built from all blocks, but a
 * snapshot has none of expired names: a block below its base that is undone brings them back with the coins.
 */
export const expiredClaims = (
  { removed }: { readonly removed: ReadonlyMap<string, Coin> },
  { height, params }: { readonly height: Height; readonly params: ConsensusParams }
): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> => {
  const range = expiringUpdateHeights(height, params)
  if (range === undefined) return []
  const found: Array<readonly [name: NameKey, claim: NameClaim]> = []
  for (const [outpoint, coin] of removed) {
    if (coin.height < range.from || coin.height > range.to) continue
    const operation = parseNameScript(coin.script)?.operation
    if (operation === undefined || operation.op === "name_new") continue
    found.push([nameKey(operation.name), { height: coin.height, outpoint }])
  }
  return found
}
