import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"

/** A name is renewed when this part of its life remains: about two weeks of 250 days. */
const SHARE_OF_LIFE = 18
const LEAST_WINDOW = 3

/** The number of blocks before its end at which a name is renewed, for a tip at a height. */
export const renewalWindow = (height: number, params: ConsensusParams): number =>
  Math.max(LEAST_WINDOW, Math.floor(expirationDepth(height, params) / SHARE_OF_LIFE))

/** The name in a coin; `undefined` for plain coins and commitments. */
const nameIn = ({ name }: WalletCoin): Bytes | undefined =>
  name === undefined || name.operation.op === "name_new" ? undefined : name.operation.name

/**
 * The names to renew now, the first to expire first. The wallet owns them, renewal is on for them, they are near their
 * end and not expired, and no operation on them is pending.
 */
export const dueRenewals = (
  coins: ReadonlyArray<WalletCoin>,
  { renewals }: WalletDocument,
  tip: { readonly height: number; readonly params: ConsensusParams; readonly isPending: (name: NameKey) => boolean }
): ReadonlyArray<Bytes> => {
  const { height, isPending, params } = tip
  const wanted = new Set(renewals.names.map(nameKey))
  const due: Array<{ readonly name: Bytes; readonly made: number }> = []
  for (const coin of coins) {
    const name = nameIn(coin)
    if (name === undefined || coin.height === undefined || coin.expired || !coin.own.spendable) continue
    const key = nameKey(name)
    if (!renewals.all && !wanted.has(key) || isPending(key)) continue
    const left = coin.height + expirationDepth(height, params) - height
    // The update has to be in the next block at the latest, while the name is still active.
    if (left > renewalWindow(height, params) || isExpired({ height: coin.height }, height + 1, params)) continue
    due.push({ name, made: coin.height })
  }
  return due.sort((a, b) => a.made - b.made).map(({ name }) => name)
}

/** Whether a name is renewed, by its own setting or that of all names. */
export const isRenewed = ({ renewals }: WalletDocument, name: Bytes): boolean =>
  renewals.all || renewals.names.some((other) => equal(other, name))

/** Whether a coin of the wallet has a name that can still be renewed. */
export const holdsName = (coins: ReadonlyArray<WalletCoin>, name: Bytes): boolean =>
  coins.some((coin) => {
    const held = nameIn(coin)
    return held !== undefined && !coin.expired && coin.own.spendable && equal(held, name)
  })

/** Stores whether a name is renewed; without `name`, whether all names are. */
export const withRenewal = (name: Bytes | undefined, on: boolean) => (document: WalletDocument): WalletDocument => {
  if (name === undefined) return { ...document, renewals: { ...document.renewals, all: on } }
  const others = document.renewals.names.filter((other) => !equal(other, name))
  return { ...document, renewals: { ...document.renewals, names: on ? [...others, name] : others } }
}
