import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import type { WalletName } from "./WalletNames.ts"

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
  const except = new Set(renewals.except?.map(nameKey))
  const due: Array<{ readonly name: Bytes; readonly made: number }> = []
  for (const coin of coins) {
    const name = nameIn(coin)
    if (name === undefined || coin.height === undefined || coin.expired || !coin.own.spendable) continue
    const key = nameKey(name)
    if (!wanted.has(key) && (!renewals.all || except.has(key)) || isPending(key)) continue
    const left = coin.height + expirationDepth(height, params) - height
    // The update has to be in the next block at the latest, while the name is still active.
    if (left > renewalWindow(height, params) || isExpired({ height: coin.height }, height + 1, params)) continue
    due.push({ name, made: coin.height })
  }
  return due.sort((a, b) => a.made - b.made).map(({ name }) => name)
}

const has = (names: ReadonlyArray<Bytes>, name: Bytes): boolean => names.some((other) => equal(other, name))

/** Whether a name is renewed: by its own setting, or by that of all names, of which it is no exception. */
export const isRenewed = ({ renewals }: WalletDocument, name: Bytes): boolean =>
  has(renewals.names, name) || renewals.all && !has(renewals.except ?? [], name)

/** Whether a name has a setting of its own. */
export const isSetAlone = ({ renewals }: WalletDocument, name: Bytes): boolean =>
  has(renewals.names, name) || has(renewals.except ?? [], name)

/** Whether a coin of the wallet has a name that can still be renewed. */
export const holdsName = (coins: ReadonlyArray<WalletCoin>, name: Bytes): boolean =>
  coins.some((coin) => {
    const held = nameIn(coin)
    return held !== undefined && !coin.expired && coin.own.spendable && equal(held, name)
  })

/** The setting with other lists; the file has no empty list of exceptions. */
const withLists = (
  document: WalletDocument,
  { except, names }: { readonly except: ReadonlyArray<Bytes>; readonly names: ReadonlyArray<Bytes> }
): WalletDocument => {
  const { all } = document.renewals
  return { ...document, renewals: { all, names, ...except.length > 0 ? { except } : {} } }
}

const without = (names: ReadonlyArray<Bytes>, name: Bytes): ReadonlyArray<Bytes> =>
  names.filter((other) => !equal(other, name))

/** Forgets what was set for a name: what is set for all names counts. */
export const withoutRenewal = (name: Bytes) => (document: WalletDocument): WalletDocument => {
  const { except = [], names } = document.renewals
  return isSetAlone(document, name)
    ? withLists(document, { names: without(names, name), except: without(except, name) })
    : document
}

/**
 * Stores whether a name is renewed; without `name`, whether all names are. While all are, a name that is not is an exception.
 * A new setting of all names ends the exceptions: "all" means all.
 */
export const withRenewal = (name: Bytes | undefined, on: boolean) => (document: WalletDocument): WalletDocument => {
  const { all, names } = document.renewals
  if (name === undefined) return { ...document, renewals: { all: on, names } }
  const rest = withoutRenewal(name)(document)
  const { except = [], names: others } = rest.renewals
  if (on) return withLists(rest, { names: [...others, name], except })
  return all ? withLists(rest, { names: others, except: [...except, name] }) : rest
}

/** Blocks after which a reorg does not bring a name back that another owner has, or that has expired. */
const GONE_FOR = 100

/**
 * The names with a setting of their own that the wallet has lost: another owner has them, or they have expired. Each has the
 * height at which that happened.
 */
export const lostNames = (
  { renewals }: WalletDocument,
  known: ReadonlyArray<WalletName>,
  { height, params }: { readonly height: number; readonly params: ConsensusParams }
): ReadonlyArray<{ readonly name: Bytes; readonly since: number }> => {
  const set = new Set([...renewals.names, ...renewals.except ?? []].map(nameKey))
  return known.flatMap((each) => {
    if (!set.has(nameKey(each.name))) return []
    if (!each.mine) return [{ name: each.name, since: each.height }]
    return isExpired(each, height, params)
      ? [{ name: each.name, since: each.height + expirationDepth(height, params) }]
      : []
  })
}

/** Those whose setting is forgotten now: no reorg brings them back. */
export const forgottenNames = (
  lost: ReadonlyArray<{ readonly name: Bytes; readonly since: number }>,
  height: number
): ReadonlyArray<Bytes> => lost.flatMap(({ name, since }) => height - since < GONE_FOR ? [] : [name])
