import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import type { Bytes } from "../../protocol/bytes.ts"
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

/** The names with a setting of their own, by their keys. */
interface SetNames {
  readonly names: ReadonlySet<NameKey>
  readonly except: ReadonlySet<NameKey>
}

/** For each version of the setting: no code changes such an object. */
const known = new WeakMap<WalletDocument["renewals"], SetNames>()

/** Makes the keys once for each setting: callers with many names ask for each of them. */
const setNamesOf = ({ renewals }: WalletDocument): SetNames => {
  const found = known.get(renewals)
  if (found !== undefined) return found
  const made = { names: new Set(renewals.names.map(nameKey)), except: new Set(renewals.except?.map(nameKey)) }
  known.set(renewals, made)
  return made
}

/** Whether a name is renewed: by its own setting, or by that of all names, of which it is no exception. */
export const isRenewed = (document: WalletDocument, name: Bytes): boolean => {
  const { except, names } = setNamesOf(document)
  const key = nameKey(name)
  return names.has(key) || document.renewals.all && !except.has(key)
}

/** What is set for a name alone; `undefined` if nothing is. */
export const ownSetting = (document: WalletDocument, name: Bytes): boolean | undefined => {
  const { except, names } = setNamesOf(document)
  const key = nameKey(name)
  return names.has(key) ? true : except.has(key) ? false : undefined
}

/**
 * The names to renew now, the first to expire first. The wallet owns them, renewal is on for them, they are near their
 * end and not expired, and no operation on them is pending.
 */
export const dueRenewals = (
  coins: ReadonlyArray<WalletCoin>,
  document: WalletDocument,
  tip: { readonly height: number; readonly params: ConsensusParams; readonly isPending: (name: NameKey) => boolean }
): ReadonlyArray<Bytes> => {
  const { height, isPending, params } = tip
  const due: Array<{ readonly name: Bytes; readonly made: number }> = []
  for (const coin of coins) {
    const name = nameIn(coin)
    if (name === undefined || coin.height === undefined || coin.expired || !coin.own.spendable) continue
    if (!isRenewed(document, name) || isPending(nameKey(name))) continue
    const left = blocksToExpiry({ height: coin.height }, { tipHeight: height, params })
    // The update has to be in the next block at the latest, while the name is still active.
    if (left > renewalWindow(height, params) || isExpired({ height: coin.height }, height + 1, params)) continue
    due.push({ name, made: coin.height })
  }
  return due.sort((a, b) => a.made - b.made).map(({ name }) => name)
}

/** The names in coins of the wallet that can still be renewed, including those that a block does not have yet. */
export const heldNames = (coins: ReadonlyArray<WalletCoin>): ReadonlySet<NameKey> =>
  new Set(
    coins.flatMap((coin) => {
      const name = nameIn(coin)
      return name === undefined || coin.expired || !coin.own.spendable ? [] : [nameKey(name)]
    })
  )

/** The setting with other lists; the file has no empty list of exceptions. */
const withLists = (
  document: WalletDocument,
  { except, names }: { readonly except: ReadonlyArray<Bytes>; readonly names: ReadonlyArray<Bytes> }
): WalletDocument => {
  const { all } = document.renewals
  return { ...document, renewals: { all, names, ...except.length > 0 ? { except } : {} } }
}

/** Forgets what was set for names: what is set for all names counts. */
export const withoutRenewal = (forgotten: ReadonlySet<NameKey>) => (document: WalletDocument): WalletDocument => {
  const { except = [], names } = document.renewals
  const set = setNamesOf(document)
  if (![...forgotten].some((key) => set.names.has(key) || set.except.has(key))) return document
  const kept = (list: ReadonlyArray<Bytes>) => list.filter((name) => !forgotten.has(nameKey(name)))
  return withLists(document, { names: kept(names), except: kept(except) })
}

/** Switches a name off as an exception: it is not renewed while all are, and left out where all are renewed at once. */
export const withException = (name: Bytes) => (document: WalletDocument): WalletDocument => {
  const rest = withoutRenewal(new Set([nameKey(name)]))(document)
  const { except = [], names } = rest.renewals
  return withLists(rest, { names, except: [...except, name] })
}

/**
 * Stores whether a name is renewed; without `name`, whether all names are. While all are, a name that is not is an exception.
 * A new setting of all names ends the exceptions: "all" means all.
 */
export const withRenewal = (name: Bytes | undefined, on: boolean) => (document: WalletDocument): WalletDocument => {
  const { all, names } = document.renewals
  if (name === undefined) return { ...document, renewals: { all: on, names } }
  if (!on && all) return withException(name)(document)
  const rest = withoutRenewal(new Set([nameKey(name)]))(document)
  const { except = [], names: others } = rest.renewals
  return on ? withLists(rest, { names: [...others, name], except }) : rest
}

/** Blocks after which a reorg does not bring a name back that another owner has, or that has expired. */
const GONE_FOR = 100

/**
 * The names with a setting of their own that the wallet has lost: another owner has them, or they have expired. Each has the
 * height at which that happened.
 */
export const lostNames = (
  document: WalletDocument,
  last: ReadonlyArray<WalletName>,
  { height, params }: { readonly height: number; readonly params: ConsensusParams }
): ReadonlyArray<{ readonly name: Bytes; readonly since: number }> =>
  last.flatMap((each) => {
    if (ownSetting(document, each.name) === undefined) return []
    if (!each.mine) return [{ name: each.name, since: each.height }]
    return isExpired(each, height, params)
      ? [{ name: each.name, since: each.height + expirationDepth(height, params) }]
      : []
  })

/** Those whose setting is forgotten now: no reorg brings them back. */
export const forgottenNames = (
  lost: ReadonlyArray<{ readonly name: Bytes; readonly since: number }>,
  height: number
): ReadonlySet<NameKey> => new Set(lost.flatMap(({ name, since }) => height - since < GONE_FOR ? [] : [nameKey(name)]))
