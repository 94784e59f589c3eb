import { binaryString, fromBinaryString, toHex } from "../protocol/bytes.ts"
import { parseNameScript } from "../protocol/nameOperation.ts"
import type { BlockOverlay } from "./BlockOverlay.ts"
import { expiringUpdateHeights, isExpired } from "./expiry.ts"
import type { ConsensusParams } from "./params.ts"
import type { Coin } from "./view.ts"

/**
 * The name that has no coin when its time comes: it was used to steal others (protocol.md 4.7, 4.9). The height is of
 * the block before the first that sees it as expired. As in the reference node, the network does not matter.
 */
const POSTMORTEM = { name: "d/postmortem", height: 175_867 }

const isCoinOf = (name: string, { script }: Coin): boolean => {
  const operation = parseNameScript(script)?.operation
  return operation !== undefined && operation.op !== "name_new" && binaryString(operation.name) === name
}

/**
 * Takes the coins of names away that nobody can update any more (protocol.md 4.7), once all transactions of the block
 * at `height` are in. What cannot be is no fault of the block but of our own data: it throws an `Error`.
 * Source: upstream `names/main.cpp`, `ExpireNames`.
 */
export const expireNames = (overlay: BlockOverlay, height: number, params: ConsensusParams): void => {
  const range = expiringUpdateHeights(height, params)
  if (range === undefined) return
  for (const name of overlay.namesClaimedBetween(range.from, range.to)) {
    const corrupted = (what: string): Error =>
      new Error(`name ${toHex(fromBinaryString(name))} (hex) expires with block ${height}, but ${what}`)
    const claim = overlay.claim(name)
    if (claim === undefined) throw corrupted("it has no claim")
    if (!isExpired(claim.height, height + 1, params)) throw corrupted(`its claim is from height ${claim.height}`)
    if (height === POSTMORTEM.height && name === POSTMORTEM.name) continue
    const coin = overlay.coin(claim.outpoint)
    if (coin === undefined) throw corrupted("its coin is missing")
    if (!isCoinOf(name, coin)) throw corrupted("its coin is not of this name")
    overlay.spend(claim.outpoint, coin)
  }
}
