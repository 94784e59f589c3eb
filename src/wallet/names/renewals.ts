import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletCoin } from "../Wallet.ts"

/** Names are renewed when this part of their life is left: some two weeks of 250 days. */
const SHARE_OF_LIFE = 18
const LEAST_WINDOW = 3

/** Blocks before its end from which on a name is renewed, for a tip at a height. */
export const renewalWindow = (height: number, params: ConsensusParams): number =>
  Math.max(LEAST_WINDOW, Math.floor(expirationDepth(height, params) / SHARE_OF_LIFE))

/** The name that a coin holds; `undefined` for money and for commitments. */
const nameIn = ({ name }: WalletCoin): Bytes | undefined =>
  name === undefined || name.operation.op === "name_new" ? undefined : name.operation.name

/**
 * The names that are to be renewed now, the first to expire first: those that the wallet holds, that it was told to
 * renew, that are near their end and not beyond it, and on which nothing is pending.
 */
export const dueRenewals = (
  coins: ReadonlyArray<WalletCoin>,
  { renewals }: WalletDocument,
  tip: { readonly height: number; readonly params: ConsensusParams; readonly isPending: (name: string) => boolean }
): ReadonlyArray<Bytes> => {
  const { height, isPending, params } = tip
  const wanted = new Set(renewals.names.map(binaryString))
  const due: Array<{ readonly name: Bytes; readonly made: number }> = []
  for (const coin of coins) {
    const name = nameIn(coin)
    if (name === undefined || coin.height === undefined || coin.expired || !coin.own.spendable) continue
    const key = binaryString(name)
    if (!renewals.all && !wanted.has(key) || isPending(key)) continue
    const left = coin.height + expirationDepth(height, params) - height
    // The update has to be in the next block at the latest that sees the name alive.
    if (left > renewalWindow(height, params) || isExpired(coin.height, height + 1, params)) continue
    due.push({ name, made: coin.height })
  }
  return due.sort((a, b) => a.made - b.made).map(({ name }) => name)
}

/** Puts down which names are renewed; all, where `name` is left out. */
export const withRenewal = (name: Bytes | undefined, on: boolean) => (document: WalletDocument): WalletDocument => {
  if (name === undefined) return { ...document, renewals: { ...document.renewals, all: on } }
  const others = document.renewals.names.filter((other) => !equal(other, name))
  return { ...document, renewals: { ...document.renewals, names: on ? [...others, name] : others } }
}
